"""Material laws, and a table of what forces, walls and solvers alike read of materials."""
