"""Everything that a user asks to be validated: job specifications and manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hyperpod_charts.command.inputs import (
    JudgedJob,
    content_of,
    documents_of,
    judged,
    refuse_others,
)
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_policy.manifests.manifest import Manifest, is_manifest, left_out, manifests_of
from hyperpod_policy.sources import UnusableInputError
from hyperpod_policy.sources.decoding import Decoded
from hyperpod_policy.sources.folder import folders_and_files
from hyperpod_policy.sources.text import STANDARD_INPUT, is_file, is_folder

_TELLING: Final = frozenset({"image", "instance_type", "script", "command", "operator", "nodes", "elastic"})
_OF_MANIFESTS: Final = frozenset({"apiVersion", "kind"})
_ENOUGH: Final = 2
"""Fields by which a file that was only found is a job specification."""

_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class ReviewedFiles:
    """What is validated.

    Attributes:
        jobs: Job specifications, each with its file.
        manifests: Kubernetes objects.
        limits: What was passed over, in words.
    """

    jobs: tuple[tuple[str, JudgedJob], ...]
    manifests: tuple[Manifest, ...]
    limits: tuple[str, ...]


def read_files(paths: Iterable[str], cluster: ClusterSpec | None) -> ReviewedFiles:
    """Read job specifications and manifests.

    Args:
        paths: Files, folders, or ``-``.
        cluster: Cluster that the jobs are to run on; None for none.

    Raises:
        UnusableInputError: If a path leads to nothing that can be validated.
        UsageError: If a file belongs to another option or command.
    """
    reading = _Reading(cluster)
    for path in paths:
        if path != STANDARD_INPUT and is_folder(Path(path)):
            reading.folder(Path(path))
        else:
            reading.named(path)
    return ReviewedFiles(tuple(reading.jobs), tuple(reading.manifests), tuple(reading.limits))


class _Reading:
    def __init__(self, cluster: ClusterSpec | None) -> None:
        self.jobs: list[tuple[str, JudgedJob]] = []
        self.manifests: list[Manifest] = []
        self.limits: list[str] = []
        self._cluster = cluster

    def named(self, path: str) -> None:
        content, name = content_of(path)
        documents = documents_of(content, name)
        if not documents:
            raise UnusableInputError("is empty; name a job specification or a manifest", file=name)
        if all(is_manifest(document.value) for document in documents):
            for document in documents:
                self._take_in(document, name)
            return
        for document in documents:
            refuse_others(document.value, name)
            has = _OF_MANIFESTS & document.value.keys() if isinstance(document.value, Mapping) else ()
            if len(has) == 1:
                (given,), (missing,) = has, _OF_MANIFESTS - set(has)
                raise UnusableInputError(
                    f"has {given} and no {missing}; a Kubernetes manifest has both, a job specification "
                    "neither",
                    file=name,
                    line=document.marks.line(()),
                )
        if any(is_manifest(document.value) for document in documents):
            raise UnusableInputError("mixes manifests with what is none; keep them in files apart", file=name)
        self._job(content, name)

    def folder(self, folder: Path) -> None:
        before = len(self.jobs) + len(self.manifests)
        others: list[str] = []
        for _, files in folders_and_files(folder):
            others += [str(file) for file in files if is_file(file) and not self._found(str(file))]
        if len(self.jobs) + len(self.manifests) == before:
            raise UnusableInputError("holds no job specification and no manifest", file=str(folder))
        if others:
            more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
            self.limits.append(
                f"neither a job specification nor a manifest: {', '.join(others[:_LISTED])}{more}"
            )

    def _found(self, name: str) -> bool:
        try:
            content, _ = content_of(name)
            documents = documents_of(content, name)
        except UnusableInputError as error:
            self.limits.append(str(error))
            return True
        manifests = [document for document in documents if is_manifest(document.value)]
        for document in manifests:
            self._take_in(document, name)
        if len(documents) == 1 and _looks_like_a_job(documents[0].value):
            self._job(content, name)
            return True
        return bool(manifests)

    def _take_in(self, document: Decoded, name: str) -> None:
        self.manifests += manifests_of(document.value, file=name, marks=document.marks)
        self.limits += left_out(document.value, file=name)

    def _job(self, content: bytes, name: str) -> None:
        self.jobs.append((name, judged(content, name, self._cluster)))


def _looks_like_a_job(value: Any) -> bool:
    return isinstance(value, Mapping) and not is_manifest(value) and len(_TELLING & value.keys()) >= _ENOUGH
