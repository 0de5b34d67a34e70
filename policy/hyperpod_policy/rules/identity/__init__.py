"""Rules about the roles of the nodes."""
