"""The pods of a training job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_choice,
    check_given,
    check_is,
    check_labels,
    check_name,
    check_quantity,
    known,
    refuse_arguments,
)
from hyperpod_charts.kubernetes_object import given
from hyperpod_charts.pod_volumes import PodVolume, SharedMemoryVolume, volumes_and_mounts
from hyperpod_charts.toleration import Toleration
from hyperpod_model.catalog.jobs import DNS_POLICY_WITH_HOST_NETWORK, ENVIRONMENT_VARIABLE, OPERATORS
from hyperpod_model.catalog.manifest_vocabulary import IMAGE_PULL_POLICIES
from hyperpod_model.catalog.names import KUBERNETES_SERVICE_ACCOUNT
from hyperpod_model.catalog.pod_resources import SHARED_MEMORY_PATH
from hyperpod_model.checks.images import check_image
from hyperpod_model.faults import UNKNOWN, Fault
from hyperpod_policy.manifests.reading import quantity

CONTAINER_NAME: Final = OPERATORS["kubeflow"].container_name
"""``pytorch``: the Kubeflow operator finds no container of another name, and says so nowhere."""

_HUGE_PAGES: Final = "hugepages-"
_PORT_NAME: Final = re.compile(r"(?=.{1,15}\Z)[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_SETTER: Final = "kernel-parameters"
_SETTER_RESOURCES: Final = {"cpu": "100m", "memory": "64Mi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPod:
    """What each pod of a job is, in Kubernetes' terms.

    The container is named ``pytorch``. It asks for exactly what it may use, so that it is the last to be
    evicted; volumes and mounts come in pairs; environment variables of Kubernetes services stay out, since a
    service named ``master`` would set ``MASTER_PORT``.

    Attributes:
        image: Container image with registry and tag or digest.
        command: Program and arguments, not run by a shell. Default the image's own.
        args: Further arguments. Default none.
        resources: Requests, which are the limits as well, by name: ``{"nvidia.com/gpu": "8"}``.
        shared_memory: Most that ``/dev/shm`` may hold, as a quantity. Default 64 MiB, the runtime's own.
        environment: Environment variables. Default none.
        volumes: Volumes and where they are mounted. Default none.
        ports: Ports that the container listens on, by name. Default none.
        node_selector: Labels of the nodes. Default any nodes.
        tolerations: Taints that the pods put up with. Default none.
        topology_key: Label of nodes; all pods of the job go where its value is the same. Default anywhere.
        topology_required: Whether pods wait rather than go elsewhere. Default False.
        service_account_name: Service account. Default the namespace's ``default``.
        priority_class_name: PriorityClass. Default the cluster's.
        image_pull_policy: Default ``IfNotPresent``, for an image with tag or digest.
        termination_grace_period_seconds: Seconds from SIGTERM to SIGKILL.
        host_network: Whether the pods are in the network of their node. Default False.
        kernel_parameters: Parameters of the network in which the pods are. Default the kernel's. In the
            node's own network Kubernetes takes none, so that a privileged container sets them on the node
            before training starts; it needs the program ``sysctl`` in the image.
        labels: Labels of the pods. Default none.
        annotations: Annotations of the pods. Default none.
    """

    image: str
    resources: Mapping[str, str]
    termination_grace_period_seconds: int
    command: Sequence[str] = ()
    args: Sequence[str] = ()
    shared_memory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    volumes: Sequence[PodVolume] = ()
    ports: Mapping[str, int] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Toleration] = ()
    topology_key: str | None = None
    topology_required: bool = False
    service_account_name: str | None = None
    priority_class_name: str | None = None
    image_pull_policy: str | None = None
    host_network: bool = False
    kernel_parameters: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refuse_arguments("training pod", self._faults())

    def template(self, *, labels: Mapping[str, str]) -> dict[str, Any]:
        """Write the pod template.

        Args:
            labels: Labels by which the pods of one job are told from all others; ``labels`` of the pod cannot
                replace them.
        """
        volumes, mounts = volumes_and_mounts(self._all_volumes())
        return {
            "metadata": given(labels={**self.labels, **labels}, annotations=dict(self.annotations)),
            "spec": given(
                serviceAccountName=self.service_account_name,
                priorityClassName=self.priority_class_name,
                hostNetwork=self.host_network or None,
                dnsPolicy=DNS_POLICY_WITH_HOST_NETWORK if self.host_network else None,
                enableServiceLinks=False,
                terminationGracePeriodSeconds=self.termination_grace_period_seconds,
                nodeSelector=dict(self.node_selector),
                affinity=self._affinity(labels),
                tolerations=[toleration.to_json() for toleration in self.tolerations],
                securityContext=self._pod_security(),
                initContainers=self._parameter_setter(),
                containers=[self._container(mounts)],
                volumes=volumes,
            ),
        }

    def _container(self, mounts: list[dict[str, Any]]) -> dict[str, Any]:
        resources = dict(self.resources)
        return given(
            name=CONTAINER_NAME,
            image=self.image,
            imagePullPolicy=self.image_pull_policy,
            command=list(self.command),
            args=list(self.args),
            env=[{"name": name, "value": value} for name, value in self.environment.items()],
            ports=[{"name": name, "containerPort": port} for name, port in self.ports.items()],
            resources={"requests": resources, "limits": resources},
            # EFA and GPUs come through device plug-ins and need no privileges.
            securityContext={"allowPrivilegeEscalation": False},
            volumeMounts=mounts,
        )

    def _all_volumes(self) -> Iterator[PodVolume]:
        if self.shared_memory is not None:
            yield SharedMemoryVolume(size=self.shared_memory, mount_path=SHARED_MEMORY_PATH)
        yield from self.volumes

    def _affinity(self, labels: Mapping[str, str]) -> dict[str, Any] | None:
        if self.topology_key is None:
            return None
        term = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": self.topology_key}
        if self.topology_required:
            return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        preferred = [{"weight": 100, "podAffinityTerm": term}]
        return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}

    def _pod_security(self) -> dict[str, Any] | None:
        if self.host_network or not self.kernel_parameters:
            return None
        return {"sysctls": [{"name": name, "value": value} for name, value in self.kernel_parameters.items()]}

    def _parameter_setter(self) -> list[dict[str, Any]]:
        if not self.host_network or not self.kernel_parameters:
            return []
        settings = [f"{name}={value}" for name, value in self.kernel_parameters.items()]
        return [
            {
                "name": _SETTER,
                "image": self.image,
                "command": ["sysctl", "-w", *settings],
                "resources": {"requests": _SETTER_RESOURCES, "limits": _SETTER_RESOURCES},
                # The API server refuses sysctls of the network in pods that share the node's.
                "securityContext": {"privileged": True, "runAsUser": 0},
            }
        ]

    def _faults(self) -> Iterator[Fault]:
        yield from check_image(known(self.image), ("image",))
        yield from self._resource_faults()
        yield from self._word_faults()
        for name, value in self.environment.items():
            if not isinstance(value, str):
                yield Fault(("environment", name), f"must be text, got {value!r}; write {str(value)!r}")
            if not ENVIRONMENT_VARIABLE.matches(name):
                yield Fault(("environment", name), f"must be named by {ENVIRONMENT_VARIABLE.in_words}")
        yield from check_labels("node_selector", self.node_selector)
        yield from check_labels("labels", self.labels)
        yield from check_name("service_account_name", self.service_account_name, KUBERNETES_SERVICE_ACCOUNT)
        yield from check_name("priority_class_name", self.priority_class_name)
        yield from check_choice("image_pull_policy", self.image_pull_policy, IMAGE_PULL_POLICIES)
        grace = self.termination_grace_period_seconds
        yield from check_given("termination_grace_period_seconds", grace)
        yield from check_at_least("termination_grace_period_seconds", grace, 1)
        for index, toleration in enumerate(self.tolerations):
            wrong = check_is(f"tolerations[{index}]", toleration, Toleration)
            yield from wrong if wrong else _within(("tolerations", index), toleration.faults())
        yield from self._volume_faults()
        yield from self._port_faults()

    def _resource_faults(self) -> Iterator[Fault]:
        if not self.resources:
            yield Fault(("resources",), "is empty; a pod that asks for nothing is the first to be evicted")
            return
        for name, value in self.resources.items():
            yield from check_quantity(("resources", name), value, whole="/" in name)
        pages = next((name for name in self.resources if name.startswith(_HUGE_PAGES)), None)
        if pages is not None and not {"cpu", "memory"} & self.resources.keys():
            yield Fault(
                ("resources",), f"must have cpu or memory beside {pages}, else Kubernetes refuses the pod"
            )
        if self.shared_memory is None:
            return
        wrong = check_quantity(("shared_memory",), self.shared_memory)
        yield from wrong
        most, share = quantity(self.resources.get("memory")), quantity(self.shared_memory)
        if not wrong and most is not None and share is not None and share > most:
            yield Fault(
                ("shared_memory",),
                f"must be at most the memory of the pod, {self.resources['memory']}, of which it is a part, "
                f"got {self.shared_memory!r}",
            )

    def _word_faults(self) -> Iterator[Fault]:
        for argument in ("command", "args"):
            words = getattr(self, argument)
            if isinstance(words, str):
                yield Fault((argument,), f"must be a list of words, got {words!r}")
                continue
            for index, word in enumerate(words):
                if not isinstance(word, str):
                    yield Fault((argument, index), f"must be text, got {word!r}; write {str(word)!r}")

    def _volume_faults(self) -> Iterator[Fault]:
        taken: dict[str, str] = {}
        if self.shared_memory is not None:
            taken[SHARED_MEMORY_PATH] = "shared_memory"
        for index, volume in enumerate(self.volumes):
            if not isinstance(volume, PodVolume):
                kinds = ", ".join(kind.__name__ for kind in get_args(PodVolume))
                yield Fault(("volumes", index), f"must be one of {kinds}, got {volume!r}")
                continue
            yield from _within(("volumes", index), volume.faults())
            if volume.mount_path in taken:
                yield Fault(
                    ("volumes", index, "mount_path"),
                    f"{volume.mount_path!r} is taken by {taken[volume.mount_path]}; mount it elsewhere",
                )
            taken[volume.mount_path] = f"volumes[{index}]"

    def _port_faults(self) -> Iterator[Fault]:
        for name, port in self.ports.items():
            if not _PORT_NAME.fullmatch(name) or not re.search("[a-z]", name):
                yield Fault(
                    ("ports", name),
                    "must be named by at most 15 lower-case letters, digits and single hyphens inside, "
                    f"a letter among them, got {name!r}",
                )
            if known(port) is UNKNOWN:
                continue
            if not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65535:
                yield Fault(("ports", name), f"must be a whole number from 1 to 65535, got {port!r}")
        numbers = list(self.ports.values())
        doubles = {port for port in numbers if numbers.count(port) > 1}
        if doubles:
            yield Fault(("ports",), f"must be given once each, got {sorted(doubles)} twice")


def _within(path: tuple[str | int, ...], faults: list[Fault]) -> Iterator[Fault]:
    for fault in faults:
        yield fault._replace(path=(*path, *fault.path))
