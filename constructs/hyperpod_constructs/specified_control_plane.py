"""The EKS cluster as a specification says it."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.cluster_network import ClusterNetworkBase
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.eks_control_plane import EksControlPlane, EksControlPlaneBase
from hyperpod_constructs.existing_resources import ExistingResources
from hyperpod_model.checks.training_pods import bare_issuer
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.cluster_spec.dependency_chart import DependencyChartSpec


def specified_control_plane(
    scope: Construct,
    *,
    spec: ClusterSpec,
    network: ClusterNetworkBase | None,
    existing: ExistingResources,
) -> EksControlPlaneBase:
    """Make the EKS cluster, or import it.

    Args:
        scope: The stack.
        spec: A cluster on EKS.
        network: Network of the nodes, where its VPC is known.
        existing: Where roles, subnets and security groups come from.
    """
    said = spec.eks
    chart = _chart(said.dependency_chart)
    if said.cluster_arn is not None:
        pods = spec.training_pods
        issuer = None if pods is None or pods.issuer is None else bare_issuer(pods.issuer)
        group, kubectl = said.cluster_security_group_id, said.kubectl_role_arn
        installs = chart is not None and not chart.is_installed
        return EksControlPlane.from_existing(
            scope,
            "ControlPlane",
            cluster_arn=said.cluster_arn,
            dependency_chart=chart,
            cluster_security_group=None if group is None else existing.security_group(group),
            issuer=issuer,
            vpc=None if network is None else network.vpc,
            kubectl_role=None if kubectl is None else existing.role(kubectl),
            kubectl_subnets=[network.accelerator_subnet] if installs and network is not None else None,
            add_on_versions=said.add_on_versions,
        )
    # The specification refuses an EKS cluster that is made in an unknown VPC.
    assert network is not None
    subnets = said.control_plane_subnet_ids
    administrators = existing.roles(said.administrator_role_arns)
    closed = spec.training_pods is not None and spec.training_pods.apply_platform_chart
    if subnets is None:
        return EksControlPlane(
            scope,
            "ControlPlane",
            network=network,
            dependency_chart=chart,
            kubernetes_version=said.kubernetes_version,
            administrators=administrators,
            public_access_cidrs=said.public_access_cidrs,
            add_on_versions=said.add_on_versions,
            enforce_network_policies=closed,
        )
    control_plane_subnets: list[ec2.ISubnet] = [existing.subnet(id) for id in subnets]
    return EksControlPlane(
        scope,
        "ControlPlane",
        vpc=network.vpc,
        control_plane_subnets=control_plane_subnets,
        kubectl_subnets=[network.accelerator_subnet],
        dependency_chart=chart,
        kubernetes_version=said.kubernetes_version,
        administrators=administrators,
        public_access_cidrs=said.public_access_cidrs,
        add_on_versions=said.add_on_versions,
        enforce_network_policies=closed,
    )


def _chart(said: DependencyChartSpec) -> DependencyChart | None:
    if said.folder is not None:
        return DependencyChart.from_folder(said.folder)
    if said.oci_uri is not None:
        # The specification requires a version with it.
        assert said.version is not None
        return DependencyChart.from_oci(said.oci_uri, version=said.version)
    return DependencyChart.installed() if said.installed else None
