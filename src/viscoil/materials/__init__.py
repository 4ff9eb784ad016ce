"""Material laws, and the table of them that kernels read."""
