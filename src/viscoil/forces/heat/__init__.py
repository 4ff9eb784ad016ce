"""Temperature: conduction between particles, transfer to air and walls, and what it softens."""
