"""CloudFormation types, one module a service."""
