"""How long a run shall be, as a user says it: a time such as 3.5s, or a frame such as 105."""

import math
import re

from viscoil.core.errors import RunError

UNITS = {"s": 1.0, "ms": 1e-3, "min": 60.0}
MOST_FRAMES = 10**9
_TEXT = re.compile(r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)\s*([a-zA-Z]*)")


def asked_frames(frames: int | None, until: str | None, fps: float) -> int | None:
    """How long a command wants a run to be, if it says so, by `--frames` or by `--until`."""
    if frames is not None and until is not None:
        raise RunError("--frames and --until exclude each other: give one of them")
    return frames if until is None else last_frame(until, fps)


def last_frame(text: str, fps: float) -> int:
    """The frame that `--until` names: the first one at or after a time, or the frame itself."""
    match = _TEXT.fullmatch(text.strip())
    if match is None or match[2] not in (*UNITS, ""):
        raise _unclear(text)
    if not match[2] and not match[1].isdecimal():
        raise RunError(
            f"--until {text} may be a time or a frame: write {text}s for seconds, or a whole "
            "number for a frame"
        )
    if match[2]:
        # A time such as 0.1 s at 30 fps must not become frame 4 through rounding.
        frame = math.ceil(min(float(match[1]) * UNITS[match[2]] * fps, 2.0 * MOST_FRAMES) - 1e-6)
    else:
        frame = int(match[1][:20])
    if frame < 1:
        raise RunError(f"--until {text} is before the first frame: give a later time or frame")
    if frame > MOST_FRAMES:
        raise RunError(f"--until {text} is beyond frame {MOST_FRAMES:,}: give an earlier one")
    return frame


def _unclear(text: str) -> RunError:
    return RunError(
        f"--until {text} is neither a time nor a frame: write it as 3.5s, 500ms, 2min, or as a "
        "frame number such as 105"
    )
