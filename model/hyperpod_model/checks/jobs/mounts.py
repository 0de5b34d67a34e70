"""Volumes that a job's pods mount."""

from __future__ import annotations

from hyperpod_model.catalog.jobs import OBJECT_NAME
from hyperpod_model.catalog.names import MOUNT_PATH
from hyperpod_model.catalog.pod_resources import SHARED_MEMORY_PATH
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.reading import below, structures, text
from hyperpod_model.faults import Fault


def check_mounts(job: Job) -> list[Fault]:
    """Check claims and the paths that they are mounted at.

    Args:
        job: The job.
    """
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    for index, mount in structures(job, "persistent_volume_claims"):
        found = []
        claim, path = text(mount, "claim_name"), text(mount, "mount_path")
        if claim is not None and not OBJECT_NAME.matches(claim):
            found.append(Fault(("claim_name",), f"must be {OBJECT_NAME.with_length}, got {claim!r}"))
        if path is not None:
            place = path.rstrip("/")
            if not MOUNT_PATH.matches(path) or ".." in path.split("/"):
                found.append(Fault(("mount_path",), f"must be {MOUNT_PATH.in_words}, got {path!r}"))
            elif place == SHARED_MEMORY_PATH:
                message = f"must not be {SHARED_MEMORY_PATH}, which is shared memory; see shared_memory_gib"
                found.append(Fault(("mount_path",), message))
            elif place in seen:
                message = f"is that of persistent_volume_claims[{seen[place]}] too; choose another"
                found.append(Fault(("mount_path",), message))
            seen.setdefault(place, index)
        faults += below(("persistent_volume_claims", index), found)
    return faults
