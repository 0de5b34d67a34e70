"""Rules about manifests of training jobs: what neither schema nor server catches."""
