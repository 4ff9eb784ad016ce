"""Sparse narrow-band distance fields of meshes: built once, kept on disk, sampled in kernels."""
