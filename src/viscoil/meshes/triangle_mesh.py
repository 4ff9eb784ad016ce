"""Where the built-in shapes find the mesh."""

from viscoil.meshes.mesh import TriangleMesh

__all__ = ["TriangleMesh"]
