"""The S3 data that a file system shows as files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog import names
from hyperpod_model.spec_files.spec_model import Items, SpecModel

RepositoryEvent = Literal["NEW", "CHANGED", "DELETED"]


class DataRepositorySpec(SpecModel):
    """Objects of a bucket as files in the FSx for Lustre file system."""

    path: str = Field(
        description="Folder of the file system that shows the objects, with a slash first, such as /data.",
        json_schema_extra={"pattern": "^/.*$"},
    )
    bucket_name: str | None = Field(
        default=None,
        description=(
            "Name of an existing bucket of the same account and region. By default the checkpoint_bucket "
            "that is made."
        ),
        json_schema_extra={"pattern": f"^{names.BUCKET.pattern}$"},
    )
    prefix: str = Field(
        default="",
        description="Beginning of the objects' keys, such as corpus/. By default all objects are shown.",
    )
    import_events: Items[RepositoryEvent] = Field(
        default=("NEW", "CHANGED", "DELETED"),
        description=(
            "Changes of objects that the file system follows: 'NEW', 'CHANGED', 'DELETED'. By default all."
        ),
    )
    export_events: Items[RepositoryEvent] = Field(
        default=(),
        description=(
            "Changes of files that FSx writes to the bucket: 'NEW', 'CHANGED', 'DELETED'. By default none: "
            "import only."
        ),
    )
    export_makes_fsx_users_writers: bool = Field(
        default=False,
        description=(
            "Whether export to the locked checkpoint bucket is meant: FSx writes it with a service role, so "
            "that whoever writes the file system writes checkpoints. By default false."
        ),
    )
