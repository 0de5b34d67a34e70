from __future__ import annotations

from typing import Any

from plain_jobs import Case, table_tests


def mounts(*given: tuple[str, str]) -> dict[str, Any]:
    claims = [{"claim_name": claim, "mount_path": path} for claim, path in given]
    return {"persistent_volume_claims": claims, "checkpoint": {"path": "/fsx/a"}}


WHERE = ("persistent_volume_claims", 1)
FSX = ("fsx", "/fsx")
CASES = [
    Case(mounts(FSX, ("My Claim", "/a")), (*WHERE, "claim_name"), "lower-case letters"),
    Case(mounts(FSX, ("a", "data")), (*WHERE, "mount_path"), "must be an absolute path, got 'data'"),
    Case(mounts(FSX, ("a", "/a/../b")), (*WHERE, "mount_path"), "got '/a/../b'"),
    Case(mounts(FSX, ("a", "/dev/shm")), (*WHERE, "mount_path"), "which is shared memory"),
    Case(
        mounts(FSX, ("a", "/fsx/")), (*WHERE, "mount_path"), "is that of persistent_volume_claims\\[0\\] too"
    ),
]
LEGAL = [mounts(FSX, ("data", "/fsx/data")), mounts(FSX, ("fsx", "/home")), mounts(FSX, ("a.b", "/a"))]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
