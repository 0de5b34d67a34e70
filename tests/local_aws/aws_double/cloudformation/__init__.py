"""The CloudFormation of the double."""
