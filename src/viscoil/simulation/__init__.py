"""The loop that a user drives: starting, stepping, inflow, removal."""
