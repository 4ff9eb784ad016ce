"""Files for other programs: particles, surfaces and colliders in formats that we did not invent."""
