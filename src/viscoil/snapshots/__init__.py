"""A frame as plain arrays, how its materials look, and its solids as triangles."""
