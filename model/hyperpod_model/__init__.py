"""Facts about SageMaker HyperPod as data, cluster specifications, and the service's unwritten rules.

Nothing here imports the CDK or boto3.
"""
