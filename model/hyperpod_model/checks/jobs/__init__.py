"""What jobs have to be like, as checks on plain values."""
