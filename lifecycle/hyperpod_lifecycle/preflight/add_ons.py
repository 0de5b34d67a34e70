"""Whether the add-ons of an EKS cluster are new enough, or EKS has those that are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_lifecycle.preflight.wanted import WantedAddOn
from hyperpod_model.catalog.add_ons import ADD_ONS, STATUS_WITHOUT_NODES, AddOn
from hyperpod_model.catalog.metrics import AGENT_ADD_ON
from hyperpod_model.checks.kubernetes import check_add_on_versions, newest_kubernetes_version

ABOUT = About("add-on")

_ACTIVE = "ACTIVE"
_WITHOUT = {"task_governance.add_on": "set task_governance.add_on to false, so that the one there is used"}


class AddOnThere(NamedTuple):
    """An add-on that this project's own stack has installed after the nodes.

    Attributes:
        name: Its name.
        requires: What it cannot do without; what it needs is said of all at once.
        needs_nodes: Whether it is active only once there are nodes.
    """

    name: str
    requires: tuple[str, ...] = ()
    needs_nodes: bool = True


def check_add_ons(situation: Situation) -> Iterator[Finding]:
    """Check add-ons against the versions that HyperPod takes.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    if situation.wanted.orchestrator != "eks":
        yield ABOUT.not_applicable("Slurm schedules the jobs")
    elif situation.wanted.existing_eks_name is None:
        yield from _made(situation)
    else:
        yield from _existing(situation, situation.wanted.existing_eks_name)


def _made(situation: Situation) -> Iterator[Finding]:
    eks = situation.wanted.spec.eks
    kubernetes = newest_kubernetes_version() if eks.kubernetes_version is None else eks.kubernetes_version
    other_version = "set another eks.kubernetes_version"
    for name in ADD_ONS:
        yield _offered(
            situation, name, kubernetes, wanted=eks.add_on_versions.get(name), way_out=other_version
        )
    for extra in situation.wanted.add_ons:
        yield _offered(
            situation, extra.name, kubernetes, way_out=f"{other_version}, or leave {extra.field} out"
        )


def _offered(
    situation: Situation, name: str, kubernetes: str, *, way_out: str, wanted: str | None = None
) -> Finding:
    try:
        rows = situation.reads.all(
            "eks", "DescribeAddonVersions", addonName=name, kubernetesVersion=kubernetes
        )
    except OperationError as error:
        return ABOUT.cannot_tell(name, error)
    versions = [version for row in rows for version in row.get("addonVersions", ())]
    names = [str(version["addonVersion"]) for version in versions]
    if not names:
        return ABOUT.problem(
            name,
            f"EKS has none for Kubernetes {kubernetes} in {situation.wanted.region}",
            remedy=way_out,
        )
    if wanted is not None and wanted not in names:
        return ABOUT.problem(
            name,
            f"EKS has no version {wanted} for Kubernetes {kubernetes}",
            remedy=f"set eks.add_on_versions to one of {', '.join(names)}, or leave it out",
        )
    version = _default(versions) if wanted is None else wanted
    if version is None:
        return ABOUT.cannot_tell(name, f"EKS names no default version for Kubernetes {kubernetes}")
    said = f"{version} is {'the default' if wanted is None else 'wanted'} for Kubernetes {kubernetes}"
    return _judged(
        name,
        version,
        said,
        "set a newer one: eks.add_on_versions",
    )


def _default(versions: list[Mapping[str, Any]]) -> str | None:
    for version in versions:
        if any(each.get("defaultVersion") for each in version.get("compatibilities", ())):
            return str(version["addonVersion"])
    return None


def _existing(situation: Situation, eks: str) -> Iterator[Finding]:
    try:
        there = situation.reads.all("eks", "ListAddons", clusterName=eks)
    except OperationError as error:
        if code_of(error.__cause__) != "ResourceNotFoundException":
            raise
        yield ABOUT.cannot_tell(eks, "there is no such EKS cluster")
        return
    for name, add_on in ADD_ONS.items():
        if name in there:
            yield _installed(situation, eks, add_on, there)
        elif add_on.minimum is not None:
            yield ABOUT.cannot_tell(
                name,
                f"it is no add-on of {eks}; if it runs all the same, it must be {add_on.minimum} or later",
            )
    users = situation.wanted.users_of_pod_identity
    if users and AGENT_ADD_ON not in there:
        yield ABOUT.problem(
            AGENT_ADD_ON,
            f"{eks} lacks it, and pods of {' and '.join(users)} get their role through it",
            remedy=f"aws eks create-addon --region {situation.wanted.region} --cluster-name {eks} "
            f"--addon-name {AGENT_ADD_ON}",
        )
    for extra in situation.wanted.add_ons:
        yield _to_install(situation, eks, extra, there)


def _to_install(situation: Situation, eks: str, extra: WantedAddOn, there: list[str]) -> Finding:
    """An add-on that the deployment installs: EKS refuses to create one that is there."""
    try:
        if extra.name not in there:
            kubernetes = str(situation.eks_cluster()["version"])
            return _offered(
                situation,
                extra.name,
                kubernetes,
                way_out=f"update the Kubernetes version of {eks}, or leave {extra.field} out",
            )
        if situation.same_cluster() is not None:
            return _installed(situation, eks, AddOnThere(extra.name), there)
    except OperationError as error:
        return ABOUT.cannot_tell(extra.name, error)
    return ABOUT.problem(
        extra.name,
        f"{eks} has it already, and the deployment creates it for {extra.field}",
        remedy=_WITHOUT.get(extra.field, f"leave {extra.field} out, or delete the add-on first"),
    )


def _installed(situation: Situation, eks: str, add_on: AddOn | AddOnThere, there: list[str]) -> Finding:
    name = add_on.name
    try:
        told = situation.reads.one("eks", "DescribeAddon", clusterName=eks, addonName=name)["addon"]
    except OperationError as error:
        return ABOUT.cannot_tell(name, error)
    version, status = str(told["addonVersion"]), str(told["status"])
    missing = [other for other in add_on.requires if other not in there]
    if missing:
        return ABOUT.problem(
            name, f"it needs {' and '.join(missing)}, which {eks} lacks", remedy="install that first"
        )
    if status != _ACTIVE:
        said = "; ".join(issue.get("message", "") for issue in told.get("health", {}).get("issues", ()))
        why = f"it is {status}{f' ({said})' if said else ''}"
        without_nodes = STATUS_WITHOUT_NODES.assuming(because="it only turns a problem into a question")
        if add_on.needs_nodes and status == without_nodes:
            return ABOUT.cannot_tell(name, f"{why}, as where there are no nodes for it yet")
        return ABOUT.problem(
            name, why, remedy=f"see 'aws eks describe-addon --cluster-name {eks} --addon-name {name}'"
        )
    return _judged(name, version, f"{version} is installed", "update it")


def _judged(name: str, version: str, said: str, remedy: str) -> Finding:
    if name not in ADD_ONS:
        return ABOUT.ok(name, said)
    faults = check_add_on_versions({name: version})
    if faults:
        return ABOUT.problem(name, faults[0].message, remedy=remedy)
    minimum = ADD_ONS[name].minimum
    return ABOUT.ok(name, said if minimum is None else f"{said}, {minimum} or later is needed")
