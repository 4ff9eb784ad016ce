"""Temperature: conduction between particles, exchange with air and walls, and what it softens."""
