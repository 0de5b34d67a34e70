"""Whether the EKS cluster can carry HyperPod, or EKS makes one of the wanted version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_model.catalog.versions import EKS_AUTHENTICATION_MODES
from hyperpod_model.checks.kubernetes import check_kubernetes_version, newest_kubernetes_version

ABOUT = About("EKS cluster")

_REGION, _ACCOUNT = 3, 4
_ACTIVE = "ACTIVE"


def check_eks_cluster(situation: Situation) -> Iterator[Finding]:
    """Check the existing EKS cluster, or the Kubernetes version of the one that is made.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    if situation.wanted.orchestrator != "eks":
        yield ABOUT.not_applicable("Slurm schedules the jobs")
    elif situation.wanted.existing_eks_arn is None:
        yield from _made(situation)
    else:
        yield from _existing(situation, situation.wanted.existing_eks_arn)


def _made(situation: Situation) -> Iterator[Finding]:
    said = situation.wanted.spec.eks.kubernetes_version
    version = newest_kubernetes_version() if said is None else said
    subject = f"Kubernetes {version}"
    rows = situation.reads.all("eks", "DescribeClusterVersions")
    offered = {row["clusterVersion"]: row for row in rows}
    row = offered.get(version)
    support = "UNSUPPORTED" if row is None else str(row.get("versionStatus") or row.get("status", ""))
    words = support.lower().replace("_", " ").replace("-", " ")
    if words == "unsupported":
        yield ABOUT.problem(
            subject,
            f"EKS makes no cluster of it in {situation.wanted.region}",
            remedy=f"set eks.kubernetes_version to one of {', '.join(sorted(offered))} that HyperPod takes",
        )
    else:
        yield ABOUT.ok(subject, f"EKS makes clusters of it ({words})")


def _existing(situation: Situation, arn: str) -> Iterator[Finding]:
    parts, name = arn.split(":"), arn.rpartition("/")[2]
    region = situation.wanted.region
    if parts[_REGION] != region or parts[_ACCOUNT] != situation.account:
        yield ABOUT.problem(
            name,
            f"it is of account {parts[_ACCOUNT]} in {parts[_REGION]}, and the cluster of account "
            f"{situation.account} in {region}",
            remedy="name an EKS cluster of the same account and region, or say another --profile",
        )
        return
    try:
        eks = situation.eks_cluster()
    except OperationError as error:
        if code_of(error.__cause__) != "ResourceNotFoundException":
            raise
        yield ABOUT.problem(
            name,
            f"there is no such EKS cluster in {region}",
            remedy=f"name one of 'aws eks list-clusters --region {region}', or leave eks.cluster_arn out",
        )
        return
    if eks["status"] != _ACTIVE:
        yield ABOUT.problem(name, f"it is {eks['status']}", remedy=f"wait until it is {_ACTIVE}")
    yield from _version(name, eks)
    yield _authentication(name, eks, region)
    yield from _vpc(situation, name, eks)


def _version(name: str, eks: Mapping[str, Any]) -> Iterator[Finding]:
    subject = f"{name}, Kubernetes {eks['version']}"
    faults = check_kubernetes_version(eks["version"])
    for fault in faults:
        if fault.severity == "error":
            yield ABOUT.problem(
                subject, fault.message, remedy=f"update it to {newest_kubernetes_version()}, or make another"
            )
        else:
            yield ABOUT.cannot_tell(subject, fault.message)
    if not faults:
        yield ABOUT.ok(subject, "HyperPod supports it")


def _authentication(name: str, eks: Mapping[str, Any], region: str) -> Finding:
    subject = f"{name}, authentication mode"
    mode = eks.get("accessConfig", {}).get("authenticationMode")
    if mode is None:
        return ABOUT.cannot_tell(subject, "EKS does not tell it")
    if mode in EKS_AUTHENTICATION_MODES:
        return ABOUT.ok(subject, f"it is {mode}")
    return ABOUT.problem(
        subject,
        f"it is {mode}, and HyperPod needs {' or '.join(EKS_AUTHENTICATION_MODES)}",
        remedy=f"aws eks update-cluster-config --region {region} --name {name} --access-config "
        f"authenticationMode={EKS_AUTHENTICATION_MODES[-1]} (there is no way back)",
    )


def _vpc(situation: Situation, name: str, eks: Mapping[str, Any]) -> Iterator[Finding]:
    subject = f"{name}, VPC"
    own = eks.get("resourcesVpcConfig", {}).get("vpcId")
    try:
        vpcs = sorted({str(row["VpcId"]) for row in situation.subnets().values()})
    except OperationError as error:
        yield ABOUT.cannot_tell(subject, error)
        return
    if not vpcs:
        yield ABOUT.cannot_tell(subject, "no subnet of the nodes was found")
    elif vpcs != [own]:
        yield ABOUT.problem(
            subject,
            f"it is in {own}, and the nodes' subnets in {', '.join(vpcs)}",
            remedy="name subnets of the EKS cluster's VPC",
        )
    else:
        yield ABOUT.ok(subject, f"it and the nodes' subnets are in {own}")
