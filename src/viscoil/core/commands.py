"""Our commands as they are printed, so that a user can paste them into a shell."""

from pathlib import Path
from shlex import join


def command(*words: str | Path) -> str:
    """Such as viscoil mesh 'my runs/honey', with quotes where a shell needs them."""
    return join(["viscoil", *map(str, words)])
