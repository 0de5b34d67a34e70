"""``make demo``: the real CDK CLI synthesizes clusters and deploys them to a double of AWS."""
