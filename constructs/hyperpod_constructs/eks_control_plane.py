"""The EKS cluster that schedules the jobs of HyperPod nodes: made, or existing."""

from __future__ import annotations

import importlib
import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_cdk import Annotations, Aws, Fn, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, DependencyGroup, IConstruct, IDependable

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import (
    KEY,
    NETWORK,
    ROLE,
    SECURITY_GROUP,
    SUBNET,
    VPC,
    Kind,
    check_kind,
    check_kinds,
)
from hyperpod_constructs.cluster_network import ClusterNetworkBase
from hyperpod_constructs.control_plane_rules import allow_control_plane, allow_kubectl
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.eks_add_ons import EksAddOns
from hyperpod_constructs.eks_operators import EksOperators, check_operators
from hyperpod_constructs.operator_places import roles_that_hand_out_none, takes_pods_at_once
from hyperpod_constructs.rotating_key import rotating_key
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.add_ons import (
    ADD_ONS,
    AFTER_NODES,
    BEFORE_NODES,
    CHART_FOLDER,
    CHART_REPOSITORY,
    CHART_WEBHOOKS,
    CLUSTER_ADMIN_ACCESS_POLICY,
    CLUSTER_POLICY,
    CONTROL_PLANE_SERVICE,
    SECRETS_KEY_ACTIONS,
    kubectl_layer,
)
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.catalog.cluster_rules import training_operator_tag
from hyperpod_model.catalog.ports import HTTPS, PortRange
from hyperpod_model.checks.kubernetes import (
    check_add_on_versions,
    check_kubernetes_version,
    newest_kubernetes_version,
)
from hyperpod_model.faults import Fault

VERSION_WARNING = "hyperpod:EksControlPlane.kubernetesVersion"
NO_ADMINISTRATORS_WARNING = "hyperpod:EksControlPlane.noAdministrators"
OPEN_ENDPOINT_WARNING = "hyperpod:EksControlPlane.openEndpoint"
CHART_ELSEWHERE_WARNING = "hyperpod:EksControlPlane.chartElsewhere"
NO_POD_IDENTITY_WARNING = "hyperpod:EksControlPlane.noPodIdentity"
NO_PLACE_WARNING = "hyperpod:EksControlPlane.noPlaceForOperators"
UNKNOWN_GROUP_WARNING = "hyperpod:EksControlPlane.unknownSecurityGroup"

_CHART = Kind("is_installed", "a DependencyChart, such as DependencyChart.from_folder(...)")
_LAYER = Kind("layer_version_arn", "a Lambda layer, such as KubectlV33Layer(...)")
_LEAST_SUBNETS = 2
_TAG_WARNING = "@aws-cdk/aws-eks:clusterMustManuallyTagSubnet"
_ARN_PATTERN = cluster_request().at("Orchestrator", "Eks", "ClusterArn").pattern
_ISSUER_SCHEME = "https://"
_FEATURE_FLAGS = {
    "@aws-cdk/aws-iam:importedRoleStackSafeDefaultPolicyName": False,
    "@aws-cdk/aws-iam:minimizePolicies": True,
    "@aws-cdk/aws-lambda:createNewPoliciesWithAddToRolePolicy": False,
    "@aws-cdk/aws-lambda:useCdkManagedLogGroup": False,
    "@aws-cdk/core:enablePartitionLiterals": False,
}
"""They decide how the CDK writes the function that runs kubectl. Nothing else here depends on them."""


