"""What a file system's data repository says together with the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog import names
from hyperpod_model.cluster_spec.known import known
from hyperpod_model.faults import Fault, FaultPath

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_AT: FaultPath = ("file_system", "data_repository")
_S3_URI = re.compile(r"s3://([^/]+)(/.*)?")


def check_data_repository(spec: ClusterSpec) -> Iterator[Fault]:
    """Check the data repository of the file system, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    file_system: Any = spec.file_system
    if file_system is None or not known(file_system):
        return
    said: Any = file_system.data_repository
    if said is None or not known(said):
        return
    if known(said.path) and not said.path.startswith("/"):
        yield Fault((*_AT, "path"), f"must begin with a slash, such as /data, got {said.path!r}")
    for field in ("import_events", "export_events"):
        events = getattr(said, field)
        if known(events) and known(*events) and len(set(events)) < len(events):
            yield Fault((*_AT, field), "names an event twice; list each once")
    if not known(said.s3_uri, said.export_events, said.export_makes_fsx_users_writers):
        return
    if said.s3_uri is not None:
        found = _S3_URI.fullmatch(said.s3_uri)
        if found is None or not names.BUCKET.matches(found[1]):
            message = f"must be a bucket and a prefix such as s3://my-data/corpus/, got {said.s3_uri!r}"
            yield Fault((*_AT, "s3_uri"), message)
        if said.export_makes_fsx_users_writers:
            yield Fault(
                (*_AT, "export_makes_fsx_users_writers"),
                "is about the checkpoint_bucket that is made, and s3_uri names another; leave it out",
            )
        return
    if spec.checkpoint_bucket is None:
        yield Fault(
            (*_AT, "s3_uri"),
            "is required where checkpoint_bucket is null: the bucket and prefix, such as s3://my-data/corpus/",
        )
    elif said.export_events and not said.export_makes_fsx_users_writers:
        yield Fault(
            (*_AT, "export_events"),
            "let FSx write the locked checkpoint bucket with its service role, so that whoever writes the "
            "file system writes checkpoints; leave them out for import only, name another bucket in s3_uri, "
            "or set export_makes_fsx_users_writers to true",
        )
    elif said.export_makes_fsx_users_writers and not said.export_events:
        yield Fault(
            (*_AT, "export_makes_fsx_users_writers"),
            "opens the bucket to FSx, and nothing is exported; give export_events, or leave it out",
        )
