"""What a file system's data repository says together with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog import names
from hyperpod_model.checks.data_repositories import check_data_repository, check_linked_file_system
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_AT: FaultPath = ("file_system", "data_repository")
_FIELDS = {"file_system_path": "path"}


def check_data_repository_of(spec: ClusterSpec, *, deployment_type: str) -> Iterator[Fault]:
    """Check the data repository of the file system, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
        deployment_type: Deployment type of the file system.
    """
    file_system: Any = spec.file_system
    if file_system is None or not known(file_system):
        return
    said: Any = file_system.data_repository
    if said is None or not known(said):
        return
    bucket = said.bucket_name
    found = check_data_repository(
        file_system_path=said.path,
        prefix=said.prefix,
        import_events=() if not known(said.import_events) else said.import_events,
        export_events=() if not known(said.export_events) else said.export_events,
        locked_bucket=bucket is None,
        export_makes_fsx_users_writers=said.export_makes_fsx_users_writers is True
        and known(said.export_events),
    )
    for fault in found:
        field, *rest = fault.path
        yield fault._replace(path=(*_AT, _FIELDS.get(str(field), field), *rest))
    if bucket is None and spec.checkpoint_bucket is None:
        message = "is required where checkpoint_bucket is null: the name of an existing bucket"
        yield Fault((*_AT, "bucket_name"), message)
    if bucket is not None and known(bucket) and not names.BUCKET.matches(bucket):
        yield Fault((*_AT, "bucket_name"), f"must be {names.BUCKET.with_length}, got {bucket!r}")
    removal = file_system.removal
    linked = check_linked_file_system(
        deployment_type=deployment_type,
        backup_retention_days=0,
        final_backup=UNKNOWN if not known(removal) else removal == "final-backup",
    )
    for fault in linked:
        yield fault._replace(path=("file_system", *fault.path))
