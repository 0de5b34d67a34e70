"""IAM and bucket-policy statements, evaluated as far as a template tells."""
