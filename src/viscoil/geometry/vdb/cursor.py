"""Reads a file piece by piece and never beyond its end."""

import struct
from pathlib import Path
from typing import Any

from viscoil.core.errors import VdbError


class Cursor:
    """A place in the bytes of a file."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.at = 0  # byte that is read next

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise self.damaged("it ends too early")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def numbers(self, layout: str) -> tuple[Any, ...]:
        """The next numbers, little-endian, laid out as `struct` says it."""
        layout = "<" + layout
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def number(self, layout: str) -> Any:
        return self.numbers(layout)[0]

    def text(self) -> str:
        """The next text, which is preceded by its length."""
        return self.take(self.number("I")).decode("utf-8", "replace")

    def seek(self, at: int) -> None:
        """Moves ahead to a byte. Moving back is refused: a damaged file could be read for ever."""
        if not self.at <= at <= len(self.data):
            raise self.damaged(f"it points to byte {at}")
        self.at = at

    def damaged(self, why: str) -> VdbError:
        """What to raise when the file contradicts itself."""
        return VdbError(
            f"{self.path} is damaged or incomplete ({why}, byte {self.at}): write or copy it again"
        )
