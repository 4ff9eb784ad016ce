"""The surface of the fluid as triangles, from the particles of a frame."""

from viscoil.surface.folder import make_surfaces, read_surface, surface_folder
from viscoil.surface.quality import FrameSurface
from viscoil.surface.reconstruction import of_material, surface_of
from viscoil.surface.settings import SurfaceSettings

__all__ = [
    "FrameSurface",
    "SurfaceSettings",
    "make_surfaces",
    "of_material",
    "read_surface",
    "surface_folder",
    "surface_of",
]
