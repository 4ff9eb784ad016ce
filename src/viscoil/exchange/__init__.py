"""Files for other programs: particles, surfaces and colliders in formats that we did not invent."""

from viscoil.exchange.exporting import Exported, export
from viscoil.exchange.format import Format
from viscoil.exchange.registry import FORMATS, find_format

__all__ = ["FORMATS", "Exported", "Format", "export", "find_format"]
