"""Procedural meshes of our own, ready to be used by name in a scene."""

from viscoil.geometry.meshes.builtin.catalogue import ENTRIES, NAMES, Entry, builtin, is_animated

__all__ = ["ENTRIES", "NAMES", "Entry", "builtin", "is_animated"]
