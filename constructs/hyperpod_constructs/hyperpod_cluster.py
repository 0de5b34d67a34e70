"""A SageMaker HyperPod cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import WeakKeyDictionary

from aws_cdk import Annotations, CfnOutput, CfnTag, Fn, Resource, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs.argument_kinds import (
    AUTO_SCALING,
    FILE_SYSTEM,
    GROUP,
    NETWORK,
    ORCHESTRATOR,
    RESILIENCE,
    RESTRICTED_ENVIRONMENT,
    RESTRICTED_GROUP,
    ROLE,
    SCRIPTS,
    SECURITY_GROUP,
    SUBNET,
    TIERED_CHECKPOINTING,
    check_kind,
    check_kinds,
)
from hyperpod_constructs.auto_scaling import AutoScaling
from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.cluster_properties import cluster_properties, known_values, without_absent
from hyperpod_constructs.fault_words import cluster_faults, cluster_label, group_label
from hyperpod_constructs.group_request import vpc_request
from hyperpod_constructs.instance_group import InstanceGroup, ScriptLocation
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.restricted_instance_group import RestrictedEnvironment, RestrictedInstanceGroup
from hyperpod_constructs.role_identity import may_be_same_role
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_constructs.tokens import known
from hyperpod_constructs.tree_validation import validate_at_synth
from hyperpod_model.catalog.cluster_rules import (
    deep_health_check_accelerators,
    default_mount_path,
    describe_actions,
    rollback_alarm_action,
    training_operator_tag,
)
from hyperpod_model.catalog.iam import EBS_KEY_DESCRIBE_ACTION, EBS_KEY_GRANT_ACTION, ebs_key_via_service
from hyperpod_model.catalog.logs import log_group_name
from hyperpod_model.catalog.names import CLUSTER_ARN, ssm_target
from hyperpod_model.checks.addresses import addresses_with_efa_only, node_addresses
from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.instance_types import listed_type
from hyperpod_model.checks.resilience import check_spare_nodes
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError, dotted, refuse

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


class TieredStorageRequest(Protocol):
    """How checkpoints are tiered; ``TieredCheckpointing`` is such."""

    def to_request(self) -> dict[str, Any]:
        """Return ``TieredStorageConfig`` of a ``CreateCluster`` request."""


class HyperPodClusterBase(Resource):
    """What can be done with a cluster, be it made here or imported.

    Attributes:
        cluster_arn: ARN of the cluster.
        cluster_name: Name of the cluster.
        node_provisioning_mode: ``Continuous``, or None where the request does not say or nobody knows.
    """

    cluster_arn: str
    cluster_name: str
    node_provisioning_mode: str | None = None

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
    and volume keys, and with EKS of the control plane: policies, rules and routes that are added to these
    later count too. Roles get the use of the volume keys of their groups; keys with a policy of their own
    must leave access to IAM. They may also describe the alarms that roll updates back, and the controller's
    may read the secret of the accounting database.

    What the checks find doubtful but legal becomes a warning ``hyperpod:HyperPodCluster.<field>``, which
    ``Annotations.of(cluster).acknowledge_warning(...)`` silences.

    With continuous provisioning a finished deployment does not mean that there are workers: the cluster is
    in service once the controller, and a login node if there is a group of these, runs; capacity that is
    missing is asked for again and again. ``min_instance_count`` of a group makes the deployment wait for
    workers.

    A change of ``cluster_name`` replaces the cluster, nodes and all; the new one is created first, so that
    a change of ``vpc_subnets``, ``security_groups`` or the EKS cluster under the same name fails. What is
    fixed for a single group stands at ``InstanceGroup``. Deleting the cluster deletes every node with its
    local data; termination protection is a property of the stack. Source: CloudFormation,
    AWS::SageMaker::Cluster.

    Args:
        scope: Parent construct.
        id: Construct id.
        cluster_name: Name, 1 to 63 letters, digits and hyphens. A change replaces the cluster.
        instance_groups: The groups. May be empty where there are ``restricted_instance_groups``.
        orchestrator: What schedules jobs, ``Orchestrator.slurm(...)`` or ``Orchestrator.eks(...)``.
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
            Mounted only where HyperPod configures Slurm; lifecycle scripts do it otherwise, and pods with
            EKS. Changes reach only new nodes. Default: none.
        file_system_mount_path: Where it is mounted. Default: ``/fsx``.
        resilience: Spare nodes, deep health checks and recovery. Default: ``ResiliencePolicy()``, that is
            no spares, deep health checks throughout, automatic recovery.
        node_provisioning_mode: ``Continuous`` provisions and retries each group by itself; ``None`` leaves
            it out of the request, where sources disagree on whether the classic all-or-nothing mode
            follows. Cannot be changed for a cluster. Default: ``Continuous``.
        auto_scaling: Autoscaling with Karpenter, and its role, which cannot be changed while autoscaling is
            enabled. With EKS, continuous provisioning and automatic recovery. Default: none.
        tiered_checkpointing: Checkpoints in the memory of the nodes, with EKS. To turn it off on a cluster
            that has it, say so: ``TieredCheckpointing.disabled()``. Default: none.
        restricted_instance_groups: Groups on which the service runs its own jobs, with EKS. Default: none.
        restricted_environment: File system that the restricted groups share. Default: none.
        tags: Tags of the cluster by key, beside those of the scope and of the resilience policy, and the one
            that the training operator looks for. Default: none.
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
        auto_scaling: AutoScaling | None = None,
        tiered_checkpointing: TieredStorageRequest | None = None,
        restricted_instance_groups: Sequence[RestrictedInstanceGroup] | None = None,
        restricted_environment: RestrictedEnvironment | None = None,
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
            *check_kind(auto_scaling, AUTO_SCALING, ("auto_scaling",)),
            *check_kind(tiered_checkpointing, TIERED_CHECKPOINTING, ("tiered_checkpointing",)),
            *check_kinds(restricted_instance_groups, RESTRICTED_GROUP, ("restricted_instance_groups",)),
            *check_kind(restricted_environment, RESTRICTED_ENVIRONMENT, ("restricted_environment",)),
        ]
        if tags is not None and not isinstance(tags, Mapping):
            kinds.append(Fault(("tags",), f"must be a mapping of keys to values, got {tags!r}"))
        if isinstance(unlisted_instance_types, str):
            message = f"must be a list, got {unlisted_instance_types!r}; put it in brackets"
            kinds.append(Fault(("unlisted_instance_types",), message))
        has_none = isinstance(instance_groups, (list, tuple)) and not instance_groups
        if has_none and not restricted_instance_groups:
            kinds.append(Fault(("instance_groups",), "is empty; a cluster has at least one group"))
        label = cluster_label(known_values({"ClusterName": cluster_name}))
        refuse(
            fault._replace(path=(label,), message=f"{dotted(fault.path)} {fault.message}") for fault in kinds
        )
        self._refuse_namesakes(cluster_name)
        self.cluster_name = cluster_name
        self.node_provisioning_mode = node_provisioning_mode
        self._groups = tuple(instance_groups)
        self._orchestrator = orchestrator
        self._restricted_groups = (
            () if restricted_instance_groups is None else tuple(restricted_instance_groups)
        )
        roles = [
            execution_role,
            *(group.execution_role for group in self._groups),
            *(group.execution_role for group in self._restricted_groups),
        ]
        self._own_roles = [role for role in roles if role is not None]
        self._autoscaler_role = None if auto_scaling is None else auto_scaling.role
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
            auto_scaling=auto_scaling,
            tiered_checkpointing=tiered_checkpointing,
            restricted_environment=restricted_environment,
            tags={} if tags is None else tags,
        )
        vouched = () if unlisted_instance_types is None else unlisted_instance_types
        self._check(request, vouched)
        if network is not None and subnets is not None and len(subnets) == 1:
            inside = self._groups_of_network(subnets[0])
            network.check_capacity(
                groups=[(name, type_name, count) for name, type_name, count, _ in inside],
                orchestrator=orchestrator.kind,
                other_addresses=getattr(file_system, "addresses", 0),
                addresses_per_node=addresses_with_efa_only(
                    ((type_name, interface) for _, type_name, _, interface in inside), orchestrator.kind
                ),
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
            *self._own_networks(),
            self._autoscaler_role,
            *self._allow_reading_secret(execution_role),
        )
        self._allow_describing_alarms(execution_role)
        for needed in orchestrator.needed_by_nodes:
            self._resource.node.add_dependency(needed)
        if orchestrator.kind == "eks":
            validate_at_synth(self, self._find_nodes_that_write_checkpoints)
        self._report_resilience()
        hint = getattr(tiered_checkpointing, "hint_at_use", None)
        if hint is not None:
            hint(self)

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

    def _find_nodes_that_write_checkpoints(self) -> list[str]:
        """Find roles of nodes among the writers, whatever kind of role they are and whoever imports them."""
        return [
            f"execution role '{role.node.path}' must not write the checkpoints of '{bucket.node.path}', got "
            f"it as writer '{writer.node.path}': every pod on the host network of EKS nodes works with that "
            "role; let a TrainingPodRole write checkpoints"
            for bucket in self.node.root.node.find_all()
            if isinstance(bucket, CheckpointBucket)
            for writer in bucket.writers
            for role in {role.node.path: role for role in self._own_roles}.values()
            if may_be_same_role(role, writer)
        ]

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
    def restricted_instance_groups(self) -> tuple[RestrictedInstanceGroup, ...]:
        """The restricted groups."""
        return self._restricted_groups

    @property
    def execution_roles(self) -> tuple[iam.IRole, ...]:
        """Roles of the nodes: that of the cluster, then those of its groups."""
        return tuple(self._own_roles)

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
        testable = deep_health_check_accelerators(self._orchestrator.kind)
        found = [listed_type(name) for name in group.type_names]
        kinds = [None if one is None or one.accelerator is None else one.accelerator.kind for one in found]
        if not kinds or any(kind not in testable for kind in kinds):
            return ()
        return self._resilience.deep_health_checks

    def grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        """Allow actions on this cluster.

        Args:
            grantee: Who may; not a role of the cluster's own nodes or of its autoscaler.
            *actions: IAM actions that take a cluster as resource, such as ``sagemaker:DescribeCluster``.

        Raises:
            InvalidInputError: If the grantee is such a role. The cluster waits for the policies of these
                roles, so a policy that names the cluster would wait for itself.
        """
        whose = {role.node.path: "its own nodes" for role in self._own_roles}
        if self._autoscaler_role is not None:
            whose.setdefault(self._autoscaler_role.node.path, "its autoscaler")
        if _path_of(grantee) in whose:
            raise InvalidInputError(
                [
                    Fault(
                        (f"cluster {self.cluster_name!r}",),
                        f"grant to {_path_of(grantee)!r}, a role of {whose[_path_of(grantee)]}, makes a "
                        "dependency cycle; "
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
        auto_scaling: AutoScaling | None,
        tiered_checkpointing: TieredStorageRequest | None,
        restricted_environment: RestrictedEnvironment | None,
        tags: Mapping[str, str],
    ) -> dict[str, Any]:
        role_arn = None if execution_role is None else execution_role.role_arn
        groups = [
            group.to_request(
                execution_role_arn=role_arn,
                deep_health_checks=self.deep_health_checks_of(group),
                lifecycle_scripts=lifecycle_scripts,
                script_hook=self._orchestrator.script_hook,
                takes_node_type=self._orchestrator.takes_node_types,
                file_system_mount=mount,
            )
            for group in self._groups
        ]
        restricted = [group.to_request(execution_role_arn=role_arn) for group in self._restricted_groups]
        environment, tiered = restricted_environment, tiered_checkpointing
        autoscaler_role = None if auto_scaling is None else auto_scaling.role
        all_tags = [*tags.items(), *self._resilience.to_tags().items()]
        operator_tag = training_operator_tag()
        if self._orchestrator.has_training_operator and operator_tag["key"] not in tags:
            all_tags.append((operator_tag["key"], operator_tag["value"]))
        return without_absent(
            {
                "ClusterName": self.cluster_name,
                "InstanceGroups": groups if groups else None,
                "RestrictedInstanceGroups": restricted if restricted else None,
                "RestrictedInstanceGroupsConfig": None if environment is None else environment.to_request(),
                "NodeProvisioningMode": node_provisioning_mode,
                "NodeRecovery": self._resilience.node_recovery,
                "Orchestrator": self._orchestrator.to_request(),
                "VpcConfig": vpc_request(subnets, security_groups),
                "AutoScaling": None if auto_scaling is None else auto_scaling.to_request(),
                "ClusterRole": None if autoscaler_role is None else autoscaler_role.role_arn,
                "TieredStorageConfig": None if tiered is None else tiered.to_request(),
                "Tags": [{"Key": key, "Value": value} for key, value in all_tags],
            }
        )

    def _check(self, request: Mapping[str, Any], unlisted_instance_types: Collection[str]) -> None:
        seen = known_values(request)
        vouched = {
            *unlisted_instance_types,
            *(name for group in self._groups if group.unlisted_instance_type for name in group.type_names),
        }
        region = known(Stack.of(self).region)
        faults = check_cluster(
            seen, region=region if isinstance(region, str) else None, unlisted_instance_types=vouched
        )
        faults += [
            fault._replace(path=("resilience", *fault.path))
            for fault in check_spare_nodes(self._resilience.spare_nodes, seen.get("InstanceGroups", []))
        ]
        with_mounts = [index for index, group in enumerate(self._groups) if group.lustre_mounts]
        said = cluster_faults(faults, seen, groups_with_own_mounts=with_mounts)
        missing = self._operator_faults(seen)
        if self._orchestrator.takes_node_types and all(
            group.slurm_node_type is None for group in self._groups
        ):
            missing += [
                Fault(
                    (group_label(group, index),),
                    "slurm_node_type is required where HyperPod configures Slurm; give one, or choose "
                    "SlurmConfiguration.BY_LIFECYCLE_SCRIPTS",
                )
                for index, group in enumerate(seen.get("InstanceGroups", []))
            ]
        refuse([*said, *missing])
        for raw, warning in zip(faults, said, strict=True):
            self._warn(raw, str(warning))

    def _operator_faults(self, seen: Mapping[str, Any]) -> list[Fault]:
        wanted = training_operator_tag()
        said = next((tag["Value"] for tag in seen["Tags"] if tag["Key"] == wanted["key"]), UNKNOWN)
        if not self._orchestrator.has_training_operator or said in (UNKNOWN, wanted["value"]):
            return []
        message = (
            f"tags[{wanted['key']!r}] must be {wanted['value']!r}, or the HyperPod training operator cannot "
            f"read the cluster, got {said!r}; leave the tag out"
        )
        return [Fault((cluster_label(seen),), message)]

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

    def _own_networks(self) -> list[Any]:
        """Return the subnets and security groups that single groups have."""
        return [
            part
            for group in self._all_groups()
            for parts in (group.override_subnets, group.override_security_groups)
            for part in (() if parts is None else parts)
        ]

    def _groups_of_network(self, subnet: ec2.ISubnet) -> list[tuple[str, str, int, str | None]]:
        """Return name, type, count and kind of EFA interfaces of the groups with nodes in a subnet."""
        return [
            (
                group.name,
                _hungriest(group, self._orchestrator.kind),
                group.instance_count,
                getattr(group, "network_interface_type", None),
            )
            for group in self._all_groups()
            if group.override_subnets is None
            or subnet.subnet_id in [own.subnet_id for own in group.override_subnets]
        ]

    def _all_groups(self) -> Iterator[InstanceGroup | RestrictedInstanceGroup]:
        yield from self._groups
        yield from self._restricted_groups

    def _allow_reading_secret(self, execution_role: iam.IRole | None) -> list[Any]:
        """Let the controller's role read the secret of the accounting database."""
        database = self._orchestrator.accounting_database
        if database is None:
            return []
        for group in self._groups:
            role = execution_role if group.execution_role is None else group.execution_role
            if role is not None and group.slurm_node_type == SlurmNodeType.CONTROLLER:
                database.secret.grant_read(role)
        return [database.secret]

    def _allow_describing_alarms(self, execution_role: iam.IRole | None) -> None:
        """Let the roles describe the alarms that roll updates of their groups back.

        A policy that names alarms shows metric alarms only, so composite ones take all alarms. Sources:
        SageMaker AI developer guide, sagemaker-hyperpod-ami-update; CloudWatch API reference, DescribeAlarms.
        """
        alarms_of: dict[str, tuple[iam.IRole, dict[str, None]]] = {}
        for group in self._groups:
            role = execution_role if group.execution_role is None else group.execution_role
            for alarm in group.rollback_alarms:
                if role is not None:
                    arn = "*" if isinstance(alarm, cloudwatch.CompositeAlarm) else alarm.alarm_arn
                    alarms_of.setdefault(role.node.path, (role, {}))[1][arn] = None
        for role, arns in alarms_of.values():
            resources = ["*"] if "*" in arns else list(arns)
            role.add_to_principal_policy(
                iam.PolicyStatement(actions=[rollback_alarm_action()], resources=resources)
            )

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


def _hungriest(group: InstanceGroup | RestrictedInstanceGroup, orchestrator: Literal["slurm", "eks"]) -> str:
    """Return the instance type of a group whose nodes take most addresses; any of these may come."""
    if isinstance(group, RestrictedInstanceGroup):
        return group.instance_type
    types = [found for name in group.type_names if (found := listed_type(name)) is not None]
    if len(types) < len(group.type_names) or not types:
        return group.type_names[0]
    return max(types, key=lambda found: node_addresses(found, orchestrator)).name


def _path_of(grantee: Any) -> str:
    principal = getattr(grantee, "grant_principal", grantee)
    node = getattr(principal, "node", None)
    return "" if node is None else str(node.path)
