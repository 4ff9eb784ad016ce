"""Run folders: what lies where, who may write, and how one is read."""
