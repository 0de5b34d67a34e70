"""Rules about the network of the nodes."""
