"""USD: a stage of particles, surfaces and colliders for Blender, Houdini and others."""
