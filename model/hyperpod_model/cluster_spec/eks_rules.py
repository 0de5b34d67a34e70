"""What the fields for EKS say together, and fields that go with one orchestrator only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog import names
from hyperpod_model.catalog.add_ons import CHART_FOLDER, CHART_REPOSITORY
from hyperpod_model.catalog.jobs import TEAM_NAMESPACE_PREFIX
from hyperpod_model.checks.checkpointless import check_checkpointless
from hyperpod_model.checks.kubernetes import (
    check_add_on_versions,
    check_control_plane_zones,
    check_kubernetes_version,
)
from hyperpod_model.checks.tiered_storage import accelerated_groups, check_tiered_checkpointing
from hyperpod_model.checks.training_pods import bare_issuer, check_oidc_issuer, check_training_pods
from hyperpod_model.cluster_spec.dependency_chart import DependencyChartSpec
from hyperpod_model.cluster_spec.eks import EXISTING_EKS_ONLY, MAKES_EKS_ONLY, EksSpec
from hyperpod_model.cluster_spec.request import request_of
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_OCI_URI = re.compile(r"oci://[a-z0-9.:-]+(/[a-z0-9._-]+)+")
_ECR_URI = re.compile(r"oci://\d{12}\.dkr\.ecr\.([a-z0-9-]+)\.[a-z0-9.-]+/.+")
_ISSUER_REGION = re.compile(r"oidc\.eks\.([a-z0-9-]+)\..+")
_FEW_SUBNETS = 2
_SLURM_ONLY = ("node_type", "partition_names", "mounts_file_system", "lustre_mounts", "open_zfs_mounts")
_EKS_ONLY = ("eks", "training_pods", "checkpointless", "task_governance")
_ANYWHERE = "0.0.0.0/0"
_PRIVATE_RANGES = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
"""Of organizations (RFC 1918) and of providers (RFC 6598)."""
_CHART_FIELD: FaultPath = ("eks", "dependency_chart")


def check_eks(spec: ClusterSpec) -> list[Fault]:
    """Check what goes with one orchestrator only, and all that is said for EKS, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    if not known(spec.orchestrator):
        return []
    if spec.orchestrator == "slurm":
        return _check_nothing_for_eks(spec)
    faults = list(_check_nothing_for_slurm(spec))
    if known(spec.eks):
        faults += [
            *_check_cluster(spec, spec.eks),
            *_check_chart(spec.eks, spec.network),
            *_check_chart_of_isolated(spec, spec.eks),
        ]
    return [*faults, *_check_pods(spec), *_check_tiers(spec), *_check_checkpointless(spec)]


def _check_nothing_for_eks(spec: ClusterSpec) -> list[Fault]:
    return [
        Fault((field,), "goes with orchestrator 'eks'; set that, or leave this out")
        for field in _EKS_ONLY
        if field in spec.model_fields_set and getattr(spec, field) is not None
    ]


def _check_nothing_for_slurm(spec: ClusterSpec) -> Iterator[Fault]:
    if "slurm" in spec.model_fields_set:
        yield Fault(("slurm",), "goes with orchestrator 'slurm', got 'eks'; leave it out")
    for index, group in enumerate(spec.instance_groups if known(spec.instance_groups) else ()):
        if not known(group):
            continue
        for field in _SLURM_ONLY:
            said = getattr(group, field)
            if field not in group.model_fields_set or said is None or said == ():
                continue
            way_out = "; with EKS pods mount file systems as volumes" if "mount" in field else ""
            yield Fault(
                ("instance_groups", index, field),
                f"goes with orchestrator 'slurm', got 'eks'{way_out}; leave it out",
            )


def _check_cluster(spec: ClusterSpec, eks: EksSpec) -> Iterator[Fault]:
    yield from _below(("eks", "add_on_versions"), _if_known(check_add_on_versions, eks.add_on_versions))
    if not known(eks.cluster_arn):
        return
    unfit, message = (
        (
            MAKES_EKS_ONLY,
            "shapes an EKS cluster that is made, and cluster_arn names an existing one; leave it out",
        )
        if eks.is_existing
        else (EXISTING_EKS_ONLY, "tells of an existing EKS cluster; give cluster_arn too, or leave it out")
    )
    for field in unfit:
        if field in eks.model_fields_set and getattr(eks, field) is not None:
            yield Fault(("eks", field), message)
    group = eks.cluster_security_group_id
    if group is not None and known(group) and not names.SECURITY_GROUP_ID.matches(group):
        message = f"must be {names.SECURITY_GROUP_ID.in_words}, got {group!r}"
        yield Fault(("eks", "cluster_security_group_id"), message)
    if eks.is_existing:
        yield from _check_existing(spec, eks)
    else:
        yield from _check_made(spec, eks)


