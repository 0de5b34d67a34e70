"""Rules about buckets and file systems."""
