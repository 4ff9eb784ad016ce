"""What leaves the program: statistics, particle files, pictures, a film, checkpoints.

All outputs share one small protocol, `Output`, and see the simulation only as `Snapshot`s.
"""