def _check_existing(spec: ClusterSpec, eks: EksSpec) -> Iterator[Fault]:
    parts = eks.cluster_arn.split(":") if isinstance(eks.cluster_arn, str) else []
    if len(parts) > 3 and isinstance(spec.region, str) and parts[2] == "eks" and parts[3] != spec.region:
        yield Fault(
            ("eks", "cluster_arn"),
            f"is of region {parts[3]!r}, the cluster is in {spec.region!r}; name an EKS cluster of the same "
            "region",
        )
    network = spec.network
    if known(network) and known(network.subnet_ids) and not network.is_existing:
        yield Fault(
            ("network", "subnet_ids"),
            "is required with eks.cluster_arn: nodes go into the VPC of the existing EKS cluster; give its "
            "vpc_id, subnet_ids and security_group_ids",
        )


def _check_made(spec: ClusterSpec, eks: EksSpec) -> Iterator[Fault]:
    if eks.kubernetes_version is not None:
        found = _if_known(check_kubernetes_version, eks.kubernetes_version)
        yield from _below(("eks", "kubernetes_version"), found)
    zones = eks.control_plane_availability_zone_ids
    if zones is not None and known(zones):
        region = spec.region if known(spec.region) else None
        found = check_control_plane_zones(zones, region=region)
        yield from _below(("eks", "control_plane_availability_zone_ids"), found)
    yield from _check_control_plane_place(spec, eks)
    for index, cidr in enumerate(eks.public_access_cidrs if known(eks.public_access_cidrs) else ()):
        if known(cidr):
            yield from _below(("eks", "public_access_cidrs", index), _check_range(cidr))


def _check_control_plane_place(spec: ClusterSpec, eks: EksSpec) -> Iterator[Fault]:
    network = spec.network
    zones, subnets = eks.control_plane_availability_zone_ids, eks.control_plane_subnet_ids
    if not known(network) or not known(network.subnet_ids):
        return
    if subnets is not None and known(subnets):
        for index, subnet in enumerate(subnets):
            if known(subnet) and not names.SUBNET_ID.matches(subnet):
                message = f"must be {names.SUBNET_ID.in_words}, got {subnet!r}"
                yield Fault(("eks", "control_plane_subnet_ids", index), message)
    if not network.is_existing:
        if zones is None:
            yield Fault(
                ("eks", "control_plane_availability_zone_ids"),
                "is required where network and EKS cluster are made: EKS asks for two zones such as usw2-az1 "
                "and usw2-az2, although the accelerators stay in one",
            )
        if subnets is not None:
            yield Fault(
                ("eks", "control_plane_subnet_ids"),
                "goes with an existing network; give control_plane_availability_zone_ids instead",
            )
        return
    if zones is not None:
        yield Fault(
            ("eks", "control_plane_availability_zone_ids"),
            "is for subnets that are made, and network.subnet_ids name existing ones; give "
            "control_plane_subnet_ids instead",
        )
    if subnets is None or (known(subnets) and len(set(subnets)) < _FEW_SUBNETS):
        yield Fault(
            ("eks", "control_plane_subnet_ids"),
            "must be two existing subnets or more, in two Availability Zones, which EKS asks for, where an "
            "EKS cluster is made in an existing network; or give cluster_arn of an existing EKS cluster",
        )
    if network.vpc_id is None:
        yield Fault(("network", "vpc_id"), "is required with subnet_ids, to make an EKS cluster")


def _check_range(cidr: str) -> list[Fault]:
    must = f"must be an IPv4 range such as 203.0.113.0/24, got {cidr!r}"
    try:
        network = IPv4Network(cidr)
    except ValueError as error:
        return [Fault((), f"{must} ({error})")]
    if "/" not in cidr:
        return [Fault((), f"{must}; for one address write {network}")]
    if cidr == _ANYWHERE:
        message = "opens the Kubernetes API to the whole internet; name the ranges of your offices"
        return [Fault((), message, severity="warning")]
    if any(network.subnet_of(private) for private in _PRIVATE_RANGES):
        message = (
            "holds private addresses, from which nobody comes over the internet; within the VPC the private "
            "endpoint is open without it: name public addresses, or leave it out"
        )
        return [Fault((), message, severity="warning")]
    return []


