"""Checkpoints of a job: on a file system, in a bucket, in the memory of the nodes."""

from __future__ import annotations

import re

from hyperpod_model.catalog import names
from hyperpod_model.catalog.jobs import TIERED_NAMESPACE
from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.checks.jobs.bounds import check_at_least
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.reading import absent, at, below, given, number, structures, text
from hyperpod_model.faults import Fault

_S3_URI = re.compile(r"s3://(?P<bucket>[^/]+)(?:/(?P<prefix>.*))?")


def check_checkpoints(job: Job) -> list[Fault]:
    """Check where and how often checkpoints are written.

    Args:
        job: The job.
    """
    return [*_check_places(job), *_check_durable(job), *_check_tiered(job)]


def _check_places(job: Job) -> list[Fault]:
    if not given(job, "checkpoint"):
        return []
    said = at(job, "checkpoint")
    faults = below(("checkpoint",), check_at_least(said, ("s3_interval_steps", "save_seconds"), 1))
    if absent(said, "path") and absent(said, "s3_uri"):
        faults.append(Fault(("checkpoint",), "names no place; give path, s3_uri, or both"))
    uri = text(said, "s3_uri")
    found = None if uri is None else _S3_URI.fullmatch(uri)
    if uri is not None and (found is None or not names.BUCKET.matches(found["bucket"])):
        message = f"must be s3://bucket/prefix, with a bucket of {names.BUCKET.with_length}, got {uri!r}"
        faults.append(Fault(("checkpoint", "s3_uri"), message))
    if given(said, "s3_interval_steps") and absent(said, "s3_uri"):
        faults.append(Fault(("checkpoint", "s3_uri"), "is required with s3_interval_steps"))
    if given(said, "s3_uri") and absent(job, "service_account"):
        message = "is not given, so that the pods have no role that may write checkpoint.s3_uri; give it"
        faults.append(Fault(("service_account",), message, "warning"))
    return [*faults, *_check_path(job)]


def _check_path(job: Job) -> list[Fault]:
    path = text(job, "checkpoint", "path")
    if path is None:
        return []
    where = ("checkpoint", "path")
    if not names.MOUNT_PATH.matches(path):
        return [Fault(where, f"must be {names.MOUNT_PATH.in_words} in the container, got {path!r}")]
    mounts = [mount for _, mount in structures(job, "persistent_volume_claims")]
    holding = [mount for mount in mounts if (place := text(mount, "mount_path")) and _is_below(path, place)]
    if not holding and all(text(mount, "mount_path") is not None for mount in mounts):
        message = f"is on none of the persistent_volume_claims, so that it is lost with the pod, got {path!r}"
        return [Fault(where, f"{message}; mount a claim there, or choose a folder on one")]
    if holding and all(mount.get("read_only") is True for mount in holding):
        return [Fault(where, f"is on a claim that is read_only, got {path!r}; mount it for writing")]
    return []


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _check_durable(job: Job) -> list[Fault]:
    features = [name for name in ("tiered_checkpointing", "checkpointless") if given(job, name)]
    if not features or not (absent(job, "checkpoint") or given(job, "checkpoint")):
        return []
    reason = {
        "tiered_checkpointing": "the memory of the nodes keeps nothing when all of them stop",
        "checkpointless": "peers restore a process only while one of them lives",
    }[features[0]]
    return [
        Fault(("checkpoint", field), f"is required with {features[0]}: {what}, since {reason}")
        for field, what in (
            ("s3_uri", "where checkpoints last"),
            ("s3_interval_steps", "how often one is written that lasts"),
        )
        if absent(job, "checkpoint") or absent(job, "checkpoint", field)
    ]


def _check_tiered(job: Job) -> list[Fault]:
    if not given(job, "tiered_checkpointing"):
        return []
    said = at(job, "tiered_checkpointing")
    faults = check_at_least(said, ("memory_interval_steps",), 1)
    least, most = TIERED_MEMORY_PERCENTAGE.value
    percentage = number(said, "memory_percentage")
    if percentage is not None and not least <= percentage <= most:
        faults.append(Fault(("memory_percentage",), f"must be {least} to {most}, got {percentage}"))
    namespace = text(said, "namespace")
    if namespace is not None and not TIERED_NAMESPACE.matches(namespace):
        faults.append(Fault(("namespace",), f"must be {TIERED_NAMESPACE.with_length}, got {namespace!r}"))
    faults = below(("tiered_checkpointing",), faults)
    memory, durable = number(said, "memory_interval_steps"), number(job, "checkpoint", "s3_interval_steps")
    if memory is not None and durable is not None and memory >= 1 and durable >= 1 and durable % memory:
        nearest = memory if durable < memory else durable - durable % memory
        side = "fewest are" if durable < memory else "nearest below is"
        faults.append(
            Fault(
                ("checkpoint", "s3_interval_steps"),
                f"must be a multiple of tiered_checkpointing.memory_interval_steps, {memory}, so that what "
                f"goes to the bucket is a checkpoint in memory too, got {durable}; the {side} {nearest}",
            )
        )
    return faults
