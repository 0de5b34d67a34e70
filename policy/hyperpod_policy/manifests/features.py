"""What a job uses, as far as its manifest tells."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from hyperpod_model.catalog.jobs import IN_PROCESS_RESTART_FLAG, TIERED_ENDPOINT, TIERED_PACKAGE
from hyperpod_model.catalog.manifest_vocabulary import CHECKPOINTLESS_PREFIX, TIERED_LOG_DIRECTORY
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.reading import items, mapping
from hyperpod_policy.manifests.training_jobs import TrainingJob

_SERVICE: Final = str(urlsplit(TIERED_ENDPOINT).hostname).partition(".")[0]
_TIERED_WORDS: Final = (
    _SERVICE,
    TIERED_PACKAGE,
    TIERED_PACKAGE.replace("-", "_"),
    "tiered_checkpoint",
    "tiered-checkpoint",
    "checkpoint_memory_interval",
)
_LOG_DIRECTORIES: Final = tuple(
    TIERED_LOG_DIRECTORY.assuming(
        because="whichever of the two is right, both are the memory tier's"
    ).values()
)
_DURABLE: Final = re.compile(r"s3[^=\s]*(interval|every|freq)|(durable)[^=\s]*(interval|every|freq|steps)")
_SET_PARAMETERS: Final = "sysctl"
_BUCKET: Final = "s3://"


def tiered_at(job: TrainingJob) -> FaultPath | None:
    """Return the path of what shows that a job writes to the memory tier; ``None`` if nothing does."""
    said = job.says(*_TIERED_WORDS)
    if said is not None:
        return said
    for pod in job.pods():
        for path, _, body in pod.volumes():
            if str(mapping(body.get("hostPath")).get("path")).rstrip("/") in _LOG_DIRECTORIES:
                return path
        for container in pod.containers():
            for position, mount in items(container.body.get("volumeMounts")):
                if str(mount.get("mountPath")).rstrip("/") in _LOG_DIRECTORIES:
                    return (*container.path, "volumeMounts", position)
    return None


def checkpointless_at(job: TrainingJob) -> FaultPath | None:
    """Return the path of what shows that a job recovers without checkpoints; ``None`` if nothing does."""
    return job.says(IN_PROCESS_RESTART_FLAG, CHECKPOINTLESS_PREFIX.lower())


def kernel_parameters(container: Container) -> tuple[str, ...]:
    """Return the settings, such as ``a.b=1``, of a container that only sets kernel parameters."""
    words = container.words
    if not words or PurePosixPath(words[0]).name != _SET_PARAMETERS:
        return ()
    return tuple(word for word in words[1:] if "=" in word)


def durable_interval(job: TrainingJob) -> tuple[FaultPath, str] | None:
    """Return path and value of the interval of durable checkpoints, if the manifest names it.

    It is looked for in the environment, and among options with ``=`` or a value after them, by what its
    name says: S3 or durable, and interval, every or frequency.
    """
    for _, container in job.containers():
        for position, name, value in container.variables():
            if _DURABLE.search(name.lower()) and value is not None:
                return (*container.path, "env", position), str(value)
        for member, texts in (("command", container.command), ("args", container.args)):
            for position, text in enumerate(texts):
                option, equals, value = text.partition("=")
                if not option.startswith("-") or not _DURABLE.search(option.lower().replace("-", "_")):
                    continue
                if not equals:
                    value = texts[position + 1] if position + 1 < len(texts) else ""
                return (*container.path, member, position), value
    return None


def bucket_at(job: TrainingJob) -> FaultPath | None:
    """Return the path of the first mention of an S3 bucket; ``None`` if there is none."""
    return job.says(_BUCKET, init=True)
