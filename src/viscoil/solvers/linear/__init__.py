"""Iterative solvers of linear systems, apart from the physics that they serve."""
