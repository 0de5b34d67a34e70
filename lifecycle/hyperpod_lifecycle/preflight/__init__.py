"""What stands in a cluster's way in an account, asked before it is deployed. Nothing is changed."""
