"""The cluster that is to be made, as far as an account can stand in its way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from hyperpod_model.catalog import task_governance
from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.instances import InstanceType, instance_type
from hyperpod_model.catalog.metrics import CONTAINER_INSIGHTS, HYPERPOD_OBSERVABILITY
from hyperpod_model.catalog.preflight import (
    BUDGET_TYPE,
    CLUSTER_TYPE,
    GRAFANA_TYPE,
    PROMETHEUS_TYPE,
    TOPIC_TYPE,
)
from hyperpod_model.catalog.regions import regions
from hyperpod_model.cluster_spec import ClusterSpec, InstanceGroupSpec, RestrictedInstanceGroupSpec
from hyperpod_model.cluster_spec.job_figures import job_figures_image_of

NODES: Final = "nodes"
AUTO_SCALING: Final = "autoscaling"
"""What a role is for: it is taken by a service, which its trust policy must name."""

_S3_HOST: Final = re.compile(r"(?:(?P<bucket>.+)\.)?s3[.-](?:.+\.)?amazonaws\.(?:com|com\.cn|eu)")


class WantedAddOn(NamedTuple):
    """An EKS add-on that the deployment installs for something that the specification asks for.

    Attributes:
        name: Its name.
        field: What asks for it, such as ``metrics.prometheus``.
        has_role: Whether its pods get a role, through the Pod Identity agent.
    """

    name: str
    field: str
    has_role: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedGroup:
    """A group of instances that is to be made.

    Attributes:
        name: Its name.
        types: Its instance type, or those of a flexible group, best first.
        count: Number of instances.
        training_plan_arn: Plan whose capacity it uses; None for none.
        is_spot: Whether it takes spare capacity.
        role_arn: Existing role of its nodes; None if one is made.
        subnet_ids: Existing subnets of its nodes; None if one is made.
        security_group_ids: Existing security groups of its nodes; None if one is made.
        volume_gib: Size of the second EBS volume; None for no volume.
        interface_type: ``efa-only`` where EFA interfaces take no address.
    """

    name: str
    types: tuple[str, ...]
    count: int
    training_plan_arn: str | None
    is_spot: bool
    role_arn: str | None
    subnet_ids: tuple[str, ...] | None
    security_group_ids: tuple[str, ...] | None
    volume_gib: int | None
    interface_type: str | None

    @property
    def known_types(self) -> tuple[InstanceType, ...]:
        """What the catalog says of its types, without those that it lacks."""
        return tuple(found for name in self.types if (found := _listed(name)) is not None)

    @property
    def has_efa(self) -> bool:
        """Whether one of its types has EFA interfaces, as far as known."""
        return any(
            found.efa_interfaces.assuming(because="a rule too many is better than a node without EFA") > 0
            for found in self.known_types
        )


@dataclass(frozen=True)
class Wanted:
    """A cluster that is to be made.

    Attributes:
        spec: Its specification.
        region: Where.
    """

    spec: ClusterSpec
    region: str

    @property
    def name(self) -> str:
        """Name of the cluster."""
        return self.spec.name

    @property
    def orchestrator(self) -> Literal["slurm", "eks"]:
        """What schedules its jobs."""
        return self.spec.orchestrator

    @property
    def partition(self) -> str:
        """Partition of its region, ``aws`` where the catalog does not know the region."""
        known = regions().get(self.region)
        return "aws" if known is None else known.partition

    @cached_property
    def groups(self) -> tuple[WantedGroup, ...]:
        """All groups, restricted ones last."""
        spec = self.spec
        return (
            *(self._group(group) for group in spec.instance_groups),
            *(self._restricted(group) for group in spec.restricted_instance_groups),
        )

    @property
    def existing_eks_arn(self) -> str | None:
        """ARN of the existing EKS cluster; None if one is made, or there is none."""
        return self.spec.eks.cluster_arn if self.orchestrator == "eks" else None

    @property
    def existing_eks_name(self) -> str | None:
        """Its name."""
        return None if self.existing_eks_arn is None else self.existing_eks_arn.rpartition("/")[2]

    @property
    def control_plane_subnet_ids(self) -> tuple[str, ...]:
        """Existing subnets for the control plane of an EKS cluster that is made."""
        if self.orchestrator != "eks" or self.existing_eks_arn is not None:
            return ()
        return self.spec.eks.control_plane_subnet_ids or ()

    @cached_property
    def subnet_ids(self) -> tuple[str, ...]:
        """All existing subnets that it names."""
        named = [id for group in self.groups for id in group.subnet_ids or ()]
        return _distinct([*(self.spec.network.subnet_ids or ()), *named, *self.control_plane_subnet_ids])

    @cached_property
    def security_group_ids(self) -> tuple[str, ...]:
        """All existing security groups of its nodes."""
        return _distinct([id for group in self.groups for id in group.security_group_ids or ()])

    @cached_property
    def zone_ids(self) -> tuple[str, ...]:
        """Zones in which a network is made: that of the nodes, and those of the control plane."""
        network, eks = self.spec.network, self.spec.eks
        zone = None if network.is_existing else network.availability_zone_id
        nodes = [] if zone is None else [zone]
        is_made = self.orchestrator == "eks" and self.existing_eks_arn is None
        return _distinct([*nodes, *((eks.control_plane_availability_zone_ids or ()) if is_made else ())])

    def way_into(self, zone_ids: Sequence[str]) -> str:
        """Say how the nodes come into another zone.

        Args:
            zone_ids: Ids of the zones that would do.
        """
        said = " or ".join(zone_ids)
        if self.spec.network.is_existing:
            return f"use a subnet in {said}"
        return f"set network.availability_zone_id to {said}"

    @cached_property
    def training_plan_arns(self) -> tuple[str, ...]:
        """All training plans that its groups use."""
        return _distinct([group.training_plan_arn for group in self.groups if group.training_plan_arn])

    @cached_property
    def buckets(self) -> dict[str, str]:
        """Existing buckets that it names, and what for."""
        return dict(reversed([*self._buckets()]))

    @cached_property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """ARNs of existing roles that it names, and what for, ``NODES`` and ``AUTO_SCALING`` among that."""
        found: dict[str, list[str]] = {}
        for arn, what in self._roles():
            found.setdefault(arn, []).append(what)
        return {arn: _distinct(uses) for arn, uses in found.items()}

    @property
    def add_ons(self) -> tuple[WantedAddOn, ...]:
        """EKS add-ons beside those that every EKS cluster is made with."""
        if self.orchestrator != "eks":
            return ()
        governance, metrics = self.spec.task_governance, self.spec.metrics
        found = []
        if governance is not None and governance.add_on:
            found.append(WantedAddOn(task_governance.ADD_ON, "task_governance.add_on", False))
        if metrics is not None and metrics.prometheus:
            found.append(WantedAddOn(HYPERPOD_OBSERVABILITY.name, "metrics.prometheus", True))
        if metrics is not None and metrics.container_insights:
            found.append(WantedAddOn(CONTAINER_INSIGHTS.name, "metrics.container_insights", True))
        return tuple(found)

    @property
    def users_of_pod_identity(self) -> tuple[str, ...]:
        """What in the specification hands pods a role through the Pod Identity agent."""
        found = [add_on.field for add_on in self.add_ons if add_on.has_role]
        pods = self.spec.training_pods
        if self.orchestrator == "eks" and pods is not None and pods.identity == "pod-identity":
            found.insert(0, "training_pods")
        if self.orchestrator == "eks" and job_figures_image_of(self.spec) is not None:
            found.append("metrics.job_figures_image")
        return tuple(found)

    @property
    def resource_types(self) -> dict[str, str | None]:
        """CloudFormation types that a region may lack, and what asks for each; None for the cluster."""
        spec, metrics = self.spec, self.spec.metrics
        found: dict[str, str | None] = {CLUSTER_TYPE: None}
        if spec.observability is not None:
            found[TOPIC_TYPE] = "observability"
        if spec.budget is not None and spec.budget.limit_usd is not None:
            found[BUDGET_TYPE] = "budget"
        if metrics is not None and metrics.prometheus:
            found[PROMETHEUS_TYPE] = "metrics.prometheus"
        if metrics is not None and metrics.grafana_authentication:
            found[GRAFANA_TYPE] = "metrics.grafana_authentication"
        if spec.task_governance is not None:
            found[task_governance.SCHEDULER_TYPE] = "task_governance"
            found[task_governance.QUOTA_TYPE] = "task_governance"
        return found

    def _buckets(self) -> Iterator[tuple[str, str]]:
        scripts = self.spec.lifecycle_scripts
        uris = [None if scripts is None else scripts.source_s3_uri]
        for group in self.spec.instance_groups:
            own = group.lifecycle_scripts
            uris.append(None if own is None else own.source_s3_uri)
        for uri in uris:
            bucket = None if uri is None else _bucket(uri)
            if bucket is not None:
                yield bucket, "lifecycle scripts"
        files = self.spec.file_system
        repository = None if files is None else files.data_repository
        if repository is not None and repository.bucket_name is not None:
            yield repository.bucket_name, "data repository"

    def _roles(self) -> Iterator[tuple[str, str]]:
        spec = self.spec
        for group in self.groups:
            if group.role_arn is not None:
                yield group.role_arn, NODES
        if spec.auto_scaling is not None and spec.auto_scaling.role_arn is not None:
            yield spec.auto_scaling.role_arn, AUTO_SCALING
        lists = {"administrator": spec.administrator_role_arns}
        if spec.checkpoint_bucket is not None:
            lists["reader of checkpoints"] = spec.checkpoint_bucket.reader_role_arns
        if spec.checkpoint_signing_key is not None:
            lists["verifier of checkpoints"] = spec.checkpoint_signing_key.verifier_role_arns
        if spec.orchestrator == "eks":
            lists["administrator of EKS"] = spec.eks.administrator_role_arns
            if spec.eks.kubectl_role_arn is not None:
                lists["installer of the chart"] = (spec.eks.kubectl_role_arn,)
        for what, arns in lists.items():
            for arn in arns:
                yield arn, what

    def _group(self, group: InstanceGroupSpec) -> WantedGroup:
        return WantedGroup(
            name=group.name,
            types=group.named_instance_types,
            count=group.instance_count,
            training_plan_arn=group.training_plan_arn,
            is_spot=group.capacity_type == "spot",
            role_arn=group.execution_role_arn,
            volume_gib=group.secondary_volume_gib,
            interface_type=group.network_interface_type,
            subnet_ids=self._subnets(group),
            security_group_ids=self._security_groups(group),
        )

    def _restricted(self, group: RestrictedInstanceGroupSpec) -> WantedGroup:
        return WantedGroup(
            name=group.name,
            types=(group.instance_type,),
            count=group.instance_count,
            training_plan_arn=group.training_plan_arn,
            is_spot=False,
            role_arn=group.execution_role_arn,
            volume_gib=group.secondary_volume_gib,
            interface_type=None,
            subnet_ids=self._subnets(group),
            security_group_ids=self._security_groups(group),
        )

    def _subnets(self, group: InstanceGroupSpec | RestrictedInstanceGroupSpec) -> tuple[str, ...] | None:
        own = group.override_subnet_ids
        return self.spec.network.subnet_ids if own is None else own

    def _security_groups(
        self, group: InstanceGroupSpec | RestrictedInstanceGroupSpec
    ) -> tuple[str, ...] | None:
        own = group.override_security_group_ids
        return self.spec.network.security_group_ids if own is None else own


def _listed(name: str) -> InstanceType | None:
    try:
        return instance_type(name)
    except UnknownNameError:
        return None


def _bucket(uri: str) -> str | None:
    """Bucket of ``s3://bucket/...``, or of an address of S3, with the bucket in the host or in the path."""
    parts = urlsplit(uri)
    if parts.scheme == "s3":
        return parts.netloc or None
    host = _S3_HOST.fullmatch(parts.netloc)
    if host is None:
        return None
    return host["bucket"] or parts.path.lstrip("/").partition("/")[0] or None


def _distinct(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
