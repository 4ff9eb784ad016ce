"""Kernels are compiled before a run starts, on all cores, and progress is shown meanwhile.

Nothing here is needed for right results: a kernel that is not on the list, or whose process fails, is
compiled where it is called.
"""
