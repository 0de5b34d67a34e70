"""Rules over synthesized CloudFormation templates. Nothing here imports the CDK."""
