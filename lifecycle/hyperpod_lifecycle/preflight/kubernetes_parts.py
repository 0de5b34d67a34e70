"""Whether an existing EKS cluster has what jobs need: the job's resource, and the EFA device plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.operations.kubernetes_reads import KubernetesReads, KubernetesUnreachableError
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_model.catalog import task_governance
from hyperpod_model.catalog.add_ons import CHART_FOLDER, CHART_REPOSITORY
from hyperpod_model.catalog.jobs import OPERATORS
from hyperpod_model.catalog.preflight import (
    EFA_DEVICE_PLUGIN_IMAGE,
    INSTANCE_TYPE_LABELS,
    KUEUE_DEFINITION,
)

ABOUT = About("Kubernetes")

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DAEMON_SETS = "/apis/apps/v1/daemonsets"
_PLUGIN = "EFA device plugin"
_KUEUE = "Kueue"


def check_kubernetes_parts(situation: Situation) -> Iterator[Finding]:
    """Check the existing EKS cluster for the Kubeflow job's resource and the EFA device plugin.

    Args:
        situation: The wanted cluster.
    """
    kubernetes = situation.kubernetes
    if situation.wanted.orchestrator != "eks":
        yield ABOUT.not_applicable("Slurm schedules the jobs")
        return
    if kubernetes is None:
        yield ABOUT.not_applicable("there is no EKS cluster yet")
        return
    if not _is_there(situation):
        yield ABOUT.cannot_tell(str(situation.wanted.existing_eks_name), "there is no such EKS cluster")
        return
    untold: dict[str, list[str]] = {}
    for subject, look in _parts(situation, kubernetes):
        try:
            yield from look()
        except (KubernetesUnreachableError, OperationError) as error:
            untold.setdefault(str(error), []).append(subject)
    for why, subjects in untold.items():
        yield ABOUT.cannot_tell(", ".join(subjects), why)


def _parts(
    situation: Situation, kubernetes: KubernetesReads
) -> Iterator[tuple[str, Callable[[], Iterator[Finding]]]]:
    """What is looked for, and how."""
    kind = OPERATORS["kubeflow"].kind
    yield f"{kind} resource", lambda: _job_resource(situation, kubernetes, kind)
    types = sorted(
        {found.name for group in situation.wanted.groups if group.has_efa for found in group.known_types}
    )
    if types:
        yield _PLUGIN, lambda: _device_plugin(situation, kubernetes, types)
    if any(add_on.name == task_governance.ADD_ON for add_on in situation.wanted.add_ons):
        yield _KUEUE, lambda: _kueue(situation, kubernetes)


def _is_there(situation: Situation) -> bool:
    """Whether the EKS cluster is there, as far as known."""
    try:
        situation.eks_cluster()
    except OperationError as error:
        return code_of(error.__cause__) != "ResourceNotFoundException"
    return True


def _job_resource(situation: Situation, kubernetes: KubernetesReads, kind: str) -> Iterator[Finding]:
    group, _, version = OPERATORS["kubeflow"].api_version.partition("/")
    name = f"{kind.lower()}s.{group}"
    found = kubernetes.one(f"{_DEFINITIONS}/{name}")
    subject = f"{kind} resource"
    if found is None:
        yield _absent(situation, subject, f"there is no resource definition {name}")
        return
    served = [each["name"] for each in found["spec"]["versions"] if each.get("served")]
    if version not in served:
        yield ABOUT.problem(
            subject,
            f"{name} is served as {', '.join(served)}, and jobs are of {version}",
            remedy="install the training operator of the dependency chart",
        )
        return
    yield ABOUT.ok(subject, f"{name} is there, {version} served")


def _device_plugin(
    situation: Situation, kubernetes: KubernetesReads, types: Sequence[str]
) -> Iterator[Finding]:
    image = EFA_DEVICE_PLUGIN_IMAGE.value
    found = [
        (row, container["image"])
        for row in kubernetes.all(_DAEMON_SETS)
        for container in row["spec"]["template"]["spec"]["containers"]
        if _repository(container["image"]).endswith(image)
    ]
    if not found:
        yield _absent(situation, _PLUGIN, f"no DaemonSet runs the image {image}")
        return
    listed = [_allowed_types(row) for row, _ in found]
    missing = [
        name for name in types if all(allowed is not None and name not in allowed for allowed in listed)
    ]
    row, used = found[0]
    where = f"{row['metadata']['namespace']}/{row['metadata']['name']}"
    if missing:
        yield ABOUT.problem(
            _PLUGIN,
            f"{where} goes to no node of {' or '.join(missing)}: its node affinity does not list the type, "
            "so that pods get no EFA there",
            remedy="update it, or add the type to supportedInstanceLabels of its chart",
        )
    else:
        yield ABOUT.ok(_PLUGIN, f"{where} runs {used.rpartition('/')[2]}")


def _kueue(situation: Situation, kubernetes: KubernetesReads) -> Iterator[Finding]:
    """A Kueue of one's own, beside which the add-on for task governance does not work."""
    eks = situation.wanted.existing_eks_name
    if task_governance.ADD_ON in situation.reads.all("eks", "ListAddons", clusterName=eks):
        return
    name = KUEUE_DEFINITION.value
    if kubernetes.one(f"{_DEFINITIONS}/{name}") is None:
        yield ABOUT.ok(_KUEUE, f"there is none, and {task_governance.ADD_ON} brings it")
        return
    yield ABOUT.problem(
        _KUEUE,
        f"there is one ({name}), and {task_governance.ADD_ON} takes none beside its own",
        remedy="remove it together with its resource definitions, or set task_governance.add_on to false",
    )


def _absent(situation: Situation, subject: str, said: str) -> Finding:
    if not situation.wanted.spec.eks.dependency_chart.installed:
        return ABOUT.ok(subject, f"{said}; the dependency chart that is installed brings it")
    return ABOUT.problem(
        subject,
        f"{said}, although eks.dependency_chart says that the chart is installed",
        remedy=f"install {CHART_FOLDER} of {CHART_REPOSITORY}",
    )


def _repository(image: str) -> str:
    """Repository of an image, without tag and digest."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"


def _allowed_types(row: Mapping[str, Any]) -> set[str] | None:
    """Instance types that a DaemonSet goes to; None where it does not choose by type."""
    spec = row["spec"]["template"]["spec"]
    chosen = {spec.get("nodeSelector", {}).get(label) for label in INSTANCE_TYPE_LABELS} - {None}
    if chosen:
        return {str(name) for name in chosen}
    required = (
        spec.get("affinity", {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution", {})
    )
    allowed: set[str] = set()
    # Of the terms any may hold, of the expressions in one all must.
    for term in required.get("nodeSelectorTerms", ()):
        lists = [
            set(each.get("values", ()))
            for each in term.get("matchExpressions", ())
            if each["key"] in INSTANCE_TYPE_LABELS and each["operator"] == "In"
        ]
        if not lists:
            return None
        allowed |= set.intersection(*lists)
    return allowed if required.get("nodeSelectorTerms") else None
