"""What runs in the child process that stands in for an instance of a function."""
