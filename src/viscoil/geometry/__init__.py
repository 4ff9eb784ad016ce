"""Triangle meshes, distance bricks, OpenVDB grids, particle files, over NumPy and kernels alone."""
