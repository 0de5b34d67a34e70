"""A whole cluster as one stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from aws_cdk import (
    Acknowledgment,
    Annotations,
    CfnOutput,
    Environment,
    Fn,
    IStackSynthesizer,
    Stack,
    Tags,
    Token,
    Validations,
)
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.cluster_network import ClusterNetwork, ClusterNetworkBase
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup, ScriptLocation
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_lifecycle.script_checks import find_package_installation
from hyperpod_model.catalog.ports import HTTP
from hyperpod_model.cluster_spec import ClusterSpec, InstanceGroupSpec, stack_name_of
from hyperpod_model.faults import Fault, InvalidInputError

CLOSED_MIRRORS_WARNING = "hyperpod:HyperPodStack.closedPackageMirrors"

_FEATURE_FLAGS = {
    "@aws-cdk/aws-iam:minimizePolicies": True,
    "@aws-cdk/aws-lambda:useCdkManagedLogGroup": False,
    "@aws-cdk/core:enablePartitionLiterals": False,
}
"""They decide how the CDK writes its own upload function. Nothing else here depends on feature flags."""


class HyperPodStack(Stack):
    """The cluster that a ``ClusterSpec`` describes, with all it needs.

    Made are, each unless the specification names an existing one or does without: the network, the nodes'
    security group, the bucket of lifecycle scripts and their upload, the nodes' execution role, the FSx for
    Lustre file system, the checkpoint bucket, and the cluster, which is created after all of them and deleted
    before.

    The name of the CloudFormation stack derives from the cluster's name, so that another cluster never
    replaces this one. Termination protection is on: deleting the stack deletes every node.

    Args:
        scope: Parent, usually the app.
        id: Construct id, which the CDK CLI selects by. The app of this repository uses ``HyperPodStack``.
        spec: The cluster.
        env: Account and region. Default, also of the region alone: the region of the specification, in
            whatever account the deployment's credentials belong to.
        synthesizer: Default: the scope's.
        stack_name: Default: ``hyperpod-<name of the cluster>``.
        termination_protection: Default: ``True``.

    Raises:
        InvalidInputError: If the specification cannot become a working cluster.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        spec: ClusterSpec,
        env: Environment | None = None,
        synthesizer: IStackSynthesizer | None = None,
        stack_name: str | None = None,
        termination_protection: bool = True,
    ) -> None:
        _refuse_other_kinds(spec)
        super().__init__(
            scope,
            id,
            env=_environment(spec, env),
            synthesizer=synthesizer,
            stack_name=stack_name_of(spec.name) if stack_name is None else stack_name,
            termination_protection=termination_protection,
            description=f"SageMaker HyperPod cluster {spec.name}",
        )
        for flag, enabled in _FEATURE_FLAGS.items():
            self.node.set_context(flag, enabled)
        self.spec = spec
        self._volume_keys: dict[str, kms.IKey] = {}
        for key, value in spec.tags.items():
            Tags.of(self).add(key, value)
        for finding, reason in spec.acknowledged_findings.items():
            Validations.of(self).acknowledge(Acknowledgment(id=finding, reason=reason))
        self.network = self._network()
        self.security_groups = self._security_groups()
        self.lifecycle_scripts = self._lifecycle_scripts()
        self.checkpoint_bucket = self._checkpoint_bucket()
        self.execution_role = self._execution_role()
        self._let_existing_roles_in()
        self.file_system = self._file_system()
        self.cluster = self._cluster()
        if self.checkpoint_bucket is not None:
            # No node may run before the bucket is locked.
            self.cluster.node.add_dependency(self.checkpoint_bucket)
        self._add_outputs()

    def _network(self) -> ClusterNetworkBase | None:
        said = self.spec.network
        if said.subnet_ids is None:
            # The specification refuses a network that is made without a zone.
            assert said.availability_zone_id is not None
            return ClusterNetwork(
                self,
                "Network",
                availability_zone_id=said.availability_zone_id,
                vpc_cidr=said.vpc_cidr,
                accelerator_subnet_prefix_length=said.accelerator_subnet_prefix_length,
            )
        if said.vpc_id is None:
            return None
        vpc = ec2.Vpc.from_vpc_attributes(
            self, "ExistingVpc", vpc_id=said.vpc_id, availability_zones=Fn.get_azs()
        )
        Annotations.of(vpc).acknowledge_warning(
            "@aws-cdk/aws-ec2:vpcAttributeIsListTokenavailabilityZones",
            "only constructs that pick subnets by zone ask for the zones; here the subnets are named",
        )
        return ClusterNetwork.from_existing(
            self,
            "Network",
            vpc=vpc,
            accelerator_subnet=self._existing_subnets[0],
            accelerator_subnet_cidr=said.subnet_cidr,
        )

    @cached_property
    def _existing_subnets(self) -> list[ec2.ISubnet]:
        ids = self.spec.network.subnet_ids
        subnets = [
            ec2.Subnet.from_subnet_id(self, f"ExistingSubnet{number}", subnet_id)
            for number, subnet_id in enumerate(() if ids is None else ids, start=1)
        ]
        for subnet in subnets:
            Annotations.of(subnet).acknowledge_warning(
                "@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing here asks for the route table or changes it"
            )
        return subnets

    @property
    def _subnets(self) -> list[ec2.ISubnet]:
        if self.network is None or self._existing_subnets:
            return self._existing_subnets
        return [self.network.accelerator_subnet]

    def _security_groups(self) -> list[ec2.ISecurityGroup]:
        ids = self.spec.network.security_group_ids
        if ids is not None:
            return [
                ec2.SecurityGroup.from_security_group_id(
                    self, f"ExistingSecurityGroup{number}", group_id, mutable=False
                )
                for number, group_id in enumerate(ids, start=1)
            ]
        # The specification refuses a security group that is made in an unknown VPC.
        assert self.network is not None
        group = EfaSecurityGroup(self, "NodeSecurityGroup", vpc=self.network.vpc)
        if self.spec.network.http_egress:
            (http,) = HTTP
            group.add_named_egress(
                "HttpEgress",
                peer=ec2.Peer.any_ipv4(),
                port=ec2.Port.tcp(http.first),
                description="Package mirrors, which apt reaches without TLS and verifies by signature",
            )
        return [group]

    def _lifecycle_scripts(self) -> LifecycleScripts | None:
        said = self.spec.lifecycle_scripts
        if said.source_s3_uri is not None:
            return LifecycleScripts.from_s3_uri(
                self,
                "LifecycleScripts",
                source_s3_uri=said.source_s3_uri,
                entry_point=self.spec.entry_point,
            )
        if all(_has_own_location(group) for group in self.spec.instance_groups):
            return None
        scripts = LifecycleScripts(
            self,
            "LifecycleScripts",
            folder=said.folder,
            entry_point=self.spec.entry_point,
            slurm_mode=self.spec.slurm.mode,
            required_mounts=self._required_mounts(),
            administrators=self._administrators,
            access_log_bucket=self._access_logs,
        )
        self._warn_of_closed_mirrors(scripts)
        return scripts

    def _warn_of_closed_mirrors(self, scripts: LifecycleScripts) -> None:
        network, folder = self.spec.network, self.spec.lifecycle_scripts.folder
        if folder is None or network.http_egress or network.security_group_ids is not None:
            return
        installation = find_package_installation(Path(folder))
        if installation is not None:
            Annotations.of(scripts).add_warning_v2(
                CLOSED_MIRRORS_WARNING,
                f"{installation}, and the nodes' security group lets out TCP 443 only, while apt's default "
                "mirrors answer on port 80; set network.http_egress to true, or acknowledge this if the "
                "nodes use mirrors on HTTPS",
            )

    def _required_mounts(self) -> dict[str, list[str]] | None:
        said = self.spec.file_system
        own_scripts = self.spec.lifecycle_scripts.folder is not None
        if said is None or own_scripts or self.spec.slurm.mode != "api":
            return None
        return {
            group.name: [said.mount_path] for group in self.spec.instance_groups if group.mounts_file_system
        }

    @cached_property
    def _access_logs(self) -> AccessLogBucket:
        return AccessLogBucket(self, "AccessLogs", administrators=self._administrators)

    @cached_property
    def _administrators(self) -> list[iam.IRole]:
        return self._imported_roles("BucketAdministrator", self.spec.administrator_role_arns)

    def _checkpoint_bucket(self) -> CheckpointBucket | None:
        said = self.spec.checkpoint_bucket
        if said is None:
            return None
        bucket = CheckpointBucket(
            self,
            "CheckpointBucket",
            administrators=self._administrators,
            access_log_bucket=self._access_logs,
        )
        bucket.let_existing_roles_read(self._imported_roles("CheckpointReader", said.reader_role_arns))
        return bucket

    def _imported_roles(self, name: str, arns: Sequence[str]) -> list[iam.IRole]:
        return [
            iam.Role.from_role_arn(self, f"{name}{number}", arn, mutable=False)
            for number, arn in enumerate(arns, start=1)
        ]

    def _execution_role(self) -> ExecutionRole | None:
        if all(group.execution_role_arn is not None for group in self.spec.instance_groups):
            return None
        scripts = self.lifecycle_scripts
        return ExecutionRole(
            self,
            "ExecutionRole",
            subnets=self._subnets,
            security_groups=self.security_groups,
            lifecycle_scripts=scripts,
            checkpoint_bucket=self.checkpoint_bucket,
        )

    def _let_existing_roles_in(self) -> None:
        """Their policies cannot name the buckets and keys of this stack, which nobody knew before."""
        groups = [group for group in self.spec.instance_groups if group.execution_role_arn is not None]
        if self.spec.lifecycle_scripts.source_s3_uri is None and self.lifecycle_scripts is not None:
            self.lifecycle_scripts.let_existing_roles_read(
                self._roles_of(group for group in groups if not _has_own_location(group))
            )
        if self.checkpoint_bucket is not None:
            self.checkpoint_bucket.let_existing_roles_checkpoint(self._roles_of(groups))

    def _roles_of(self, groups: Iterable[InstanceGroupSpec]) -> list[iam.IRole]:
        arns = dict.fromkeys(group.execution_role_arn for group in groups)
        return [self._existing_roles[arn] for arn in arns if arn is not None]

    @cached_property
    def _existing_roles(self) -> Mapping[str, iam.IRole]:
        arns = [group.execution_role_arn for group in self.spec.instance_groups]
        distinct = dict.fromkeys(arn for arn in arns if arn is not None)
        return dict(zip(distinct, self._imported_roles("ExistingExecutionRole", list(distinct)), strict=True))

    def _file_system(self) -> LustreFileSystem | None:
        said = self.spec.file_system
        if said is None:
            return None
        # The specification refuses a file system that is made in an unknown VPC.
        assert self.network is not None
        return LustreFileSystem(
            self,
            "FileSystem",
            vpc=self.network.vpc,
            subnet=self.network.accelerator_subnet,
            client_security_groups=self.security_groups,
            storage_capacity_gib=said.storage_capacity_gib,
            throughput_mbps_per_tib=said.throughput_mbps_per_tib,
            removal=FileSystemRemoval.of(said.removal),
        )

    def _cluster(self) -> HyperPodCluster:
        spec = self.spec
        by_hyperpod = spec.slurm.mode == "api"
        return HyperPodCluster(
            self,
            "Cluster",
            cluster_name=spec.name,
            instance_groups=[self._instance_group(group) for group in spec.instance_groups],
            orchestrator=Orchestrator.slurm(
                configuration=(
                    SlurmConfiguration.BY_HYPERPOD if by_hyperpod else SlurmConfiguration.BY_LIFECYCLE_SCRIPTS
                ),
                strategy=spec.slurm.strategy,
            ),
            execution_role=self.execution_role,
            network=self.network,
            vpc_subnets=self._subnets,
            security_groups=self.security_groups,
            lifecycle_scripts=self.lifecycle_scripts,
            file_system=self.file_system,
            file_system_mount_path=None if spec.file_system is None else spec.file_system.mount_path,
            resilience=ResiliencePolicy(
                spare_nodes=spec.resilience.spare_nodes,
                replacement_wait=spec.resilience.replacement_wait,
                commissioned=spec.resilience.commissioned,
                node_recovery=spec.node_recovery,
            ),
            node_provisioning_mode=spec.node_provisioning_mode,
            unlisted_instance_types=spec.unlisted_instance_types,
        )

    def _instance_group(self, said: InstanceGroupSpec) -> InstanceGroup:
        role_arn = said.execution_role_arn
        return InstanceGroup(
            name=said.name,
            instance_type=said.instance_type,
            instance_count=said.instance_count,
            min_instance_count=said.min_instance_count,
            threads_per_core=said.threads_per_core,
            execution_role=None if role_arn is None else self._existing_roles[role_arn],
            deep_health_checks=said.deep_health_checks,
            training_plan_arn=said.training_plan_arn,
            image_id=said.image_id,
            secondary_volume_size_gib=said.secondary_volume_size_gib,
            root_volume_kms_key=self._volume_key(said.root_volume_kms_key_arn),
            secondary_volume_kms_key=self._volume_key(said.secondary_volume_kms_key_arn),
            slurm_node_type=None if said.node_type is None else SlurmNodeType.of(said.node_type),
            partition_names=said.partition_names,
            lifecycle_scripts=self._own_scripts(said),
            mounts_file_system=said.mounts_file_system,
            unlisted_instance_type=said.instance_type in self.spec.unlisted_instance_types,
        )

    def _own_scripts(self, said: InstanceGroupSpec) -> ScriptLocation | None:
        own = said.lifecycle_scripts
        if own is None:
            return None
        hook = next((name for name in (own.on_create, own.on_init_complete) if name is not None), None)
        entry_point = self.spec.entry_point if hook is None else hook
        if own.source_s3_uri is None:
            assert self.lifecycle_scripts is not None
            return self.lifecycle_scripts.starting_at(entry_point)
        return LifecycleScripts.from_s3_uri(
            self,
            f"LifecycleScripts-{said.name}",
            source_s3_uri=own.source_s3_uri,
            entry_point=entry_point,
        )

    def _volume_key(self, arn: str | None) -> kms.IKey | None:
        if arn is None:
            return None
        if arn not in self._volume_keys:
            number = len(self._volume_keys) + 1
            self._volume_keys[arn] = kms.Key.from_key_arn(self, f"VolumeKey{number}", arn)
        return self._volume_keys[arn]

    def _add_outputs(self) -> None:
        cluster = self.cluster
        values = {
            "ClusterName": (cluster.cluster_name, "Name of the cluster"),
            "ClusterArn": (cluster.cluster_arn, "ARN of the cluster"),
            "NodeLogGroup": (
                cluster.log_group_name,
                "Log group of the nodes: lifecycle scripts, health agent",
            ),
            "SessionTarget": (
                cluster.session_target(group="GROUP", instance_id="INSTANCE-ID"),
                "Target for `aws ssm start-session --target`; GROUP and INSTANCE-ID are listed by "
                "`aws sagemaker list-cluster-nodes`",
            ),
        }
        if self.checkpoint_bucket is not None:
            values["CheckpointBucketName"] = (
                self.checkpoint_bucket.bucket.bucket_name,
                "Bucket for checkpoints, which only its listed writers can write",
            )
        if self.lifecycle_scripts is not None:
            values["LifecycleScriptsUri"] = (
                self.lifecycle_scripts.source_s3_uri,
                "Where nodes get their lifecycle scripts",
            )
        if self.file_system is not None:
            values["FileSystemSource"] = (
                f"{self.file_system.dns_name}@tcp:/{self.file_system.mount_name}",
                "What nodes mount, in the form of mount.lustre",
            )
        for name, (value, description) in values.items():
            CfnOutput(self, name, value=value, description=description)


def _refuse_other_kinds(spec: object) -> None:
    if not isinstance(spec, ClusterSpec):
        message = (
            f"must be a ClusterSpec, got a {type(spec).__name__}; read a file with load_cluster(path).spec, "
            "from hyperpod_model.cluster_spec"
        )
        raise InvalidInputError([Fault(("spec",), message)])


def _environment(spec: ClusterSpec, env: Environment | None) -> Environment:
    account, region = (None, None) if env is None else (env.account, env.region)
    if region is None:
        return Environment(account=account, region=spec.region)
    if spec.region is not None and not Token.is_unresolved(region) and region != spec.region:
        message = (
            f"is {region!r}, while the specification is for {spec.region!r}; leave it out, or change one"
        )
        raise InvalidInputError([Fault(("env", "region"), message)])
    return Environment(account=account, region=region)


def _has_own_location(group: InstanceGroupSpec) -> bool:
    own = group.lifecycle_scripts
    return own is not None and own.source_s3_uri is not None