def _check_chart(eks: EksSpec, network: Any) -> Iterator[Fault]:
    chart: Any = eks.dependency_chart
    if not known(chart) or not known(chart.folder, chart.oci_uri, chart.installed, eks.cluster_arn):
        return
    given = [
        field for field in ("folder", "oci_uri", "installed") if getattr(chart, field) not in (None, False)
    ]
    if not given:
        yield Fault(
            _CHART_FIELD,
            f"does not say where the Helm chart comes from that HyperPod needs in the EKS cluster, "
            f"{CHART_FOLDER} of {CHART_REPOSITORY}: give folder, oci_uri with version"
            + (", or installed: true" if eks.is_existing else ""),
        )
    if len(given) > 1:
        yield Fault(_CHART_FIELD, f"says {' and '.join(given)}; keep one")
    if chart.installed and not eks.is_existing:
        yield Fault(
            (*_CHART_FIELD, "installed"),
            "goes with an existing EKS cluster; a new one has no chart, give folder or oci_uri",
        )
    yield from _check_registry(chart)
    if not eks.is_existing or not (chart.folder or chart.oci_uri):
        return
    if eks.kubectl_role_arn is None:
        yield Fault(
            ("eks", "kubectl_role_arn"),
            "is required to install dependency_chart in the existing EKS cluster: the ARN of a role that "
            "administers it; or install the chart yourself and set dependency_chart.installed to true",
        )
    if eks.cluster_security_group_id is None and known(network) and network.vpc_id is not None:
        yield Fault(
            ("eks", "cluster_security_group_id"),
            "is required to install dependency_chart from the VPC of network.vpc_id: it lets the installer "
            "reach the Kubernetes API; `aws eks describe-cluster` says it at "
            "resourcesVpcConfig.clusterSecurityGroupId",
        )


def _check_chart_of_isolated(spec: ClusterSpec, eks: EksSpec) -> Iterator[Fault]:
    network, chart = spec.network, eks.dependency_chart
    if not known(network, chart) or not known(network.isolated, chart.oci_uri):
        return
    uri = chart.oci_uri
    if not network.isolated or uri is None or not _OCI_URI.fullmatch(uri):
        return
    found = _ECR_URI.fullmatch(uri)
    region = spec.region if isinstance(spec.region, str) else None
    if found is None or region not in (None, found[1]):
        place = "the cluster's region" if region is None else region
        yield Fault(
            (*_CHART_FIELD, "oci_uri"),
            f"must be a private ECR repository of {place} where the network is isolated, since the installer "
            f"reaches no other registry, got {uri!r}; push the chart there, or give folder",
        )


def _check_registry(chart: DependencyChartSpec) -> Iterator[Fault]:
    uri, version = chart.oci_uri, chart.version
    if uri is None:
        if version is not None:
            yield Fault((*_CHART_FIELD, "version"), "goes with oci_uri; leave it out")
        return
    if not _OCI_URI.fullmatch(uri):
        yield Fault(
            (*_CHART_FIELD, "oci_uri"),
            "must be oci:// with a registry and a repository, such as "
            f"oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart, got {uri!r}; the "
            "version goes in version",
        )
    if version is None:
        yield Fault(
            (*_CHART_FIELD, "version"), "is required with oci_uri, so that every deployment is the same"
        )
    elif known(version) and not names.CHART_VERSION.matches(version):
        message = f"must be {names.CHART_VERSION.in_words}, got {version!r}"
        yield Fault((*_CHART_FIELD, "version"), message)


def _check_pods(spec: ClusterSpec) -> Iterator[Fault]:
    pods: Any = spec.training_pods
    bucket = spec.checkpoint_bucket
    if pods is None:
        if bucket is not None and known(bucket):
            yield Fault(
                ("training_pods",),
                "is not given, so that no pod may write the checkpoint_bucket; name namespace and "
                "service_account of the jobs, or set checkpoint_bucket to null",
                severity="warning",
            )
        if spec.checkpoint_signing_key is not None and known(spec.checkpoint_signing_key):
            yield Fault(
                ("checkpoint_signing_key",),
                "goes with training_pods, whose role signs: nobody could sign a checkpoint; name namespace "
                "and service_account of the jobs in training_pods, or leave the key out",
            )
        return
    if not known(pods):
        return
    found = check_training_pods(namespace=pods.namespace, service_account=pods.service_account)
    yield from _below(("training_pods",), found)
    yield from _check_platform(pods, spec.eks)
    if not known(pods.identity, pods.issuer, spec.eks) or not known(spec.eks.cluster_arn):
        return
    path: FaultPath = ("training_pods", "issuer")
    if pods.issuer is not None:
        if pods.identity != "irsa" or not spec.eks.is_existing:
            yield Fault(path, "goes with identity 'irsa' and eks.cluster_arn; leave it out")
        else:
            yield from _below(("training_pods",), check_oidc_issuer(pods.issuer))
            yield from _check_issuer_region(pods.issuer, spec.region)
    elif pods.identity == "irsa" and spec.eks.is_existing:
        yield Fault(
            path,
            "is required for identity 'irsa' with eks.cluster_arn; `aws eks describe-cluster` says it at "
            "identity.oidc.issuer",
        )


