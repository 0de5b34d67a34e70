"""Code that runs in AWS Lambda behind custom resources."""
