from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.checks.data_repositories import (
    Link,
    check_data_repository,
    check_linked_file_system,
    check_overlap,
)
from hyperpod_model.faults import UNKNOWN


def _check(**options: Any) -> list[tuple[Any, str, str]]:
    said = {"file_system_path": "/data", "import_events": ["NEW"], **options}
    return [(fault.path, fault.severity, fault.message) for fault in check_data_repository(**said)]


@pytest.mark.parametrize("path", ["/", "/data", "/data/", "/a/b c", UNKNOWN])
def test_paths_that_pass(path: Any) -> None:
    assert _check(file_system_path=path) == []


@pytest.mark.parametrize("path", ["data", "", "//", "/a//b", "/a\nb", None, "s3://bucket"])
def test_paths_that_are_refused(path: Any) -> None:
    ((where, _, message),) = _check(file_system_path=path)
    assert where == ("file_system_path",)
    assert message == (
        f"must be a folder of the file system that begins with a slash, such as /data, got {path!r}"
    )


def test_a_path_has_a_longest_length() -> None:
    assert _check(file_system_path="/" + "a" * 4095) == []
    ((_, _, message),) = _check(file_system_path="/" + "a" * 4096)
    assert message == "must have at most 4096 characters, got 4097"


@pytest.mark.parametrize("prefix", ["", "a", "a/b/", UNKNOWN])
def test_prefixes_that_pass(prefix: Any) -> None:
    assert _check(prefix=prefix) == []


@pytest.mark.parametrize("prefix", ["/a", "s3://bucket/a", "a//b", None, "a\n"])
def test_prefixes_that_are_refused(prefix: Any) -> None:
    ((where, _, message),) = _check(prefix=prefix)
    assert where == ("prefix",)
    assert f"got {prefix!r}" in message


def test_events_that_pass() -> None:
    assert _check(import_events=["NEW", "CHANGED", "DELETED"], export_events=["DELETED"]) == []
    assert _check(import_events=(), export_events=()) == []
    assert _check(import_events=[UNKNOWN, UNKNOWN]) == []


@pytest.mark.parametrize(
    ("events", "where", "message"),
    [
        (["new"], ("import_events", 0), "must be one of NEW, CHANGED, DELETED, got 'new'"),
        ("NEW", ("import_events",), "must be a list of NEW, CHANGED, DELETED, got 'NEW'"),
        (None, ("import_events",), "must be a list of NEW, CHANGED, DELETED, got None"),
        (["NEW", "NEW"], ("import_events",), "must name each event once, got NEW, NEW"),
    ],
)
def test_events_that_are_refused(events: Any, where: Any, message: str) -> None:
    assert _check(import_events=events) == [(where, "error", message)]


def test_export_to_a_locked_bucket_is_refused_with_the_ways_out() -> None:
    ((where, severity, message),) = _check(export_events=["NEW"], locked_bucket=True)
    assert (where, severity) == (("export_events",), "error")
    assert "whoever writes the file system writes the bucket" in message
    assert message.endswith(
        "import only, export to a bucket of its own, or say export_makes_fsx_users_writers=True"
    )


def test_export_that_is_meant_is_a_warning() -> None:
    ((where, severity, message),) = _check(
        export_events=["NEW"], locked_bucket=True, export_makes_fsx_users_writers=True
    )
    assert (where, severity) == (("export_events",), "warning")
    assert "runs code on the training nodes" in message


def test_import_from_a_locked_bucket_and_export_to_another_pass() -> None:
    assert _check(locked_bucket=True) == []
    assert _check(export_events=["NEW"]) == []


@pytest.mark.parametrize("options", [{}, {"locked_bucket": True}, {"export_events": ["NEW"]}])
def test_a_loosening_without_need_is_refused(options: dict[str, Any]) -> None:
    ((where, severity, message),) = _check(export_makes_fsx_users_writers=True, **options)
    assert (where, severity) == (("export_makes_fsx_users_writers",), "error")
    assert message.startswith("needs export_events to a bucket that lists its writers")


def _file_system(**options: Any) -> list[tuple[Any, str]]:
    said = {
        "deployment_type": "PERSISTENT_2",
        "backup_retention_days": 0,
        "final_backup": False,
        **options,
    }
    return [(fault.path, fault.message) for fault in check_linked_file_system(**said)]


def test_file_systems_that_can_be_linked() -> None:
    assert _file_system() == []
    assert _file_system(deployment_type="SCRATCH_2") == []
    assert _file_system(deployment_type=UNKNOWN, backup_retention_days=UNKNOWN, final_backup=UNKNOWN) == []


def test_file_systems_that_cannot() -> None:
    assert _file_system(deployment_type="SCRATCH_1", backup_retention_days=7, final_backup=True) == [
        (
            ("deployment_type",),
            "SCRATCH_1 cannot be linked to a bucket; use SCRATCH_2, PERSISTENT_1, PERSISTENT_2",
        ),
        (
            ("backup_retention_days",),
            "must be 0 for a file system that is linked to a bucket, of which FSx takes no backups, got 7",
        ),
        (
            ("removal",),
            "must be retain for a file system that is linked to a bucket, of which FSx takes no backups, got "
            "final-backup",
        ),
    ]


@pytest.mark.parametrize(
    ("one", "other", "overlaps"),
    [
        ("/a", "/a", True),
        ("/a/", "/a", True),
        ("/a/b", "/a", True),
        ("/", "/a", True),
        ("/a", "/", True),
        ("/ab", "/a", False),
        ("/a/b", "/a/c", False),
        (UNKNOWN, "/a", False),
        ("/a", UNKNOWN, False),
    ],
)
def test_overlapping_folders_are_refused(one: Any, other: Any, overlaps: bool) -> None:
    faults = check_overlap(
        file_system_path=one, data_repository_path="s3://b/1", others=[Link("'Other'", other, "s3://b/2")]
    )
    assert [fault.path for fault in faults] == ([("file_system_path",)] if overlaps else [])
    if overlaps:
        assert faults[0].message.startswith(f"must not overlap '{other}' of 'Other', got '{one}'")


def test_the_same_repository_twice_is_refused() -> None:
    others = [Link("'Other'", "/a", "s3://b/1/")]
    (fault,) = check_overlap(file_system_path="/c", data_repository_path="s3://b/1", others=others)
    assert fault.path == ("prefix",)
    assert check_overlap(file_system_path="/c", data_repository_path="s3://b/2", others=others) == []
    assert check_overlap(file_system_path="/c", data_repository_path=UNKNOWN, others=others) == []


def test_a_file_system_has_at_most_eight_links() -> None:
    others = [Link(f"'{n}'", f"/{n}", f"s3://b/{n}") for n in range(8)]
    (fault,) = check_overlap(file_system_path="/c", data_repository_path="s3://b/c", others=others)
    assert fault.message.startswith("a file system has at most 8 links to buckets")
    assert check_overlap(file_system_path="/c", data_repository_path="s3://b/c", others=others[:7]) == []
