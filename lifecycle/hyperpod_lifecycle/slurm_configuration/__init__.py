"""What the scripts of a node configure Slurm with: rendered from a cluster, and checked."""
