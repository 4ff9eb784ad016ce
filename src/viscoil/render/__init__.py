"""Pictures of the surface of the fluid, traced by Mitsuba in a small studio."""