class EksControlPlaneBase(Construct):
    """An EKS cluster that HyperPod nodes can join.

    Whatever depends on this construct, as a HyperPod cluster does, waits for all in it: access, rules of
    security groups, the add-ons that nodes need and the dependency chart.

    Attributes:
        cluster: The EKS cluster; manifests and charts can be added where kubectl is set up.
        cluster_name: Its name.
        cluster_arn: Its ARN.
        vpc: Its VPC. None where an existing cluster's is not given.
        cluster_security_group: The group that EKS made for the cluster. It lets all its members reach each
            other at all ports, checkpoints included: never give it to anything but nodes and control plane.
            None where an existing cluster's is not given.
        control_plane_security_group: The group that gets the rules towards nodes. None where not known.
        issuer: OpenID Connect issuer without ``https://``. None where an existing cluster's is not given.
        dependencies_ready: What a HyperPod cluster has to wait for.
        operators: Names of the add-ons that ``install_operators`` installs.
    """

    cluster: eks.ICluster
    cluster_name: str
    cluster_arn: str
    vpc: ec2.IVpc | None
    cluster_security_group: ec2.ISecurityGroup | None
    control_plane_security_group: ec2.ISecurityGroup | None
    issuer: str | None
    operators: tuple[str, ...]

    _installed: EksOperators | None = None
    _webhook_add_ons: tuple[str, ...] = ()
    _versions: Mapping[str, str]
    _before_operators: tuple[IDependable, ...] = ()
    _nodes_may_exist = False
    _kubectl_rules: Sequence[IDependable] = ()

    @property
    def has_training_operator(self) -> bool:
        """Whether the HyperPod training operator runs in the cluster, or is going to."""
        return training_operator_tag()["add_on"] in self._webhook_add_ons

    @property
    def dependencies_ready(self) -> IDependable:
        """What a HyperPod cluster has to wait for."""
        return DependencyGroup(self)

    def allow_nodes(self, nodes: ec2.ISecurityGroup) -> Construct | None:
        """Open what control plane and nodes need of each other, on both groups.

        Nodes reach the Kubernetes API at TCP 443; the control plane reaches nodes at TCP 443 and 10250, at
        port 53, and at the webhooks of the add-ons and of the dependency chart. An ``EfaSecurityGroup``
        refuses what is wider. Port 9443 of the training operator's webhook is its builders' default and not
        documented. Source: EKS user guide, security group requirements.

        Args:
            nodes: Group of the nodes.

        Returns:
            The construct that holds the rules, or None for an existing cluster whose security group is not
            given, which leaves the warning ``hyperpod:EksControlPlane.unknownSecurityGroup``.
        """
        self._refuse(check_kind(nodes, SECURITY_GROUP, ("nodes",), required=True))
        if self.control_plane_security_group is None:
            Annotations.of(self).add_warning_v2(
                UNKNOWN_GROUP_WARNING,
                f"no rules are made between the existing control plane and '{nodes.node.path}'; pass "
                "cluster_security_group, or open TCP 443 and 10250 and port 53 yourself",
            )
            return None
        return allow_control_plane(
            self,
            control_plane=self.control_plane_security_group,
            nodes=nodes,
            webhooks=self.webhook_ports,
        )

    @property
    def webhook_ports(self) -> tuple[PortRange, ...]:
        """Ports at which the control plane calls what runs on nodes."""
        facts = [CHART_WEBHOOKS, *(ADD_ONS[name].webhooks for name in self._webhook_add_ons)]
        because = "without its port a webhook fails closed; it opens to the control plane alone"
        return tuple(sorted({port for fact in facts for port in fact.assuming(because=because)}))

    def install_operators(
        self,
        *,
        after: IDependable | Sequence[IDependable] | None = None,
        scope: Construct | None = None,
    ) -> EksOperators:
        """Install the add-ons that need nodes, once the HyperPod cluster is in service.

        They stand beside this construct, not in it, so that the HyperPod cluster can depend on this one. See
        :class:`EksOperators`. Where no group takes their pods at once, the warning
        ``hyperpod:EksControlPlane.noPlaceForOperators`` says so. Where an ``ExecutionRole`` of the nodes
        lacks ``pod_identity_cluster``, they get no credentials: ``hyperpod:EksControlPlane.noPodIdentity``.

        Args:
            after: The HyperPod cluster, or several. May be left out where an existing EKS cluster has nodes.
            scope: Parent of the add-ons. Default: that of this construct. Give a construct of the HyperPod
                cluster's stack where that is another one.

        Raises:
            InvalidInputError: If called twice, or without ``after`` on a new EKS cluster.
        """
        faults = []
        if self._installed is not None:
            faults.append(
                Fault(("install_operators",), "was called before; call it once, with all clusters in after")
            )
        waits: list[IDependable] = []
        if isinstance(after, (list, tuple)):
            waits += after
        elif after is not None:
            waits.append(after)
        if not waits and not self._nodes_may_exist:
            faults.append(
                Fault(
                    ("after",),
                    f"must be the HyperPod cluster, got none; {', '.join(self.operators)} need nodes, and "
                    "a new EKS cluster has none",
                )
            )
        self._refuse(faults)
        self._warn_of_operators(waits)
        parent = self.node.scope if scope is None else scope
        self._installed = EksOperators(
            cast(Construct, parent),
            f"{self.node.id}Operators",
            cluster_name=self.cluster_name,
            cluster_arn=self.cluster_arn,
            after=[*self._before_operators, *waits],
            add_ons=self.operators,
            installed_add_ons=self._webhook_add_ons,
            versions={name: version for name, version in self._versions.items() if name in self.operators},
        )
        return self._installed

    def _warn_of_operators(self, waits: Sequence[IDependable]) -> None:
        from hyperpod_constructs.hyperpod_cluster import HyperPodCluster

        annotations = Annotations.of(self)
        clusters = [cluster for cluster in waits if isinstance(cluster, HyperPodCluster)]
        with_role = [name for name in self.operators if ADD_ONS[name].service_account is not None]
        unable = roles_that_hand_out_none(clusters)
        if with_role and unable:
            annotations.add_warning_v2(
                NO_POD_IDENTITY_WARNING,
                f"on nodes with the role {', '.join(map(repr, unable))} {', '.join(with_role)} get no "
                "credentials; pass the control plane as pod_identity_cluster to ExecutionRole",
            )
        if self._nodes_may_exist or not self.operators:
            return
        if len(clusters) == len(waits) and not any(takes_pods_at_once(cluster) for cluster in clusters):
            annotations.add_warning_v2(
                NO_PLACE_WARNING,
                f"{', '.join(self.operators)} find no node when the HyperPod cluster is in service, and "
                "can fail before one takes them, which undoes the deployment; add an instance group "
                "with min_instance_count, no deep health checks and no taints, such as two ml.m5.2xlarge",
            )

    def _refuse(self, faults: Sequence[Fault]) -> tuple[Fault, ...]:
        return refuse_arguments(f"EKS control plane '{self.node.path}'", faults)

    def _pin_feature_flags(self) -> None:
        for flag, enabled in _FEATURE_FLAGS.items():
            self.node.set_context(flag, enabled)

    def _chart_faults(self, chart: Any) -> list[Fault]:
        if chart is None:
            return [
                Fault(
                    ("dependency_chart",),
                    "is missing, and the creation of a HyperPod cluster can fail without the chart; pass "
                    f"DependencyChart.from_folder(...) with a copy of {CHART_FOLDER} of {CHART_REPOSITORY}, "
                    "DependencyChart.from_oci(...), or DependencyChart.installed() where it is there already",
                )
            ]
        return check_kind(chart, _CHART, ("dependency_chart",))

    def _version_faults(self, versions: Mapping[str, str], path: str = "add_on_versions") -> list[Fault]:
        plain = {name: known(version) for name, version in versions.items()}
        return [fault._replace(path=(path, *fault.path)) for fault in check_add_on_versions(plain)]

    def _kubectl_layer(self, given: lambda_.ILayerVersion | None, version: str) -> lambda_.ILayerVersion:
        if given is not None:
            return given
        wanted = kubectl_layer(newest_kubernetes_version() if Token.is_unresolved(version) else version)
        try:
            module = importlib.import_module(wanted.module)
        except ModuleNotFoundError:
            self._refuse(
                [
                    Fault(
                        ("kubectl_layer",),
                        f"is missing for kubernetes_version {version!r}; run pip install {wanted.package}, "
                        "take another version, or pass a layer with kubectl and Helm",
                    )
                ]
            )
            raise
        layer: lambda_.ILayerVersion = getattr(module, wanted.class_name)(self, "KubectlLayer")
        return layer

    def _kubectl_group(self, vpc: ec2.IVpc, control_plane: ec2.ISecurityGroup) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "KubectlSecurityGroup",
            vpc=vpc,
            description="Function that runs kubectl and Helm: HTTPS only",
            allow_all_outbound=False,
            disable_inline_rules=False,
        )
        (https,) = HTTPS
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(https.first), "AWS APIs and registries")
        self._kubectl_rules = allow_kubectl(self, control_plane=control_plane, kubectl=group)
        return group


