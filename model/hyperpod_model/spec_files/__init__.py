"""Specifications in files: what those of clusters and of jobs have in common."""
