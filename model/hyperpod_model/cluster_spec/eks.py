"""The EKS cluster that schedules jobs: made, or existing."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog import names
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.cluster_spec.dependency_chart import DependencyChartSpec
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import Items, SpecModel

MAKES_EKS_ONLY = (
    "kubernetes_version",
    "control_plane_availability_zone_ids",
    "control_plane_subnet_ids",
    "public_access_cidrs",
    "administrator_role_arns",
)
"""Fields that shape an EKS cluster we make, and mean nothing for an existing one."""

EXISTING_EKS_ONLY = ("kubectl_role_arn", "cluster_security_group_id")
"""Fields that tell about an existing EKS cluster, and mean nothing for one we make."""


class EksSpec(SpecModel):
    """The EKS cluster: made, or an existing one by its ARN."""

    cluster_arn: str | None = Field(
        default=None,
        description=(
            "ARN of an existing EKS cluster, in the VPC of network. Never changes: another EKS cluster is "
            "another HyperPod cluster. By default an EKS cluster is made."
        ),
        json_schema_extra=schema_of(cluster_request().at("Orchestrator", "Eks", "ClusterArn")),
    )
    kubernetes_version: str | None = Field(
        default=None,
        description=(
            "Kubernetes version of the EKS cluster that is made, such as '1.33', in quotes. By default the "
            "newest that all sources name as supported."
        ),
        json_schema_extra={"pattern": "^1\\.\\d{2}$"},
    )
    control_plane_availability_zone_ids: Items[str] | None = Field(
        default=None,
        description=(
            "IDs of two Availability Zones for the control plane's network interfaces, such as usw2-az1: EKS "
            "asks for two although the accelerators stay in one. Required where the network is made. By "
            "default none."
        ),
        json_schema_extra={
            "minItems": 2,
            "maxItems": 2,
            "items": {"type": "string", "pattern": f"^{names.ZONE_ID.pattern}$"},
        },
    )
    control_plane_subnet_ids: Items[str] | None = Field(
        default=None,
        description=(
            "IDs of existing subnets in two Availability Zones for the control plane's network interfaces, "
            "where an EKS cluster is made in an existing network. By default none."
        ),
    )
    public_access_cidrs: Items[str] = Field(
        default=(),
        description=(
            "IPv4 ranges from which the Kubernetes API is reachable over the internet, in CIDR notation. By "
            "default none: the endpoint is private."
        ),
    )
    administrator_role_arns: Items[str] = Field(
        default=(),
        description=(
            "ARNs of the roles that administer the EKS cluster that is made (access entries with "
            "cluster-admin). By default none."
        ),
    )
    dependency_chart: DependencyChartSpec = Field(
        default=DependencyChartSpec(),
        description=(
            "AWS's Helm chart of dependencies, which has to be in the EKS cluster before HyperPod: from a "
            "folder, from oci_uri, or installed already. Required unless orchestrator is 'slurm'."
        ),
    )
    add_on_versions: dict[str, str] = Field(
        default={},
        description=(
            "Versions of EKS add-ons by name, such as vpc-cni: v1.20.4-eksbuild.1. By default EKS chooses "
            "the default version for its Kubernetes version."
        ),
    )
    kubectl_role_arn: str | None = Field(
        default=None,
        description=(
            "ARN of a role that administers the existing EKS cluster and that the installer of the chart "
            "may assume. Required to install dependency_chart there. By default none."
        ),
        json_schema_extra=schema_of(cluster_request().at("ClusterRole")),
    )
    cluster_security_group_id: str | None = Field(
        default=None,
        description=(
            "ID of the existing EKS cluster's own security group, which gets the rules between control "
            "plane and nodes. Required to install dependency_chart from network.vpc_id. By default the rules "
            "are yours to make."
        ),
        json_schema_extra={"pattern": f"^{names.SECURITY_GROUP_ID.pattern}$"},
    )

    @property
    def is_existing(self) -> bool:
        """Whether the EKS cluster exists."""
        return self.cluster_arn is not None
