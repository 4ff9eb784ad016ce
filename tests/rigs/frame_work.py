"""Work on a frame, in a module that other processes can import."""

import os
import signal

from viscoil.core.errors import RunError


def squared(frame: int) -> int:
    """The square; 13 is an error, and 99 kills the process."""
    if frame == 13:
        raise RunError("thirteen")
    if frame == 99:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows has no SIGKILL
    return frame * frame
