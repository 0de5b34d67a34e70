"""A SageMaker HyperPod cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from aws_cdk import Annotations, CfnOutput, CfnTag, Fn, Resource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs.argument_kinds import (
    FILE_SYSTEM,
    GROUP,
    NETWORK,
    ORCHESTRATOR,
    RESILIENCE,
    ROLE,
    SCRIPTS,
    SECURITY_GROUP,
    SUBNET,
    check_kind,
    check_kinds,
)
from hyperpod_constructs.cluster_properties import cluster_properties, known_values, without_absent
from hyperpod_constructs.fault_words import cluster_faults, cluster_label, group_label
from hyperpod_constructs.instance_group import InstanceGroup, ScriptLocation
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.cluster_rules import (
    deep_health_check_accelerators,
    default_mount_path,
    describe_actions,
)
from hyperpod_model.catalog.iam import EBS_KEY_DESCRIBE_ACTION, EBS_KEY_GRANT_ACTION, ebs_key_via_service
from hyperpod_model.catalog.logs import log_group_name
from hyperpod_model.catalog.names import CLUSTER_ARN, ssm_target
from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.instance_types import listed_type
from hyperpod_model.checks.resilience import check_spare_nodes
from hyperpod_model.faults import Fault, InvalidInputError, dotted, refuse

if TYPE_CHECKING:
    from hyperpod_constructs.cluster_network import ClusterNetworkBase
    from hyperpod_constructs.orchestrator import Orchestrator

_WARNING = "hyperpod:HyperPodCluster"
_CLUSTERS: WeakKeyDictionary[Stack, dict[str, str]] = WeakKeyDictionary()
COMMISSIONING_WARNING = f"{_WARNING}.commissioningDue"


class MountableFileSystem(Protocol):
    """An FSx for Lustre file system that nodes can mount; ``LustreFileSystem`` is one."""

    @property
    def dns_name(self) -> str:
        """DNS name, such as ``fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com``."""

    @property
    def mount_name(self) -> str:
        """Mount name, the second part of what is mounted."""


class HyperPodClusterBase(Resource):
    """What can be done with a cluster, be it made here or imported.

    Attributes:
        cluster_arn: ARN of the cluster.
        cluster_name: Name of the cluster.
    """

    cluster_arn: str
    cluster_name: str

    @property
    def cluster_id(self) -> str:
        """The 12 characters at the end of the ARN, which are not the name."""
        return Fn.select(1, Fn.split("/", self.cluster_arn))

    @property
    def log_group_name(self) -> str:
        """CloudWatch log group of the nodes, which the nodes create."""
        return log_group_name(self.cluster_name, self.cluster_id)

    def session_target(self, *, group: str, instance_id: str) -> str:
        """Return the target for ``aws ssm start-session`` with a node.

        Args:
            group: Name of the instance group.
            instance_id: EC2 id of the node, such as ``i-0123456789abcdef0``; ``aws sagemaker
                list-cluster-nodes`` lists them.
        """
        return ssm_target(self.cluster_id, group, instance_id)

    def grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        """Allow actions on this cluster.

        Args:
            grantee: Who may.
            *actions: IAM actions that take a cluster as resource, such as ``sagemaker:DescribeCluster``.
        """
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(actions), resource_arns=[self.cluster_arn]
        )

    def grant_describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow reading the state of the cluster and its nodes.

        Args:
            grantee: Who may.
        """
        return self.grant(grantee, *describe_actions())


