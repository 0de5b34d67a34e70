"""The network around a cluster, read from templates and drawn."""
