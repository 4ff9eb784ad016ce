"""Triangle meshes, and the files that they come from: OBJ, PLY, STL, OFF, GLB and glTF.

Importing this loads NumPy and nothing else; the compute backend is not needed.
"""

from viscoil.meshes.mesh import TriangleMesh
from viscoil.meshes.reading import read_mesh
from viscoil.meshes.sequence import MeshSequence, read_sequence
from viscoil.meshes.writing import write_mesh

__all__ = ["MeshSequence", "TriangleMesh", "read_mesh", "read_sequence", "write_mesh"]
