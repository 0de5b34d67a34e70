"""Whether a file system and a bucket can be linked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hyperpod_model.catalog.lustre import (
    DATA_REPOSITORY_EVENTS,
    DEPLOYMENT_TYPES,
    MAX_DATA_REPOSITORY_ASSOCIATIONS,
    MAX_FILE_SYSTEM_PATH_LENGTH,
    TYPES_WITHOUT_DATA_REPOSITORIES,
)
from hyperpod_model.faults import Fault, Unknown


class Link(NamedTuple):
    """A link of a file system that there is already.

    Attributes:
        name: Where it is declared, for the message.
        file_system_path: Its folder of the file system.
        data_repository_path: Its bucket and prefix, such as ``s3://bucket/prefix/``.
    """

    name: str
    file_system_path: str | Unknown
    data_repository_path: str | Unknown


def check_data_repository(
    *,
    file_system_path: str | Unknown,
    prefix: str | Unknown = "",
    import_events: Sequence[Any] = (),
    export_events: Sequence[Any] = (),
    locked_bucket: bool = False,
    export_makes_fsx_users_writers: bool = False,
) -> list[Fault]:
    """Check one link by itself.

    Source: FSx API reference, CreateDataRepositoryAssociation.

    Args:
        file_system_path: Folder of the file system, such as ``/data``.
        prefix: Beginning of the keys in the bucket.
        import_events: Changes in the bucket that the file system follows.
        export_events: Changes in the file system that the bucket follows.
        locked_bucket: Whether the bucket lists its writers, as that of checkpoints does.
        export_makes_fsx_users_writers: Whether it is meant that whoever writes the file system writes a
            locked bucket.

    Returns:
        Every fault found, with the path of the argument. Export to a locked bucket that is meant is a
        warning.
    """
    faults = [
        *_check_path(file_system_path),
        *_check_prefix(prefix),
        *_check_events("import_events", import_events),
        *_check_events("export_events", export_events),
    ]
    if export_events and locked_bucket:
        faults.append(_export_fault(meant=export_makes_fsx_users_writers))
    elif export_makes_fsx_users_writers:
        faults.append(
            Fault(
                ("export_makes_fsx_users_writers",),
                "needs export_events to a bucket that lists its writers, got none; leave it out",
            )
        )
    return faults


def check_linked_file_system(
    *,
    deployment_type: str | Unknown,
    backup_retention_days: int | Unknown,
    final_backup: bool | Unknown,
) -> list[Fault]:
    """Check that a file system can be linked to a bucket at all.

    FSx takes no backups of a linked file system, neither automatic nor other ones. Sources: FSx API
    reference, CreateBackup and CreateDataRepositoryAssociation.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        backup_retention_days: Days that automatic backups are kept; 0 for none.
        final_backup: Whether a backup is wanted when the file system is deleted.

    Returns:
        Every fault found, with the path of the file system's argument.
    """
    faults = []
    if not isinstance(deployment_type, Unknown) and deployment_type in TYPES_WITHOUT_DATA_REPOSITORIES:
        others = ", ".join(name for name in DEPLOYMENT_TYPES if name not in TYPES_WITHOUT_DATA_REPOSITORIES)
        faults.append(
            Fault(("deployment_type",), f"{deployment_type} cannot be linked to a bucket; use {others}")
        )
    if not isinstance(backup_retention_days, Unknown) and backup_retention_days != 0:
        faults.append(
            Fault(
                ("backup_retention_days",),
                "must be 0 for a file system that is linked to a bucket, of which FSx takes no backups, got "
                f"{backup_retention_days!r}",
            )
        )
    if final_backup is True:
        faults.append(
            Fault(
                ("removal",),
                "must be retain for a file system that is linked to a bucket, of which FSx takes no backups, "
                "got final-backup",
            )
        )
    return faults


def check_overlap(
    *, file_system_path: str | Unknown, data_repository_path: str | Unknown, others: Sequence[Link]
) -> list[Fault]:
    """Check one link against those that the file system has already.

    Args:
        file_system_path: Folder of the file system.
        data_repository_path: Bucket and prefix, such as ``s3://bucket/prefix/``.
        others: The links there are.

    Returns:
        Every fault found, with the path of the argument.
    """
    faults = []
    if len(others) >= MAX_DATA_REPOSITORY_ASSOCIATIONS:
        faults.append(
            Fault(
                (),
                f"a file system has at most {MAX_DATA_REPOSITORY_ASSOCIATIONS} links to buckets, got one "
                "more; link a common prefix",
            )
        )
    for other in others:
        if _overlap(file_system_path, other.file_system_path):
            faults.append(
                Fault(
                    ("file_system_path",),
                    f"must not overlap '{other.file_system_path}' of {other.name}, got "
                    f"'{file_system_path}'; use folders beside each other ('/' leaves no room for others)",
                )
            )
        if _same_repository(data_repository_path, other.data_repository_path):
            faults.append(
                Fault(
                    ("prefix",),
                    f"must be another bucket or prefix than that of {other.name}, got "
                    f"'{data_repository_path}' twice",
                )
            )
    return faults


def _export_fault(*, meant: bool) -> Fault:
    effect = (
        "export runs as a service role of FSx, so whoever writes the file system writes the bucket, and "
        "whoever writes checkpoints runs code on the training nodes"
    )
    if meant:
        return Fault(
            ("export_events",),
            f"{effect}; make sure that all who can mount the file system may do that",
            "warning",
        )
    return Fault(
        ("export_events",),
        f"must be empty for a bucket that lists its writers: {effect}; import only, export to a bucket of "
        "its own, or say export_makes_fsx_users_writers=True",
    )


def _check_path(path: str | Unknown) -> list[Fault]:
    if isinstance(path, Unknown):
        return []
    if isinstance(path, str) and path.startswith("/") and "//" not in path and not _has_line_break(path):
        if len(path) <= MAX_FILE_SYSTEM_PATH_LENGTH:
            return []
        return [
            Fault(
                ("file_system_path",),
                f"must have at most {MAX_FILE_SYSTEM_PATH_LENGTH} characters, got {len(path)}",
            )
        ]
    return [
        Fault(
            ("file_system_path",),
            f"must be a folder of the file system that begins with a slash, such as /data, got {path!r}",
        )
    ]


def _check_prefix(prefix: str | Unknown) -> list[Fault]:
    if isinstance(prefix, Unknown):
        return []
    if (
        isinstance(prefix, str)
        and not prefix.startswith(("/", "s3:"))
        and "//" not in prefix
        and not _has_line_break(prefix)
    ):
        return []
    return [
        Fault(
            ("prefix",),
            f"must be the beginning of keys without the bucket and a leading slash, such as corpus/, got "
            f"{prefix!r}",
        )
    ]


def _check_events(name: str, events: Any) -> list[Fault]:
    allowed = ", ".join(DATA_REPOSITORY_EVENTS)
    if isinstance(events, str) or not isinstance(events, Sequence):
        return [Fault((name,), f"must be a list of {allowed}, got {events!r}")]
    faults = [
        Fault((name, index), f"must be one of {allowed}, got {event!r}")
        for index, event in enumerate(events)
        if not isinstance(event, Unknown) and event not in DATA_REPOSITORY_EVENTS
    ]
    said = [event for event in events if event in DATA_REPOSITORY_EVENTS]
    if len(said) > len(set(said)):
        faults.append(Fault((name,), f"must name each event once, got {', '.join(said)}"))
    return faults


def _has_line_break(text: str) -> bool:
    return any(character in text for character in "\0\r\n\x85\u2028\u2029")


def _overlap(one: str | Unknown, other: str | Unknown) -> bool:
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    first, second = (path.strip("/").split("/") if path.strip("/") else [] for path in (one, other))
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def _same_repository(one: str | Unknown, other: str | Unknown) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one.rstrip("/") == other.rstrip("/")
