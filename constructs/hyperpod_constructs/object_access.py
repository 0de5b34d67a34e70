"""What roles may do with the objects of a bucket and its key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hyperpod_model.catalog.iam import (
    BUCKET_KEY_READ_ACTIONS,
    BUCKET_KEY_WRITE_ACTIONS,
    BUCKET_READ_ACTIONS,
    OBJECT_READ_ACTIONS,
    TIERED_CHECKPOINTING_BUCKET_ACTIONS,
    TIERED_CHECKPOINTING_OBJECT_ACTIONS,
)


class ObjectAccess(NamedTuple):
    """Actions that go together.

    Attributes:
        bucket: On the bucket.
        objects: On its objects.
        key: On its key, through S3 only.
    """

    bucket: Sequence[str]
    objects: Sequence[str]
    key: Sequence[str]


READING: Final = ObjectAccess(BUCKET_READ_ACTIONS, OBJECT_READ_ACTIONS, BUCKET_KEY_READ_ACTIONS)
"""List the bucket and get objects."""

CHECKPOINTING: Final = ObjectAccess(
    TIERED_CHECKPOINTING_BUCKET_ACTIONS, TIERED_CHECKPOINTING_OBJECT_ACTIONS, BUCKET_KEY_WRITE_ACTIONS
)
"""What the tiered checkpointing library does. Source: PyPI amzn-sagemaker-checkpointing 1.1.3."""
