"""The description of a run folder as lines for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from viscoil.running.disk import size_text

LABEL = 13  # characters
STATES = {
    "running": "running: a process writes to it now",
    "killed": "killed: it was running, and no process writes to it any more",
    "stopped": "stopped by the user",
    "diverged": "diverged: the simulation went wrong",
    "failed": "failed: an error ended it",
    "finished": "finished",
}


def lines(about: Mapping[str, Any]) -> Iterator[str]:
    """What `about` found, a line for each thing, and at the end what to do next."""
    description = about["description"]
    yield f"{about['name']}{': ' if description else ''}{description}"
    for label, text in _rows(about):
        if text:
            yield f"  {label:<{LABEL}}{text}"
    yield f"next: {', '.join(about['next'])}"


def _rows(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    frames = about["frames"]
    yield "state", STATES.get(about["state"], about["state"])
    yield "frames", _frames(frames, about["time"])
    yield "missing", ranges(frames["missing"])
    yield "damaged", ranges(frames["damaged"])
    yield "particles", _particles(about)
    yield "channels", ", ".join(about["channels"])
    yield "materials", ", ".join(about["materials"])
    yield "steps", f"{about['steps']:,}, to {about['time']['last']:g} of {about['time']['end']:g} s"
    yield "checkpoints", _checkpoints(about["checkpoints"])
    yield "changed", "; ".join(about["changes"])
    yield "on disk", _sizes(about["bytes"])
    yield "made of it", ", ".join(f"{name} ({n} files)" for name, n in about["made"].items())
    yield "written by", _origin(about)
    yield "resume", _resume(about)


def _frames(frames: Mapping[str, Any], time: Mapping[str, float]) -> str:
    if not frames["count"]:
        return f"none of {frames['asked']}"
    span = f"{frames['first'] / time['fps']:g} to {frames['last'] / time['fps']:g} s"
    return (
        f"{frames['first']} to {frames['last']} of {frames['asked']} ({frames['count']} files), "
        f"{time['fps']:g} per second, {span}"
    )


def _particles(about: Mapping[str, Any]) -> str:
    first, last = about["particles"]["first"], about["particles"]["last"]
    if last is None:
        return "unknown"
    count = f"{last:,}" if first == last else f"{last:,} ({first:,} at first)"
    return f"{count}, {about['spacing']:g} m apart"


def _checkpoints(checkpoints: Sequence[Mapping[str, Any]]) -> str:
    if not checkpoints:
        return "none yet"
    known = ", ".join(str(c["frame"]) for c in checkpoints if c["frame"] is not None)
    broken = sum(c["frame"] is None for c in checkpoints)
    parts = [f"at frame {known}" if known else "", f"{broken} damaged" if broken else ""]
    return ", ".join(part for part in parts if part)


def _sizes(sizes: Mapping[str, int]) -> str:
    parts = [f"{name} {size_text(count)}" for name, count in sizes.items() if count]
    return f"{size_text(sum(sizes.values()))}: {', '.join(parts)}"


def _origin(about: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    threads = f" with {about['threads']} threads" if about["threads"] else ""
    return f"{versions}; on {about['arch']}{threads}"


def _resume(about: Mapping[str, Any]) -> str:
    place = about["resume"]
    if not place["possible"]:
        running = about["state"] == "running"
        return "not while a process writes to it" if running else "not without its checkpoints"
    if about["state"] == "finished":
        return "it is finished; --resume --until goes on to a later time or frame"
    start = f"from frame {place['frame']}" if about["checkpoints"] else "from the beginning"
    return f"goes on {start} to frame {place['lasts_until']}"


def ranges(numbers: Sequence[int]) -> str:
    """Numbers that ascend, as in "3, 7 to 9"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]} to {p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
