"""The service's rules for a cluster, as pure functions over ``CreateCluster`` requests."""
