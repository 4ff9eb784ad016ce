"""Triangle meshes: the built-in ones."""
