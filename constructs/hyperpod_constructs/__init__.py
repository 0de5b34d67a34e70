"""AWS CDK constructs for SageMaker HyperPod."""
