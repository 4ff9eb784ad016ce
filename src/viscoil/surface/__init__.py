"""The surface of the fluid as triangles, from the particles of a frame."""

from viscoil.surface.folder import SurfaceFolder, make_surfaces
from viscoil.surface.quality import FrameSurface
from viscoil.surface.reconstruction import surface_of
from viscoil.surface.settings import SurfaceSettings

__all__ = ["FrameSurface", "SurfaceFolder", "SurfaceSettings", "make_surfaces", "surface_of"]
