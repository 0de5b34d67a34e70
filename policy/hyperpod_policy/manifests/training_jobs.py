"""Training jobs among manifests: PyTorchJob and HyperPodPyTorchJob, with their pods."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_model.catalog.jobs import OPERATORS, JobOperator, OperatorName
from hyperpod_model.catalog.manifest_vocabulary import KUBEFLOW_REPLICAS
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import Launch, launch_of
from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import integer, items, mapping

_SPECS: Final = {"kubeflow": "pytorchReplicaSpecs", "hyperpod": "replicaSpecs"}
_BY_KIND: Final[Mapping[str, OperatorName]] = {
    operator.kind.lower(): "kubeflow" if name == "kubeflow" else "hyperpod"
    for name, operator in OPERATORS.items()
}
_NEAR: Final = 0.9
_KUBEFLOW: Final = "kubeflow"
_GROUPS: Final = frozenset(operator.api_version.partition("/")[0] for operator in OPERATORS.values())


@dataclass(frozen=True, slots=True)
class Replicas:
    """Pods of a job that are alike.

    Attributes:
        name: Such as ``Worker``.
        path: Of them in the manifest.
        body: As decoded.
        pod: Their template.
    """

    name: str
    path: FaultPath
    body: Mapping[str, Any]
    pod: Pod

    @property
    def count(self) -> int | None:
        """How many they are; ``None`` where that is not readable."""
        return integer(self.body.get("replicas", 1))


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A job of one of the two operators.

    Attributes:
        manifest: As written.
        operator_name: ``kubeflow`` or ``hyperpod``.
        replicas: Its pods, alike ones together.
    """

    manifest: Manifest
    operator_name: OperatorName
    replicas: tuple[Replicas, ...]

    @property
    def operator(self) -> JobOperator:
        """Who runs it."""
        return OPERATORS[self.operator_name]

    @property
    def is_kubeflow(self) -> bool:
        """Whether the Kubeflow Training Operator runs it, and not HyperPod's."""
        return self.operator_name == "kubeflow"

    @property
    def spec(self) -> Mapping[str, Any]:
        """What the operator reads."""
        return mapping(self.manifest.get("spec"))

    @property
    def replicas_path(self) -> FaultPath:
        """Where the pods stand."""
        return ("spec", _SPECS[self.operator_name])

    @property
    def elastic_policy(self) -> Mapping[str, Any] | None:
        """How many nodes it may have; ``None`` if it says nothing about it."""
        found = self.spec.get("elasticPolicy")
        return found if isinstance(found, Mapping) else None

    @property
    def run_policy(self) -> Mapping[str, Any]:
        """What becomes of it when it fails or ends."""
        return mapping(self.spec.get("runPolicy"))

    @property
    def labels(self) -> Mapping[str, Any]:
        """Its labels."""
        return mapping(self.manifest.get("metadata", "labels"))

    @property
    def annotations(self) -> Mapping[str, Any]:
        """Its annotations."""
        return mapping(self.manifest.get("metadata", "annotations"))

    @property
    def has_master(self) -> bool:
        """Whether it has a replica whose address the Kubeflow operator tells to the others."""
        return self.is_kubeflow and any(replicas.name == KUBEFLOW_REPLICAS[0] for replicas in self.replicas)

    @property
    def pod_count(self) -> int | None:
        """How many pods it has at most; ``None`` where that is not readable."""
        largest = integer(mapping(self.elastic_policy).get("maxReplicas"))
        counts = [replicas.count for replicas in self.replicas]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return largest
        return max(sum(known), largest or 0)

    @property
    def is_distributed(self) -> bool:
        """Whether it has several pods, as far as one can tell."""
        count = self.pod_count
        return count is None or count > 1

    def pods(self) -> Iterator[Pod]:
        """Yield the templates of its pods."""
        yield from (replicas.pod for replicas in self.replicas)

    def containers(self, *, init: bool = False) -> Iterator[tuple[Pod, Container]]:
        """Yield its containers with their pods.

        Args:
            init: Whether to yield those that run before the others as well. By default not.
        """
        for pod in self.pods():
            yield from ((pod, container) for container in pod.containers(init=init))

    def trainers(self) -> Iterator[tuple[Pod, Container]]:
        """Yield the container of each pod that trains, see `trainer_of`."""
        for pod in self.pods():
            found = self.trainer_of(pod)
            if found is not None:
                yield pod, found

    def trainer_of(self, pod: Pod) -> Container | None:
        """Return the container of a pod that trains; ``None`` if it has none at all.

        It is the one with the operator's name, else with accelerators, else with a launcher, else the first.
        """
        containers = tuple(pod.containers())
        marks = (
            lambda container: container.name == self.operator.container_name,
            lambda container: bool(container.accelerators()),
            lambda container: launch_of(container).launcher is not None,
            lambda _: True,
        )
        return next((one for mark in marks for one in containers if mark(one)), None)

    def launches(self) -> Iterator[tuple[Pod, Container, Launch]]:
        """Yield how each container that trains starts its processes."""
        for pod, container in self.trainers():
            yield pod, container, launch_of(container)

    def says(self, *words: str, init: bool = False) -> FaultPath | None:
        """Return the path of the first environment variable or argument with one of these words in it.

        Args:
            words: In lower case.
            init: Whether containers that run before the others count as well. By default not.
        """
        for _, container in self.containers(init=init):
            for position, name, value in container.variables():
                if any(word in f"{name}={value}".lower() for word in words):
                    return (*container.path, "env", position)
            for member, texts in (("command", container.command), ("args", container.args)):
                for position, text in enumerate(texts):
                    if any(word in text.lower() for word in words):
                        return (*container.path, member, position)
        return None


def operator_of(manifest: Manifest) -> OperatorName | None:
    """Return the operator that an object is meant for, also where its kind or version is misspelled.

    Kinds of other API groups are left alone, whatever their name, unless nobody but HyperPod has them or the
    group looks like a misspelled one.
    """
    group, slash, _ = manifest.api_version.partition("/")
    kind = manifest.kind.lower()
    if group in _GROUPS and kind not in _BY_KIND:
        near = difflib.get_close_matches(kind, _BY_KIND, n=1, cutoff=_NEAR)
        return _BY_KIND[near[0]] if near else None
    name = _BY_KIND.get(kind)
    if name is None or name == "hyperpod" or not slash:
        return name
    is_near = group == _KUBEFLOW or any(group.startswith(known) for known in _GROUPS)
    return name if is_near else None


def training_jobs(manifests: Iterable[Manifest]) -> Iterator[TrainingJob]:
    """Yield the training jobs among manifests."""
    for manifest in manifests:
        name = operator_of(manifest)
        if name is not None:
            yield TrainingJob(manifest, name, tuple(_replicas(manifest, name)))


def _replicas(manifest: Manifest, operator: OperatorName) -> Iterator[Replicas]:
    path: FaultPath = ("spec", _SPECS[operator])
    found = manifest.get(*path)
    if operator == "kubeflow":
        for name, body in mapping(found).items():
            if isinstance(body, Mapping):
                yield _made(str(name), (*path, str(name)), body)
    else:
        for position, body in items(found):
            yield _made(str(body.get("name", "")), (*path, position), body)


def _made(name: str, path: FaultPath, body: Mapping[str, Any]) -> Replicas:
    return Replicas(name, path, body, Pod((*path, "template"), mapping(body.get("template"))))