class HyperPodCluster(HyperPodClusterBase):
    """A HyperPod cluster that is created after everything its nodes need, and deleted before it.

    The cluster depends on the construct trees of its roles, subnets, security groups, scripts, file system
    and volume keys: policies, rules and routes that are added to these later count too. Roles get the use of
    the volume keys of their groups; keys with a policy of their own must leave access to IAM.

    What the checks find doubtful but legal becomes a warning ``hyperpod:HyperPodCluster.<field>``, which
    ``Annotations.of(cluster).acknowledge_warning(...)`` silences.

    With continuous provisioning a finished deployment does not mean that there are workers: the cluster is
    in service once the controller, and a login node if there is a group of these, runs; capacity that is
    missing is asked for again and again. ``min_instance_count`` of a group makes the deployment wait for
    workers.

    A change of ``cluster_name`` replaces the cluster, nodes and all; the new one is created first, so that
    a change of ``vpc_subnets`` or ``security_groups`` under the same name fails. What is fixed for a single
    group stands at ``InstanceGroup``. Deleting the cluster deletes every node with its local data;
    termination protection is a property of the stack. Source: CloudFormation, AWS::SageMaker::Cluster.

    Args:
        scope: Parent construct.
        id: Construct id.
        cluster_name: Name, 1 to 63 letters, digits and hyphens. A change replaces the cluster.
        instance_groups: The groups.
        orchestrator: What schedules jobs, ``Orchestrator.slurm(...)``.
        execution_role: Role of the nodes of groups that have none of their own. Default: none, and every
            group needs its own.
        network: Network whose accelerator subnet the nodes share with ``file_system``. Every node's addresses
            must fit in it, which is checked where the nodes have one subnet. Default: ``vpc_subnets`` alone.
        vpc_subnets: Subnets of the nodes. Keep to one, so that EFA traffic stays in its zone. Default: the
            accelerator subnet of ``network``, else a network of the service's.
        security_groups: Security groups of the nodes. Each must allow all traffic from and to itself, as
            ``EfaSecurityGroup`` does. Goes with ``vpc_subnets``. Default: none, without subnets.
        lifecycle_scripts: Scripts of groups that have none of their own. The entry point runs last where
            HyperPod configures Slurm, and first where the scripts do. The roles must be able to read them:
            ``scripts.grant_read(role)``. Default: none.
        file_system: FSx for Lustre file system for HyperPod to mount, in groups that do not decline.
            Mounted only where HyperPod configures Slurm; lifecycle scripts do it otherwise. Changes reach
            only new nodes. Default: none.
        file_system_mount_path: Where it is mounted. Default: ``/fsx``.
        resilience: Spare nodes, deep health checks and recovery. Default: ``ResiliencePolicy()``, that is
            no spares, deep health checks throughout, automatic recovery.
        node_provisioning_mode: ``Continuous`` provisions and retries each group by itself; ``None`` leaves
            it out of the request, where sources disagree on whether the classic all-or-nothing mode
            follows. Cannot be changed for a cluster. Default: ``Continuous``.
        tags: Tags of the cluster by key, beside those of the scope and of the resilience policy. Default:
            none.
        unlisted_instance_types: Instance types you vouch for: they exist, and the region has them, though
            the tables here, which are incomplete, do not say so. Default: none.

    Raises:
        InvalidInputError: With everything that is wrong with the cluster.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        instance_groups: Sequence[InstanceGroup],
        orchestrator: Orchestrator,
        execution_role: iam.IRole | None = None,
        network: ClusterNetworkBase | None = None,
        vpc_subnets: Sequence[ec2.ISubnet] | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
        lifecycle_scripts: ScriptLocation | None = None,
        file_system: MountableFileSystem | None = None,
        file_system_mount_path: str | None = None,
        resilience: ResiliencePolicy | None = None,
        node_provisioning_mode: str | None = "Continuous",
        tags: Mapping[str, str] | None = None,
        unlisted_instance_types: Collection[str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        kinds = [
            *check_kinds(instance_groups, GROUP, ("instance_groups",), required=True),
            *check_kind(orchestrator, ORCHESTRATOR, ("orchestrator",), required=True),
            *check_kind(execution_role, ROLE, ("execution_role",)),
            *check_kind(network, NETWORK, ("network",)),
            *check_kinds(vpc_subnets, SUBNET, ("vpc_subnets",)),
            *check_kinds(security_groups, SECURITY_GROUP, ("security_groups",)),
            *check_kind(lifecycle_scripts, SCRIPTS, ("lifecycle_scripts",)),
            *check_kind(file_system, FILE_SYSTEM, ("file_system",)),
            *check_kind(resilience, RESILIENCE, ("resilience",)),
        ]
        if tags is not None and not isinstance(tags, Mapping):
            kinds.append(Fault(("tags",), f"must be a mapping of keys to values, got {tags!r}"))
        if isinstance(unlisted_instance_types, str):
            message = f"must be a list, got {unlisted_instance_types!r}; put it in brackets"
            kinds.append(Fault(("unlisted_instance_types",), message))
        if isinstance(instance_groups, (list, tuple)) and not instance_groups:
            kinds.append(Fault(("instance_groups",), "is empty; a cluster has at least one group"))
        label = cluster_label(known_values({"ClusterName": cluster_name}))
        refuse(
            fault._replace(path=(label,), message=f"{dotted(fault.path)} {fault.message}") for fault in kinds
        )
        self._refuse_namesakes(cluster_name)
        self.cluster_name = cluster_name
        self._groups = tuple(instance_groups)
        self._orchestrator = orchestrator
        roles = [execution_role, *(group.execution_role for group in self._groups)]
        self._own_roles = [role for role in roles if role is not None]
        self._resilience = ResiliencePolicy() if resilience is None else resilience
        subnets = [network.accelerator_subnet] if vpc_subnets is None and network is not None else vpc_subnets
        if file_system_mount_path is None:
            file_system_mount_path = default_mount_path("FsxLustreConfig")
        mount = None
        if file_system is not None and orchestrator.takes_node_types:
            mount = {
                "DnsName": file_system.dns_name,
                "MountName": file_system.mount_name,
                "MountPath": file_system_mount_path,
            }
        request = self._request(
            execution_role=execution_role,
            subnets=subnets,
            security_groups=security_groups,
            lifecycle_scripts=lifecycle_scripts,
            mount=mount,
            node_provisioning_mode=node_provisioning_mode,
            tags={} if tags is None else tags,
        )
        vouched = () if unlisted_instance_types is None else unlisted_instance_types
        self._check(request, vouched)
        if network is not None and subnets is not None and len(subnets) == 1:
            network.check_capacity(
                groups=[(group.name, group.instance_type, group.instance_count) for group in self._groups],
                orchestrator=orchestrator.kind,
                other_addresses=getattr(file_system, "addresses", 0),
            )
        self._resource = sagemaker.CfnCluster(
            self,
            "Resource",
            **cluster_properties(request),
            tags=[CfnTag(key=tag["Key"], value=tag["Value"]) for tag in request["Tags"]],
        )
        self.cluster_arn = self._resource.attr_cluster_arn
        self._wait_for(
            *self._own_roles,
            *([] if subnets is None else subnets),
            *([] if security_groups is None else security_groups),
            *[lifecycle_scripts, *(group.lifecycle_scripts for group in self._groups)],
            file_system,
            *self._allow_volume_keys(execution_role),
        )
        self._report_resilience()

    @classmethod
    def from_cluster_attributes(
        cls, scope: Construct, id: str, *, cluster_arn: str, cluster_name: str
    ) -> HyperPodClusterBase:
        """Import a cluster that is made elsewhere.

        Args:
            scope: Parent construct.
            id: Construct id.
            cluster_arn: ARN, whose last part is the cluster's id.
            cluster_name: Name, which the ARN does not hold.

        Raises:
            InvalidInputError: If the ARN is none of a cluster.
        """
        arn = known(cluster_arn)
        if isinstance(arn, str) and not CLUSTER_ARN.matches(arn):
            raise InvalidInputError(
                [
                    Fault(
                        (f"cluster {cluster_name!r}",),
                        f"cluster_arn must be {CLUSTER_ARN.in_words}, got {arn!r}",
                    )
                ]
            )
        return _ImportedCluster(scope, id, cluster_arn=cluster_arn, cluster_name=cluster_name)

    def _refuse_namesakes(self, cluster_name: str) -> None:
        taken = _CLUSTERS.setdefault(Stack.of(self), {})
        if isinstance(known(cluster_name), str) and cluster_name in taken:
            message = (
                f"cluster_name is that of '{taken[cluster_name]}' in the same stack; names are unique in an "
                "account and region, choose another"
            )
            raise InvalidInputError([Fault((f"cluster {cluster_name!r}",), message)])
        taken[cluster_name] = self.node.path

    @property
    def instance_groups(self) -> tuple[InstanceGroup, ...]:
        """The groups."""
        return self._groups

    @property
    def orchestrator(self) -> Orchestrator:
        """What schedules jobs."""
        return self._orchestrator

    @property
    def resilience(self) -> ResiliencePolicy:
        """Spare nodes, deep health checks and recovery."""
        return self._resilience

    def deep_health_checks_of(self, group: InstanceGroup) -> tuple[str, ...]:
        """Return the deep health checks that the nodes of a group pass.

        Args:
            group: A group of this cluster.
        """
        if group.deep_health_checks is not None:
            return tuple(group.deep_health_checks)
        found = listed_type(group.instance_type)
        accelerator = None if found is None else found.accelerator
        if accelerator is None or accelerator.kind not in deep_health_check_accelerators(
            self._orchestrator.kind
        ):
            return ()
        return self._resilience.deep_health_checks

    def grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        """Allow actions on this cluster.

        Args:
            grantee: Who may; not a role of the cluster's own nodes.
            *actions: IAM actions that take a cluster as resource, such as ``sagemaker:DescribeCluster``.

        Raises:
            InvalidInputError: If the grantee is a role of the nodes. The cluster waits for the policies of
                these roles, so a policy that names the cluster would wait for itself.
        """
        if any(role.node.path == _path_of(grantee) for role in self._own_roles):
            raise InvalidInputError(
                [
                    Fault(
                        (f"cluster {self.cluster_name!r}",),
                        f"grant to {_path_of(grantee)!r}, a role of its own nodes, makes a dependency cycle; "
                        "add a policy whose resource is Stack.format_arn(service='sagemaker', "
                        "resource='cluster', resource_name='*')",
                    )
                ]
            )
        return super().grant(grantee, *actions)

    def _request(
        self,
        *,
        execution_role: iam.IRole | None,
        subnets: Sequence[ec2.ISubnet] | None,
        security_groups: Sequence[ec2.ISecurityGroup] | None,
        lifecycle_scripts: ScriptLocation | None,
        mount: dict[str, Any] | None,
        node_provisioning_mode: str | None,
        tags: Mapping[str, str],
    ) -> dict[str, Any]:
        groups = [
            group.to_request(
                execution_role_arn=None if execution_role is None else execution_role.role_arn,
                deep_health_checks=self.deep_health_checks_of(group),
                lifecycle_scripts=lifecycle_scripts,
                script_hook=self._orchestrator.script_hook,
                takes_node_type=self._orchestrator.takes_node_types,
                file_system_mount=mount,
            )
            for group in self._groups
        ]
        vpc = None
        if subnets is not None or security_groups is not None:
            vpc = without_absent(
                {
                    "Subnets": None if subnets is None else [subnet.subnet_id for subnet in subnets],
                    "SecurityGroupIds": None
                    if security_groups is None
                    else [group.security_group_id for group in security_groups],
                }
            )
        all_tags = [*tags.items(), *self._resilience.to_tags().items()]
        return without_absent(
            {
                "ClusterName": self.cluster_name,
                "InstanceGroups": groups,
                "NodeProvisioningMode": node_provisioning_mode,
                "NodeRecovery": self._resilience.node_recovery,
                "Orchestrator": self._orchestrator.to_request(),
                "VpcConfig": vpc,
                "Tags": [{"Key": key, "Value": value} for key, value in all_tags],
            }
        )

    def _check(self, request: Mapping[str, Any], unlisted_instance_types: Collection[str]) -> None:
        seen = known_values(request)
        vouched = {
            *unlisted_instance_types,
            *(group.instance_type for group in self._groups if group.unlisted_instance_type),
        }
        region = known(Stack.of(self).region)
        faults = check_cluster(
            seen, region=region if isinstance(region, str) else None, unlisted_instance_types=vouched
        )
        faults += [
            fault._replace(path=("resilience", *fault.path))
            for fault in check_spare_nodes(self._resilience.spare_nodes, seen["InstanceGroups"])
        ]
        said = cluster_faults(faults, seen)
        missing = []
        if self._orchestrator.takes_node_types and all(
            group.slurm_node_type is None for group in self._groups
        ):
            missing = [
                Fault(
                    (group_label(group, index),),
                    "slurm_node_type is required where HyperPod configures Slurm; give one, or choose "
                    "SlurmConfiguration.BY_LIFECYCLE_SCRIPTS",
                )
                for index, group in enumerate(seen["InstanceGroups"])
            ]
        refuse([*said, *missing])
        for raw, warning in zip(faults, said, strict=True):
            self._warn(raw, str(warning))

    def _warn(self, raw: Fault, text: str) -> None:
        name = ".".join(step for step in raw.path if isinstance(step, str))
        Annotations.of(self).add_warning_v2(f"{_WARNING}.{name}" if name else f"{_WARNING}.region", text)

    def _allow_volume_keys(self, execution_role: iam.IRole | None) -> list[kms.IKey]:
        """Let the roles use the keys of their groups' volumes.

        Source: SageMaker AI developer guide, smcluster-cmk: no conditions on the encryption context.
        """
        keys_of: dict[str, tuple[iam.IRole, dict[str, kms.IKey]]] = {}
        for group in self._groups:
            role = execution_role if group.execution_role is None else group.execution_role
            for key in (group.root_volume_kms_key, group.secondary_volume_kms_key):
                if role is not None and key is not None:
                    keys_of.setdefault(role.node.path, (role, {}))[1][key.node.path] = key
        for role, keys in keys_of.values():
            for statement in self._volume_key_statements([key.key_arn for key in keys.values()]):
                role.add_to_principal_policy(statement)
        return [key for _, keys in keys_of.values() for key in keys.values()]

    def _volume_key_statements(self, key_arns: list[str]) -> list[iam.PolicyStatement]:
        stack = Stack.of(self)
        return [
            iam.PolicyStatement(actions=[EBS_KEY_DESCRIBE_ACTION], resources=key_arns),
            iam.PolicyStatement(
                actions=[EBS_KEY_GRANT_ACTION],
                resources=key_arns,
                conditions={
                    "StringEquals": {"kms:ViaService": ebs_key_via_service(stack.region, stack.url_suffix)},
                    "Bool": {"kms:GrantIsForAWSResource": "true"},
                },
            ),
        ]

    def _wait_for(self, *needed: Any) -> None:
        for construct in needed:
            if hasattr(construct, "node"):
                self._resource.node.add_dependency(construct)

    def _report_resilience(self) -> None:
        CfnOutput(
            self,
            "SpareNodes",
            value=str(self._resilience.spare_nodes),
            description=f"Spare nodes of cluster {self.cluster_name}: {self._resilience.consequence}",
        )
        if self._resilience.commissioning_is_due:
            Annotations.of(self).add_warning_v2(
                COMMISSIONING_WARNING,
                "deep health checks are on until the cluster is commissioned: once the first have passed, "
                "deploy again with commissioned=True (resilience.commissioned in a specification), or every "
                "replacement node waits for them too",
            )


class _ImportedCluster(HyperPodClusterBase):
    def __init__(self, scope: Construct, id: str, *, cluster_arn: str, cluster_name: str) -> None:
        super().__init__(scope, id)
        self.cluster_arn = cluster_arn
        self.cluster_name = cluster_name


def _path_of(grantee: Any) -> str:
    principal = getattr(grantee, "grant_principal", grantee)
    node = getattr(principal, "node", None)
    return "" if node is None else str(node.path)
