"""Logs of collective communication: what they say, and whether it is EFA."""
