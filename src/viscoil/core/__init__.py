"""What all other rooms use: the compute backend, files, errors, memory, progress."""
