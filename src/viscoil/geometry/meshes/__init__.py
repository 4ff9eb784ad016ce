"""Triangle meshes, and the files that they come from: OBJ, PLY, STL, OFF, GLB and glTF.

Importing this loads NumPy and nothing else: no compute backend, and trimesh only when a file needs it.
"""

from viscoil.geometry.meshes.mesh import TriangleMesh
from viscoil.geometry.meshes.reading import read_mesh
from viscoil.geometry.meshes.sequence import MeshSequence, read_sequence
from viscoil.geometry.meshes.writing import write_mesh

__all__ = ["MeshSequence", "TriangleMesh", "read_mesh", "read_sequence", "write_mesh"]