class EksControlPlane(EksControlPlaneBase):
    """A new EKS cluster for HyperPod nodes, without nodes of its own.

    - **Access** through the EKS API alone. Whoever creates the cluster gets no rights in it, so that a
      deployment role does not silently become an administrator: ``administrators`` do, each by an access
      entry. HyperPod makes the entry of its nodes itself.
    - **Endpoint** within the VPC alone; ``public_access_cidrs`` opens it to some ranges.
    - **Logs** of all five kinds; **secrets** encrypted with a key that rotates.
    - **Network interfaces** in subnets of two zones, as EKS asks for, though accelerators stay in one. Their
      group has no rules but those of ``allow_nodes``; EKS adds a group of its own to them.
    - **Before nodes**: VPC CNI, kube-proxy, the Pod Identity agent and the dependency chart. What needs nodes
      comes with :meth:`install_operators`.
    - Copies of VPC CNI, CoreDNS and kube-proxy that EKS puts there itself run until the add-ons overwrite
      them: nodes find a network and names from the first minute.

    Charts are installed by a function in the nodes' subnet, over the private endpoint. It needs a way to S3,
    to the EKS and Lambda APIs, and to the registry of an OCI chart.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        network: The cluster's network. Either this or ``vpc`` and ``control_plane_subnets``.
        vpc: VPC of nodes and control plane, with DNS support and DNS host names.
        control_plane_subnets: At least two private subnets in different zones. Default: those of
            ``network``. Later EKS takes others in the same zones only.
        kubectl_subnets: Private subnets of the function that installs the chart. Default: the nodes' subnet
            of ``network``, or the first of ``control_plane_subnets``.
        dependency_chart: AWS's chart, which has to be there before HyperPod. Required.
        kubernetes_version: Such as ``1.33``. Default: the newest that every source names as supported. One
            that only some of them list leaves the warning ``hyperpod:EksControlPlane.kubernetesVersion``.
        administrators: Roles with all rights in the cluster. Default: none, which leaves the warning
            ``hyperpod:EksControlPlane.noAdministrators``.
        public_access_cidrs: IPv4 ranges that reach the Kubernetes API over the internet. Default: none.
        secrets_key: Key of the Kubernetes secrets. Default: a new one with rotation. Another key later
            replaces the cluster.
        add_on_versions: Versions by name of the add-on. Default of each: what EKS takes for its Kubernetes
            version. The VPC CNI must be 1.18.3 or later.
        operators: Add-ons that ``install_operators`` installs. Default: CoreDNS, the FSx driver, cert-manager
            and the HyperPod training operator.
        external_snat: Whether pods reach the internet through a NAT gateway with addresses of their own.
            Default: true, unless ``network`` is isolated.
        enforce_network_policies: Whether the VPC CNI enforces Kubernetes network policies. Default: False, as
            EKS has it.
        cluster_name: Physical name. Generated by CloudFormation by default.
        kubectl_layer: Lambda layer with kubectl and Helm. Default: that of the package
            ``aws-cdk.lambda-layer-kubectl-vNN`` for the Kubernetes version.

    Raises:
        InvalidInputError: With all that is wrong or missing.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: ClusterNetworkBase | None = None,
        vpc: ec2.IVpc | None = None,
        control_plane_subnets: Sequence[ec2.ISubnet] | None = None,
        kubectl_subnets: Sequence[ec2.ISubnet] | None = None,
        dependency_chart: DependencyChart | None = None,
        kubernetes_version: str | None = None,
        administrators: Sequence[iam.IRole] = (),
        public_access_cidrs: Sequence[str] = (),
        secrets_key: kms.IKey | None = None,
        add_on_versions: Mapping[str, str] | None = None,
        operators: Sequence[str] = AFTER_NODES,
        external_snat: bool | None = None,
        enforce_network_policies: bool = False,
        cluster_name: str | None = None,
        kubectl_layer: lambda_.ILayerVersion | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._pin_feature_flags()
        version = newest_kubernetes_version() if kubernetes_version is None else kubernetes_version
        self._versions = {} if add_on_versions is None else dict(add_on_versions)
        if control_plane_subnets is None and network is not None:
            control_plane_subnets = getattr(network, "control_plane_subnets", None)
        version_faults = [
            fault._replace(path=("kubernetes_version",)) for fault in check_kubernetes_version(known(version))
        ]
        faults = [
            *_network_faults(network, vpc, control_plane_subnets),
            *check_kinds(kubectl_subnets, SUBNET, ("kubectl_subnets",)),
            *self._chart_faults(dependency_chart),
            *version_faults,
            *check_kinds(administrators, ROLE, ("administrators",)),
            *_cidr_faults(public_access_cidrs),
            *check_kind(secrets_key, KEY, ("secrets_key",)),
            *self._version_faults(self._versions),
            *check_operators(operators, path="operators"),
            *check_kind(kubectl_layer, _LAYER, ("kubectl_layer",)),
        ]
        for warning in self._refuse(faults):
            Annotations.of(self).add_warning_v2(VERSION_WARNING, str(warning))
        assert dependency_chart is not None
        assert control_plane_subnets is not None
        chosen_vpc = network.vpc if network is not None else vpc
        assert chosen_vpc is not None
        self.vpc = chosen_vpc
        self.operators = tuple(operators)
        self._webhook_add_ons = self.operators
        self._warn(administrators, public_access_cidrs, dependency_chart)

        key = secrets_key
        if key is None:
            key = rotating_key(self, "SecretsKey", description=f"Kubernetes secrets of {self.node.path}")
        self.secrets_key = key
        role, role_policy = self._role(key)
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self.vpc,
            description="EKS control plane: named ways to and from nodes",
            allow_all_outbound=False,
            disable_inline_rules=False,
        )
        self.control_plane_security_group = group
        made = eks.Cluster(
            self,
            "Resource",
            vpc=self.vpc,
            vpc_subnets=[ec2.SubnetSelection(subnets=list(control_plane_subnets))],
            version=eks.KubernetesVersion.of(version),
            cluster_name=cluster_name,
            role=role,
            security_group=group,
            secrets_encryption_key=key,
            endpoint_access=_endpoint_access(public_access_cidrs),
            bootstrap_cluster_creator_admin_permissions=False,
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            cluster_logging=list(eks.ClusterLoggingTypes),
            output_config_command=False,
        )
        made.node.add_dependency(role_policy)
        # Routes and endpoints, which nothing but the VPC stands for.
        made.node.add_dependency(self.vpc)
        Annotations.of(made).acknowledge_warning(
            _TAG_WARNING, "tags on subnets are for load balancers, which training has none of"
        )
        self.cluster_name = made.cluster_name
        self.cluster_arn = made.cluster_arn
        self.cluster_security_group = made.cluster_security_group
        self.issuer = Fn.select(1, Fn.split("//", made.cluster_open_id_connect_issuer_url))
        for administrator in administrators:
            self._administer(f"Administrator{_name_of(administrator, self)}", administrator.role_arn)
        if external_snat is None:
            external_snat = network is None or network.endpoints is None
        self.add_ons = EksAddOns(
            self,
            "AddOns",
            cluster_name=self.cluster_name,
            cluster_arn=self.cluster_arn,
            names=BEFORE_NODES,
            versions=self._versions,
            external_snat=external_snat,
            enforce_network_policies=enforce_network_policies,
        )
        self._before_operators = (self.add_ons,)
        provider = None
        if not dependency_chart.is_installed:
            if kubectl_subnets is None:
                kubectl_subnets = (
                    [network.accelerator_subnet] if network is not None else list(control_plane_subnets)[:1]
                )
            provider = self._kubectl_provider(made, version, group, kubectl_subnets, kubectl_layer)
        self.cluster = eks.Cluster.from_cluster_attributes(
            self,
            "Cluster",
            cluster_name=self.cluster_name,
            cluster_endpoint=made.cluster_endpoint,
            cluster_certificate_authority_data=made.cluster_certificate_authority_data,
            cluster_security_group_id=made.cluster_security_group_id,
            security_group_ids=[group.security_group_id],
            vpc=self.vpc,
            kubectl_provider=provider,
        )
        if provider is not None:
            chart = dependency_chart.install(self, "DependencyChart", cluster=self.cluster)
            chart.node.add_dependency(self._kubectl_access, provider, self.add_ons, *self._kubectl_rules)

    @staticmethod
    def from_existing(
        scope: Construct,
        id: str,
        *,
        cluster_arn: str,
        dependency_chart: DependencyChart | None = None,
        cluster_security_group: ec2.ISecurityGroup | None = None,
        issuer: str | None = None,
        vpc: ec2.IVpc | None = None,
        kubectl_role: iam.IRole | None = None,
        kubectl_subnets: Sequence[ec2.ISubnet] | None = None,
        kubernetes_version: str | None = None,
        kubectl_layer: lambda_.ILayerVersion | None = None,
        installed_add_ons: Sequence[str] = (),
        operators: Sequence[str] = (),
        add_on_versions: Mapping[str, str] | None = None,
    ) -> EksControlPlaneBase:
        """Use an EKS cluster that somebody else made, and change nothing in it but what is asked for.

        It must authenticate through the EKS API (``API`` or ``API_AND_CONFIG_MAP``), run a Kubernetes version
        that HyperPod supports with VPC CNI 1.18.3 or later, and stand in the nodes' VPC.

        Args:
            scope: Parent of the construct.
            id: Id within the parent.
            cluster_arn: ARN of the EKS cluster.
            dependency_chart: AWS's chart, which has to be there before HyperPod:
                ``DependencyChart.installed()`` if it is. Required.
            cluster_security_group: The cluster's own group, which gets the rules between control plane and
                nodes. By default they are yours to make.
            issuer: OpenID Connect issuer, such as
                ``oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE``, for roles of service
                accounts. By default not known.
            vpc: VPC of the cluster; together with ``kubectl_subnets``.
            kubectl_role: Role of the function that installs the chart. It must trust
                ``lambda.amazonaws.com``, administer the cluster by an access entry, and write logs; within
                ``kubectl_subnets`` it also needs ``AWSLambdaVPCAccessExecutionRole``. It gets
                ``eks:DescribeCluster`` and the chart's archive to read. Required to install the chart.
            kubectl_subnets: Subnets of that function, from which it reaches a private endpoint; needs ``vpc``
                and ``cluster_security_group``. By default it calls the public endpoint.
            kubernetes_version: Version of the cluster, to pick kubectl. Default: the newest that every source
                names as supported.
            kubectl_layer: See :class:`EksControlPlane`.
            installed_add_ons: Add-ons that run in the cluster and whose webhooks its control plane calls,
                such as ``cert-manager``. Default: none but those of ``operators``.
            operators: Add-ons that ``install_operators`` installs. Default: none.
            add_on_versions: Versions by name of the operators. Default of each: see :class:`EksControlPlane`.

        Raises:
            InvalidInputError: With all that is wrong or missing.
        """
        return _ExistingControlPlane(
            scope,
            id,
            cluster_arn=cluster_arn,
            dependency_chart=dependency_chart,
            cluster_security_group=cluster_security_group,
            issuer=issuer,
            vpc=vpc,
            kubectl_role=kubectl_role,
            kubectl_subnets=kubectl_subnets,
            kubernetes_version=kubernetes_version,
            kubectl_layer=kubectl_layer,
            installed_add_ons=installed_add_ons,
            operators=operators,
            add_on_versions=add_on_versions,
        )

    def _warn(
        self,
        administrators: Sequence[iam.IRole],
        public_access_cidrs: Sequence[str],
        dependency_chart: DependencyChart,
    ) -> None:
        annotations = Annotations.of(self)
        if not administrators:
            annotations.add_warning_v2(
                NO_ADMINISTRATORS_WARNING,
                "nobody can use kubectl: the creator of the cluster gets no rights in it, and administrators "
                "names no role; pass one (eks.administrator_role_arns in a specification)",
            )
        cidrs = [cidr for cidr in public_access_cidrs if not Token.is_unresolved(cidr)]
        merged = ipaddress.collapse_addresses(ipaddress.IPv4Network(cidr) for cidr in cidrs)
        if any(found.prefixlen == 0 for found in merged):
            annotations.add_warning_v2(
                OPEN_ENDPOINT_WARNING,
                "public_access_cidrs opens the Kubernetes API to the whole internet; name the ranges that "
                "administrators come from",
            )
        if dependency_chart.is_installed:
            annotations.add_warning_v2(
                CHART_ELSEWHERE_WARNING,
                "the new EKS cluster gets no dependency chart from here; make sure that it is installed "
                "before the HyperPod cluster is created",
            )

    def _role(self, key: kms.IKey) -> tuple[iam.Role, iam.CfnManagedPolicy]:
        role = iam.Role(
            self,
            "Role",
            description=f"EKS control plane of {self.node.path}",
            assumed_by=iam.ServicePrincipal(CONTROL_PLANE_SERVICE),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(CLUSTER_POLICY)],
        )
        policy = iam.CfnManagedPolicy(
            self,
            "SecretsKeyPolicy",
            description="Lets the EKS control plane use the key of its secrets",
            roles=[role.role_name],
            policy_document={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": list(SECRETS_KEY_ACTIONS.value),
                        "Resource": key.key_arn,
                    }
                ],
            },
        )
        return role, policy

    def _administer(self, id: str, principal_arn: str) -> eks.CfnAccessEntry:
        return eks.CfnAccessEntry(
            self,
            id,
            cluster_name=self.cluster_name,
            principal_arn=principal_arn,
            type="STANDARD",
            access_policies=[
                eks.CfnAccessEntry.AccessPolicyProperty(
                    policy_arn=f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{CLUSTER_ADMIN_ACCESS_POLICY}",
                    access_scope=eks.CfnAccessEntry.AccessScopeProperty(type="cluster"),
                )
            ],
        )

    def _kubectl_provider(
        self,
        cluster: eks.Cluster,
        version: str,
        control_plane: ec2.ISecurityGroup,
        subnets: Sequence[ec2.ISubnet],
        layer: lambda_.ILayerVersion | None,
    ) -> eks.KubectlProvider:
        assert self.vpc is not None
        provider = eks.KubectlProvider(
            self,
            "Kubectl",
            cluster=cast(eks.ICluster, cluster),
            kubectl_layer=self._kubectl_layer(layer, version),
            private_subnets=list(subnets),
            security_groups=[self._kubectl_group(self.vpc, control_plane)],
        )
        assert provider.role is not None
        self._kubectl_access = self._administer("KubectlAccess", provider.role.role_arn)
        return provider


class _ExistingControlPlane(EksControlPlaneBase):
    _nodes_may_exist = True

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_arn: str,
        dependency_chart: DependencyChart | None,
        cluster_security_group: ec2.ISecurityGroup | None,
        issuer: str | None,
        vpc: ec2.IVpc | None,
        kubectl_role: iam.IRole | None,
        kubectl_subnets: Sequence[ec2.ISubnet] | None,
        kubernetes_version: str | None,
        kubectl_layer: lambda_.ILayerVersion | None,
        installed_add_ons: Sequence[str],
        operators: Sequence[str],
        add_on_versions: Mapping[str, str] | None,
    ) -> None:
        super().__init__(scope, id)
        self._pin_feature_flags()
        version = newest_kubernetes_version() if kubernetes_version is None else kubernetes_version
        self._versions = {} if add_on_versions is None else dict(add_on_versions)
        faults = [
            *_arn_faults(cluster_arn),
            *self._chart_faults(dependency_chart),
            *check_kind(cluster_security_group, SECURITY_GROUP, ("cluster_security_group",)),
            *_issuer_faults(issuer),
            *check_kind(vpc, VPC, ("vpc",)),
            *check_kind(kubectl_role, ROLE, ("kubectl_role",)),
            *check_kinds(kubectl_subnets, SUBNET, ("kubectl_subnets",)),
            *[
                fault._replace(path=("kubernetes_version",))
                for fault in check_kubernetes_version(known(version))
            ],
            *check_kind(kubectl_layer, _LAYER, ("kubectl_layer",)),
            *_installed_faults(installed_add_ons),
            *check_operators(operators, installed=installed_add_ons, path="operators"),
            *self._version_faults(self._versions),
        ]
        installs = isinstance(dependency_chart, DependencyChart) and not dependency_chart.is_installed
        if installs and kubectl_role is None:
            faults.append(
                Fault(
                    ("kubectl_role",),
                    "is missing, and the dependency chart cannot be installed in an existing EKS cluster "
                    "without a role that administers it; pass one that trusts lambda.amazonaws.com, or "
                    "DependencyChart.installed()",
                )
            )
        if kubectl_subnets is not None and (vpc is None or cluster_security_group is None):
            faults.append(Fault(("kubectl_subnets",), "needs vpc and cluster_security_group"))
        for warning in self._refuse(faults):
            Annotations.of(self).add_warning_v2(VERSION_WARNING, str(warning))
        assert dependency_chart is not None
        self.vpc = vpc
        self.cluster_arn = cluster_arn
        self.cluster_name = _cluster_name(cluster_arn, self)
        self.cluster_security_group = cluster_security_group
        self.control_plane_security_group = cluster_security_group
        self.issuer = issuer
        self.operators = tuple(operators)
        self._webhook_add_ons = tuple(dict.fromkeys([*installed_add_ons, *operators]))
        self.cluster = eks.Cluster.from_cluster_attributes(
            self, "Resource", cluster_name=self.cluster_name, vpc=vpc
        )
        if installs:
            groups = None
            if kubectl_subnets is not None:
                assert vpc is not None
                assert cluster_security_group is not None
                groups = [self._kubectl_group(vpc, cluster_security_group)]
            provider = eks.KubectlProvider(
                self,
                "Kubectl",
                cluster=self.cluster,
                kubectl_layer=self._kubectl_layer(kubectl_layer, version),
                role=self._own_import(kubectl_role),
                private_subnets=None if kubectl_subnets is None else list(kubectl_subnets),
                security_groups=groups,
            )
            self.cluster = eks.Cluster.from_cluster_attributes(
                self, "Cluster", cluster_name=self.cluster_name, vpc=vpc, kubectl_provider=provider
            )
            chart = dependency_chart.install(self, "DependencyChart", cluster=self.cluster)
            chart.node.add_dependency(provider, *self._kubectl_rules)

    def _own_import(self, role: iam.IRole | None) -> iam.IRole | None:
        """An existing role, imported here: what the installer needs is attached below this construct."""
        if role is None or isinstance(role.node.default_child, iam.CfnRole):
            return role
        return iam.Role.from_role_arn(self, "KubectlRole", role.role_arn)


def _network_faults(network: Any, vpc: Any, subnets: Any) -> list[Fault]:
    if network is None and vpc is None:
        return [Fault(("network",), "is missing; pass a ClusterNetwork, or vpc and control_plane_subnets")]
    if network is not None and vpc is not None:
        return [Fault(("network",), "and vpc were both given; keep one")]
    faults = check_kind(network, NETWORK, ("network",)) + check_kind(vpc, VPC, ("vpc",))
    if faults:
        return faults
    faults = check_kinds(subnets, SUBNET, ("control_plane_subnets",), required=True)
    if faults:
        return faults
    if len(subnets) < _LEAST_SUBNETS:
        return [
            Fault(
                ("control_plane_subnets",),
                f"must be subnets in at least two zones, got {len(subnets)}; EKS asks for two although "
                "accelerators stay in one"
                + ("" if network is None else ", so pass control_plane_availability_zone_ids to the network"),
            )
        ]
    zones = [_zone(subnet) for subnet in subnets]
    if None not in zones and len(set(zones)) < _LEAST_SUBNETS:
        return [
            Fault(
                ("control_plane_subnets",),
                f"must be subnets in at least two zones, got all of them in {zones[0]}",
            )
        ]
    return []


def _zone(subnet: ec2.ISubnet) -> str | None:
    try:
        zone = subnet.availability_zone
    except RuntimeError:
        # A subnet imported by its id alone does not know its zone, and says so by raising.
        return None
    return None if Token.is_unresolved(zone) else zone


def _cidr_faults(cidrs: Any) -> list[Fault]:
    path = "public_access_cidrs"
    if isinstance(cidrs, str):
        return [Fault((path,), f"must be a list, got {cidrs!r}; put it in brackets")]
    faults = []
    for index, cidr in enumerate(cidrs):
        if Token.is_unresolved(cidr):
            continue
        if not _is_range(cidr):
            faults.append(
                Fault((path, index), f"must be an IPv4 range such as '203.0.113.0/24', got {cidr!r}")
            )
    return faults


def _is_range(cidr: Any) -> bool:
    try:
        ipaddress.IPv4Network(cidr)
    except (ValueError, TypeError):
        return False
    return isinstance(cidr, str) and "/" in cidr


def _arn_faults(arn: Any) -> list[Fault]:
    if isinstance(arn, str) and (Token.is_unresolved(arn) or re.fullmatch(str(_ARN_PATTERN), arn)):
        return []
    example = "arn:aws:eks:us-west-2:111122223333:cluster/training"
    return [Fault(("cluster_arn",), f"must be the ARN of an EKS cluster such as '{example}', got {arn!r}")]


def _issuer_faults(issuer: Any) -> list[Fault]:
    if issuer is None or (isinstance(issuer, str) and Token.is_unresolved(issuer)):
        return []
    if isinstance(issuer, str) and issuer.startswith(_ISSUER_SCHEME):
        return [
            Fault(
                ("issuer",),
                f"must not have a scheme, got {issuer!r}; use {issuer.removeprefix(_ISSUER_SCHEME)}",
            )
        ]
    if not isinstance(issuer, str) or "/" not in issuer:
        return [Fault(("issuer",), f"must be an issuer such as 'oidc.eks.<region>...', got {issuer!r}")]
    return []


def _installed_faults(names: Any) -> list[Fault]:
    path = "installed_add_ons"
    if isinstance(names, str):
        return [Fault((path,), f"must be a list, got {names!r}; put it in brackets")]
    return [
        Fault((path, index), f"must be one of {', '.join(ADD_ONS)}, got {name!r}")
        for index, name in enumerate(names)
        if name not in ADD_ONS
    ]


def _cluster_name(cluster_arn: str, scope: IConstruct) -> str:
    if Token.is_unresolved(cluster_arn):
        return Fn.select(1, Fn.split("/", cluster_arn))
    return str(cluster_arn.split("/", 1)[1])


def _endpoint_access(public_access_cidrs: Sequence[str]) -> eks.EndpointAccess:
    if not public_access_cidrs:
        return eks.EndpointAccess.PRIVATE
    return eks.EndpointAccess.PUBLIC_AND_PRIVATE.only_from(*public_access_cidrs)


def _name_of(role: iam.IRole, beside: IConstruct) -> str:
    """The role's path within its stack, with the stack's id only where the stacks differ."""
    stack = Stack.of(role)
    within = role.node.path.removeprefix(stack.node.path).strip("/").replace("/", "-")
    return within if stack.node.path == Stack.of(beside).node.path else f"{stack.node.id}-{within}"