def _check_platform(pods: Any, eks: EksSpec) -> Iterator[Fault]:
    if pods.apply_platform_chart is not True:
        return
    path: FaultPath = ("training_pods", "apply_platform_chart")
    if known(eks) and known(eks.cluster_arn) and eks.is_existing:
        yield Fault(
            path,
            "is for the EKS cluster that the stack makes, and eks.cluster_arn names an existing one, where "
            "the namespace may be in use; apply the PlatformChart of hyperpod_charts yourself",
        )
    namespace = pods.namespace
    if isinstance(namespace, str) and namespace.startswith(TEAM_NAMESPACE_PREFIX):
        yield Fault(
            path,
            f"goes not with namespace {namespace!r}, which task governance makes for its team later; apply "
            "the PlatformChart of hyperpod_charts after it",
        )


def _check_issuer_region(issuer: str, region: str | None) -> Iterator[Fault]:
    found = _ISSUER_REGION.fullmatch(bare_issuer(issuer))
    if found is not None and isinstance(region, str) and found[1] != region:
        yield Fault(
            ("training_pods", "issuer"),
            f"is of region {found[1]!r}, and the EKS cluster is in {region!r}; `aws eks describe-cluster` "
            "says its own at identity.oidc.issuer",
        )


def _check_tiers(spec: ClusterSpec) -> Iterator[Fault]:
    tiers: Any = spec.tiered_checkpointing
    if tiers is None or not known(tiers) or not known(tiers.enabled):
        return
    if not tiers.enabled:
        for field in ("memory_percentage", "s3_interval_steps"):
            if getattr(tiers, field) is not None:
                yield Fault(("tiered_checkpointing", field), "goes with enabled: true; leave it out")
        return
    found = check_tiered_checkpointing(
        memory_percentage=tiers.memory_percentage,
        # Without a bucket of ours, the durable tier is the job's.
        s3_interval_steps=(
            UNKNOWN
            if tiers.s3_interval_steps is None and spec.checkpoint_bucket is None
            else tiers.s3_interval_steps
        ),
    )
    yield from _below(("tiered_checkpointing",), found)
    yield from _check_subnet_of_tiers(spec)
    if tiers.s3_interval_steps is None and spec.checkpoint_bucket is None:
        yield Fault(
            ("tiered_checkpointing", "s3_interval_steps"),
            "is not given and there is no checkpoint_bucket: the memory tier does not outlive a stop of the "
            "whole cluster, so make sure that jobs write durable checkpoints elsewhere",
            severity="warning",
        )


def _check_subnet_of_tiers(spec: ClusterSpec) -> Iterator[Fault]:
    network, groups = spec.network, _groups(spec)
    if not known(network, groups) or not known(network.subnet_ids) or network.is_existing:
        return
    accelerated = [group for _, group in accelerated_groups({"InstanceGroups": groups})]
    elsewhere = [group.get("InstanceGroupName") for group in accelerated if "OverrideVpcConfig" in group]
    if elsewhere and len(elsewhere) < len(accelerated):
        # It may still be the same one, which an earlier deployment made.
        yield Fault(
            ("tiered_checkpointing",),
            "copies checkpoints between nodes of one subnet, and override_subnet_ids of group "
            f"{', '.join(map(repr, elsewhere))} name another than the one that is made; give the accelerated "
            "groups one subnet, or turn tiered checkpointing off",
            severity="warning",
        )


def _check_checkpointless(spec: ClusterSpec) -> Iterator[Fault]:
    said: Any = spec.checkpointless
    if said is None or not known(said):
        return
    tiers: Any = spec.tiered_checkpointing
    found = check_checkpointless(
        {field: getattr(said, field) for field in type(said).model_fields},
        orchestrator="eks",
        groups=_groups(spec),
        region=spec.region,
        tiered_checkpointing=UNKNOWN if not known(tiers) else tiers is not None and tiers.enabled,
    )
    yield from _below(("checkpointless",), found)


def _groups(spec: ClusterSpec) -> Any:
    groups = request_of(spec).get("InstanceGroups", [])
    return UNKNOWN if not known(groups) or not known(*groups) else groups


def _if_known(check: Any, value: Any) -> list[Fault]:
    found: list[Fault] = check(value) if known(value) else []
    return found


def _below(path: FaultPath, faults: list[Fault]) -> Iterator[Fault]:
    for fault in faults:
        yield fault._replace(path=(*path, *fault.path))
