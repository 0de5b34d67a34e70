"""Rules about updates of a stack."""
