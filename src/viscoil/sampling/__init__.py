"""Where the particles of fluids start: lattices in shapes and meshes, and files of other programs."""
