"""The channel store, and what is measured of it."""
