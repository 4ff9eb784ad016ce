"""OpenVDB files, read and written with NumPy alone.

Sparse volumes of floats and vectors (Museth 2013, "VDB: High-Resolution Sparse Volumes with Dynamic
Topology") for exchange with Houdini, Blender and others. Only the file format lives here.
"""

from viscoil.geometry.vdb.grid import NO_TILES, Tiles, VdbGrid
from viscoil.geometry.vdb.reader import read_vdb
from viscoil.geometry.vdb.writer import write_vdb

__all__ = ["NO_TILES", "Tiles", "VdbGrid", "read_vdb", "write_vdb"]
