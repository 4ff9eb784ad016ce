"""Runs: their order, what is written, and where an interrupted one goes on."""
