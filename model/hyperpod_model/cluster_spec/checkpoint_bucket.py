"""The bucket for checkpoints."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import Items, SpecModel


class CheckpointBucketSpec(SpecModel):
    """A locked bucket for checkpoints: nodes write it, readers are listed, everyone else is denied."""

    reader_role_arns: Items[str] = Field(
        default=(),
        description=(
            "ARNs of the roles that may read checkpoints, besides the nodes. They must exist already; the "
            "policies of bucket and key let them in. By default none."
        ),
    )
