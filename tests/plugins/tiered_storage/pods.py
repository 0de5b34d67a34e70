"""Has AWS's package in pods of the tests talk to the stand-ins: its addresses are no settings of it."""

from __future__ import annotations

from pathlib import Path

_CUSTOMIZE = """
import os

if "LOCAL_RANK" in os.environ:  # in training processes, not in what starts them
    import logging

    from amzn_sagemaker_checkpointing.checkpointing.filesystem import storage_base
    from amzn_sagemaker_checkpointing.config.in_memory_client import InMemoryClientConfig
    from amzn_sagemaker_checkpointing.storage.clients.s3 import s3_client
    from amzn_sagemaker_checkpointing.utils.logging_utils import SageMakerCheckpointingLoggerAdapter
    from s3torchconnector import S3Checkpoint, S3ClientConfig

    InMemoryClientConfig.__init__.__defaults__ = (
        os.environ["STAND_IN_OF_MEMORY_TIER"],
        *InMemoryClientConfig.__init__.__defaults__[1:],
    )
    s3_client.S3Checkpoint = lambda *, region: S3Checkpoint(
        region=region,
        endpoint=os.environ["AWS_ENDPOINT_URL"],
        s3client_config=S3ClientConfig(force_path_style=True),
    )
    # It logs to /var/log of the node otherwise.
    storage_base._TieredStorageBase._setup_logger = staticmethod(
        lambda name, namespace, given: SageMakerCheckpointingLoggerAdapter(logging.getLogger(name), {})
    )
"""


def pods_environment(folder: Path, *, memory_tier: str, s3: str) -> dict[str, str]:
    """Return the environment of pods that write to stand-ins.

    Args:
        folder: Where a module goes that Python loads in each process.
        memory_tier: Address of the stand-in for the memory tier.
        s3: Address of the stand-in for Amazon S3.
    """
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_CUSTOMIZE)
    return {
        "PYTHONPATH": str(folder),
        "STAND_IN_OF_MEMORY_TIER": memory_tier,
        "AWS_ENDPOINT_URL": s3,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_REGION": "us-west-2",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
