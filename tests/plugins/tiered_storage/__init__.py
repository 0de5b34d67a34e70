"""Stand-ins for what tiered checkpointing writes to: the memory tier of HyperPod's nodes, and Amazon S3.

The package that writes, PyPI amzn-sagemaker-checkpointing, is the real one.
"""

from __future__ import annotations

from tiered_storage.memory_tier import MemoryTier
from tiered_storage.pods import pods_environment
from tiered_storage.s3 import s3_bucket

__all__ = ["MemoryTier", "pods_environment", "s3_bucket"]
