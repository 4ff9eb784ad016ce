"""What acts on velocities besides walls and constraints: fields, tension, smoothing, heat."""
