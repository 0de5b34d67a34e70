"""Rules about a cluster that somebody watches."""
