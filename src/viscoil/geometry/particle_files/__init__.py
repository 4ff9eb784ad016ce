"""Reads particle files that other programs wrote, so that they can seed a fluid."""

from viscoil.geometry.particle_files.particle_file import SUFFIXES, ParticleFile, read_particles

__all__ = ["SUFFIXES", "ParticleFile", "read_particles"]
