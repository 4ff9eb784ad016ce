"""Scenes of SPlisHSPlasH (JSON) as scenes of ours, and a list of what could not be carried over."""

from viscoil.scene.importers.splishsplash.scene import Imported, import_scene

__all__ = ["Imported", "import_scene"]
