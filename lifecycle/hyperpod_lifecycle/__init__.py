"""What runs on the nodes of a HyperPod cluster."""
