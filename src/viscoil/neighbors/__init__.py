"""Neighbours of particles: Z-order, cells, pair lists, sizes, smoothing functions."""
