"""Rules about the EKS cluster that orchestrates."""
