"""What is in a run folder: a description, curves of its figures, films of its pictures."""
