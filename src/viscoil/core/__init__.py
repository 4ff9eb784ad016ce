"""What everything stands on: the compute backend, files, errors, memory, progress."""
