"""Rules about a cluster that stays up and starts at all."""
