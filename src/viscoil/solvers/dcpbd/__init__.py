"""Doubly constrained position-based dynamics (Barreiro et al. 2017)."""
