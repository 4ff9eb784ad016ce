"""Scenes of other programs, read as scenes of ours."""
