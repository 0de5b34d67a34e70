"""What a user names: jobs, clusters and manifests, from files and standard input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_model.job_spec import JobSpec, NodeSetup, check_job_on_cluster, node_setup_on, parse_job
from hyperpod_policy.manifests.manifest import is_manifest
from hyperpod_policy.sources.decoding import Decoded, decoded
from hyperpod_policy.sources.templates import is_template
from hyperpod_policy.sources.text import (
    STANDARD_INPUT,
    STANDARD_INPUT_NAME,
    decoded_text,
    read_bytes,
    read_standard_input,
)
from hyperpod_policy.sources.unusable import UnusableInputError

_OF_CLUSTERS: Final = frozenset({"instance_groups", "InstanceGroups"})
_OF_JOBS: Final = frozenset({"image", "instance_type"})


@dataclass(frozen=True, slots=True)
class JudgedJob:
    """A job, and all that is to be said about it.

    Attributes:
        spec: The specification; None where it has errors of its own.
        faults: Errors and warnings, each with its line where it has one.
        node: How the cluster sets its nodes up; None where no cluster was given.
    """

    spec: JobSpec | None
    faults: tuple[Fault, ...]
    node: NodeSetup | None = None

    @property
    def is_refused(self) -> bool:
        """Whether there is any error."""
        return any(fault.severity == "error" for fault in self.faults)


def content_of(path: str) -> tuple[bytes, str]:
    """Read a file or standard input.

    Args:
        path: The file, or ``-``.

    Returns:
        The content, and what reports call it.

    Raises:
        UnusableInputError: If it cannot be read.
    """
    if path == STANDARD_INPUT:
        return read_standard_input(), STANDARD_INPUT_NAME
    return read_bytes(Path(path)), path


def documents_of(content: bytes, name: str) -> list[Decoded]:
    """Decode a file's documents.

    Args:
        content: YAML or JSON.
        name: What reports call it.

    Raises:
        UnusableInputError: If it is neither.
    """
    return decoded(decoded_text(content, file=name), file=name)


def job_content_of(path: str) -> tuple[bytes, str]:
    """Read a file that must be a job specification.

    Args:
        path: The file, or ``-``.

    Raises:
        UnusableInputError: If it cannot be read.
        UsageError: If it is something else that is known.
    """
    content, name = content_of(path)
    for document in documents_of(content, name):
        if is_manifest(document.value):
            raise UsageError(f"{name} is a Kubernetes manifest and no job specification; try validate")
        refuse_others(document.value, name)
    return content, name


def refuse_others(value: Any, name: str) -> None:
    """Refuse what is no job and belongs to another option or command.

    Args:
        value: A decoded document.
        name: Its file.

    Raises:
        UsageError: If it is a cluster or a CloudFormation template.
    """
    if is_template(value):
        raise UsageError(f"{name} is a CloudFormation template; hyperpod-review judges those")
    if isinstance(value, Mapping) and not _OF_CLUSTERS.isdisjoint(value):
        raise UsageError(f"{name} is a cluster and no job; give it with --cluster")


def cluster_of(path: str | None) -> ClusterSpec | None:
    """Read the cluster that a user named.

    Args:
        path: The file; None for none.

    Raises:
        UsageError: With all of its faults.
    """
    if path is None:
        return None
    try:
        return load_cluster(path).spec
    except InvalidInputError as error:
        _refuse_job_as_cluster(path)
        raise UsageError("\n".join(f"--cluster {path}: {fault}" for fault in error.faults)) from error


def _refuse_job_as_cluster(path: str) -> None:
    """Say in one line what a file is that was given for a cluster and is a job.

    Args:
        path: A file that is no cluster.

    Raises:
        UsageError: If it is a job specification or a manifest.
    """
    try:
        documents = documents_of(read_bytes(Path(path)), path)
    except UnusableInputError:
        # What cannot be read is told by the faults of the cluster.
        return
    for document in documents:
        if is_manifest(document.value):
            raise UsageError(f"--cluster {path} is a Kubernetes manifest and no cluster")
        keys = document.value if isinstance(document.value, Mapping) else {}
        if keys.keys() >= _OF_JOBS:
            raise UsageError(f"--cluster {path} is a job and no cluster; give it without --cluster")


def judged(content: bytes, name: str, cluster: ClusterSpec | None) -> JudgedJob:
    """Read a job and check it, by itself and against its cluster.

    Args:
        content: Of its file.
        name: What reports call that.
        cluster: The cluster; None for none.
    """
    try:
        loaded = parse_job(content, name=name)
    except InvalidInputError as error:
        return JudgedJob(None, error.faults)
    if cluster is None:
        return JudgedJob(loaded.spec, loaded.findings)
    there = [
        fault if not fault.path else fault._replace(line=loaded.document.line(fault.path))
        for fault in check_job_on_cluster(loaded.spec, cluster)
    ]
    return JudgedJob(
        loaded.spec, (*loaded.findings, *there), node_setup_on(cluster, loaded.spec.instance_type)
    )
