"""A whole cluster as one stack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

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
from constructs import Construct

from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.auto_scaling import AutoScaling
from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.checkpoint_signing_key import CheckpointSigningKey
from hyperpod_constructs.cluster_network import ClusterNetwork, ClusterNetworkBase
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.existing_resources import ExistingResources
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import ScriptLocation
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.specified_groups import SpecifiedGroups
from hyperpod_constructs.specified_node_parameters import node_parameters_of
from hyperpod_constructs.tiered_checkpointing import TieredCheckpointing
from hyperpod_lifecycle.script_checks import find_package_installation
from hyperpod_model.catalog.budgets import COSTLY_TYPES
from hyperpod_model.catalog.logs import PARSED_LINE_KEY
from hyperpod_model.catalog.ports import HTTP
from hyperpod_model.cluster_spec import ClusterSpec, InstanceGroupSpec, stack_name_of
from hyperpod_model.cluster_spec.budget import cost_tag_of, declines_budget, idle_hours_of
from hyperpod_model.cluster_spec.job_figures import (
    has_job_figures,
    job_alert_limit,
    job_figures_image_of,
    job_queues_of,
)
from hyperpod_model.faults import Fault, InvalidInputError

if TYPE_CHECKING:
    from aws_cdk import aws_logs as logs

    from hyperpod_constructs.accounting_database import AccountingDatabase
    from hyperpod_constructs.budget_guard import BudgetGuard
    from hyperpod_constructs.cluster_observability import ClusterObservability
    from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
    from hyperpod_constructs.job_figures import JobFigures
    from hyperpod_constructs.managed_prometheus import ManagedPrometheus
    from hyperpod_constructs.task_governance import TaskGovernance
    from hyperpod_constructs.training_pod_role import TrainingPodRole

CLOSED_MIRRORS_WARNING = "hyperpod:HyperPodStack.closedPackageMirrors"

_BUDGET_FINDING = "HyperPodChecks::Budget"
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
    Lustre file system, the checkpoint bucket, the key that signs checkpoints if asked for, and the cluster,
    which is created after all of them and deleted before. Notices, alarms and a dashboard follow the cluster.

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
        self._existing = ExistingResources(self)
        for key, value in spec.tags.items():
            Tags.of(self).add(key, value)
        for key in cost_tag_of(spec):
            Tags.of(self).add(key, spec.name, include_resource_types=list(COSTLY_TYPES))
        accepted = dict(spec.acknowledged_findings)
        if declines_budget(spec):
            accepted.setdefault(_BUDGET_FINDING, "the specification says by name that there is no budget")
        for finding, reason in accepted.items():
            Validations.of(self).acknowledge(Acknowledgment(id=finding, reason=reason))
        self.network = self._network()
        self.security_groups = self._security_groups()
        self.control_plane = self._control_plane()
        self.file_system = self._file_system()
        self.lifecycle_scripts = self._lifecycle_scripts()
        self.checkpoint_bucket = self._checkpoint_bucket()
        self.execution_role = self._execution_role()
        self._let_existing_roles_in()
        self.training_pod_role = self._training_pod_role()
        self.checkpoint_signing_key = self._checkpoint_signing_key()
        self._link_data_repository()
        self._apply_platform_chart()
        self.tiered_checkpointing = self._tiered_checkpointing()
        self.cluster = self._cluster()
        if self.checkpoint_bucket is not None:
            # No node may run before the bucket is locked.
            self.cluster.node.add_dependency(self.checkpoint_bucket)
        if self.control_plane is not None and self.control_plane.operators:
            self.control_plane.install_operators(after=self.cluster)
        self.observability = self._observability()
        self.task_governance = self._task_governance()
        self.prometheus = self._prometheus()
        self.container_log_group: logs.ILogGroup | None = None
        self._measure_containers()
        self._measure_recoveries()
        self.job_figures = self._job_figures()
        self.budget_guard = self._budget_guard()
        self._show_jobs()
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
                isolated=said.isolated,
                orchestrator=self.spec.orchestrator if said.isolated else None,
                optional_endpoints=self._optional_endpoints() if said.isolated else (),
                control_plane_availability_zone_ids=self._control_plane_zones(),
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

    def _control_plane_zones(self) -> Sequence[str]:
        zones = self.spec.eks.control_plane_availability_zone_ids
        return () if self._on_slurm or zones is None else zones

    def _optional_endpoints(self) -> list[str]:
        file_system, metrics = self.spec.file_system, self.spec.metrics
        wanted = {
            "aps-workspaces": metrics is not None and metrics.prometheus,
            # The set-up of EFA for Lustre asks FSx for the file system, as the CSI driver does for claims.
            "fsx": file_system is not None and (file_system.efa_enabled or not self._on_slurm),
            "secretsmanager": self.spec.slurm.accounting_database is not None,
            # Jobs ask KMS themselves; what S3 and EBS ask KMS goes other ways.
            "kms": self.spec.checkpoint_signing_key is not None,
        }
        return [service for service, needed in wanted.items() if needed]

    @property
    def _existing_subnets(self) -> list[ec2.ISubnet]:
        ids = self.spec.network.subnet_ids
        return [] if ids is None else [self._existing.subnet(id) for id in ids]

    @property
    def _subnets(self) -> list[ec2.ISubnet]:
        if self.network is None or self._existing_subnets:
            return self._existing_subnets
        return [self.network.accelerator_subnet]

    def _security_groups(self) -> list[ec2.ISecurityGroup]:
        ids = self.spec.network.security_group_ids
        if ids is not None:
            return [self._existing.security_group(id) for id in ids]
        # The specification refuses a security group that is made in an unknown VPC.
        assert self.network is not None
        isolated = self.spec.network.isolated
        group = EfaSecurityGroup(self, "NodeSecurityGroup", vpc=self.network.vpc, https_egress=not isolated)
        if isolated and isinstance(self.network, ClusterNetwork) and self.network.endpoints is not None:
            group.allow_endpoints(self.network.endpoints)
        if self.spec.network.http_egress:
            (http,) = HTTP
            group.add_named_egress(
                "HttpEgress",
                peer=ec2.Peer.any_ipv4(),
                port=ec2.Port.tcp(http.first),
                description="Package mirrors, which apt reaches without TLS and verifies by signature",
            )
        return [group]

    def _control_plane(self) -> EksControlPlaneBase | None:
        if self.spec.orchestrator != "eks":
            return None
        # What only some clusters have is loaded for these only: it doubles the time that imports take.
        from hyperpod_constructs.specified_control_plane import specified_control_plane

        control_plane = specified_control_plane(
            self, spec=self.spec, network=self.network, existing=self._existing
        )
        for group in self.security_groups:
            control_plane.allow_nodes(group)
        return control_plane

    def _lifecycle_scripts(self) -> LifecycleScripts | None:
        said = self.spec.lifecycle_scripts
        if said is None:
            return None
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
            slurm_mode=self.spec.slurm.mode if self._on_slurm else "api",
            node_parameters=node_parameters_of(self.spec, file_system=self.file_system)
            if said.folder is None
            else None,
            administrators=self._administrators,
            access_log_bucket=self._access_logs,
        )
        self._warn_of_closed_mirrors(scripts, said.folder)
        return scripts

    @property
    def _on_slurm(self) -> bool:
        return self.spec.orchestrator == "slurm"

    def _warn_of_closed_mirrors(self, scripts: LifecycleScripts, folder: str | None) -> None:
        network = self.spec.network
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

    @cached_property
    def _access_logs(self) -> AccessLogBucket:
        return AccessLogBucket(self, "AccessLogs", administrators=self._administrators)

    @cached_property
    def _administrators(self) -> list[iam.IRole]:
        return self._existing.roles(self.spec.administrator_role_arns)

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
        bucket.let_existing_roles_read(self._existing.roles(said.reader_role_arns))
        return bucket

    def _execution_role(self) -> ExecutionRole | None:
        arns = [group.execution_role_arn for group in self.spec.instance_groups]
        arns += [group.execution_role_arn for group in self.spec.restricted_instance_groups]
        if None not in arns:
            return None
        return ExecutionRole(
            self,
            "ExecutionRole",
            orchestrator=self.spec.orchestrator,
            subnets=self._subnets,
            security_groups=self.security_groups,
            lifecycle_scripts=self.lifecycle_scripts,
            # On Slurm jobs have no other identity than the nodes'; on EKS pods have their own.
            checkpoint_bucket=self.checkpoint_bucket if self._on_slurm else None,
            pod_identity_cluster=self.control_plane if self._hands_out_roles() else None,
        )

    def _hands_out_roles(self) -> bool:
        """Whether pods get roles through the Pod Identity agent, which acts with the nodes' role."""
        pods = self.spec.training_pods
        trains = pods is not None and pods.identity == "pod-identity"
        counts = job_figures_image_of(self.spec) is not None
        said = self.spec.metrics
        measures = said is not None and (said.prometheus or said.container_insights)
        return self.control_plane is not None and (
            trains or counts or measures or bool(self.control_plane.operators)
        )

    def _let_existing_roles_in(self) -> None:
        """Their policies cannot name the buckets and keys of this stack, which nobody knew before."""
        groups = [group for group in self.spec.instance_groups if group.execution_role_arn is not None]
        scripts = self.spec.lifecycle_scripts
        if scripts is not None and scripts.source_s3_uri is None and self.lifecycle_scripts is not None:
            self.lifecycle_scripts.let_existing_roles_read(
                self._roles_of(group for group in groups if not _has_own_location(group))
            )
        if self.checkpoint_bucket is not None and self._on_slurm:
            self.checkpoint_bucket.let_existing_roles_checkpoint(self._roles_of(groups))

    def _roles_of(self, groups: Iterable[InstanceGroupSpec]) -> list[iam.IRole]:
        arns = (group.execution_role_arn for group in groups)
        return self._existing.roles(arn for arn in arns if arn is not None)

    def _training_pod_role(self) -> TrainingPodRole | None:
        said = self.spec.training_pods
        if said is None or self.control_plane is None:
            return None
        from hyperpod_constructs.training_pod_role import TrainingPodRole

        tiers = self.spec.tiered_checkpointing
        tiered = tiers is not None and tiers.enabled
        if said.identity == "pod-identity":
            return TrainingPodRole(
                self,
                "TrainingPodRole",
                control_plane=self.control_plane,
                namespace=said.namespace,
                service_account=said.service_account,
                checkpoint_bucket=self.checkpoint_bucket,
                tiered=tiered,
            )
        return TrainingPodRole.irsa(
            self,
            "TrainingPodRole",
            issuer=said.issuer,
            control_plane=self.control_plane if said.issuer is None else None,
            namespace=said.namespace,
            service_account=said.service_account,
            checkpoint_bucket=self.checkpoint_bucket,
            tiered=tiered,
        )

    def _checkpoint_signing_key(self) -> CheckpointSigningKey | None:
        said, bucket = self.spec.checkpoint_signing_key, self.spec.checkpoint_bucket
        if said is None:
            return None
        key = CheckpointSigningKey(self, "CheckpointSigningKey", administrators=self._administrators)
        # On Slurm jobs have no other identity than the nodes'; on EKS pods have their own.
        if self._on_slurm:
            if self.execution_role is not None:
                key.grant_sign(self.execution_role)
            key.let_existing_roles_sign(self._roles_of(self.spec.instance_groups))
        elif self.training_pod_role is not None:
            key.grant_sign(self.training_pod_role)
        readers = () if bucket is None else bucket.reader_role_arns
        key.let_existing_roles_verify(
            self._existing.roles(dict.fromkeys((*readers, *said.verifier_role_arns)))
        )
        return key

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
            efa_enabled=said.efa_enabled,
            # FSx takes no backups of a file system that is linked to a bucket.
            backup_retention_days=None if said.data_repository is None else 0,
            removal=FileSystemRemoval.of(said.removal),
        )

    def _link_data_repository(self) -> None:
        said = None if self.spec.file_system is None else self.spec.file_system.data_repository
        if said is None or self.file_system is None:
            return
        from hyperpod_constructs.data_repository_association import DataRepositoryAssociation

        bucket = (
            self.checkpoint_bucket if said.bucket_name is None else self._existing.bucket(said.bucket_name)
        )
        # The specification refuses a link to a checkpoint bucket that is not made.
        assert bucket is not None
        DataRepositoryAssociation(
            self,
            "DataRepository",
            file_system=self.file_system,
            bucket=bucket,
            file_system_path=said.path,
            prefix=said.prefix,
            import_events=said.import_events,
            export_events=said.export_events,
            export_makes_fsx_users_writers=said.export_makes_fsx_users_writers,
        )

    def _apply_platform_chart(self) -> None:
        pods, tiers, said = self.spec.training_pods, self.spec.tiered_checkpointing, self.spec.file_system
        if pods is None or not pods.apply_platform_chart:
            return
        from hyperpod_constructs.platform_manifest import PlatformManifest

        # The specification refuses the chart for another EKS cluster than the one that is made.
        assert self.control_plane is not None
        assert self.training_pod_role is not None
        PlatformManifest(
            self,
            "Platform",
            control_plane=self.control_plane,
            role=self.training_pod_role,
            file_system=self.file_system,
            storage_capacity_gib=None if said is None else said.storage_capacity_gib,
            tiered=tiers is not None and tiers.enabled,
        )

    def _tiered_checkpointing(self) -> TieredCheckpointing | None:
        said = self.spec.tiered_checkpointing
        if said is None:
            return None
        if not said.enabled:
            return TieredCheckpointing.disabled()
        # The specification requires the share where the tier is on, and the interval where there is a bucket.
        assert said.memory_percentage is not None
        if said.s3_interval_steps is None:
            return TieredCheckpointing.without_durable_tier(memory_percentage=said.memory_percentage)
        tiered = TieredCheckpointing(
            memory_percentage=said.memory_percentage, s3_interval_steps=said.s3_interval_steps
        )
        if self.checkpoint_bucket is not None and self.training_pod_role is not None:
            tiered.add_outputs(
                self, checkpoint_bucket=self.checkpoint_bucket, training_pod_role=self.training_pod_role
            )
        return tiered

    def _cluster(self) -> HyperPodCluster:
        spec = self.spec
        groups = SpecifiedGroups(spec, existing=self._existing, scripts_of=self._own_scripts)
        restricted = groups.restricted_groups()
        return HyperPodCluster(
            self,
            "Cluster",
            cluster_name=spec.name,
            instance_groups=groups.instance_groups(),
            orchestrator=self._orchestrator(),
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
            auto_scaling=self._auto_scaling(),
            tiered_checkpointing=self.tiered_checkpointing,
            restricted_instance_groups=restricted if restricted else None,
            restricted_environment=groups.restricted_environment(),
            unlisted_instance_types=spec.unlisted_instance_types,
        )

    def _observability(self) -> ClusterObservability | None:
        said = self.spec.observability
        if said is None:
            return None
        from hyperpod_constructs.cluster_observability import ClusterObservability

        observability = ClusterObservability(
            self,
            "Observability",
            cluster=self.cluster,
            emails=said.emails,
            topic=None if said.topic_arn is None else self._existing.topic(said.topic_arn),
            log_retention_days=said.log_retention_days,
            health_events=said.health_events,
            state_changes=said.state_changes,
            cluster_events=said.cluster_events,
            health_detections=said.health_detections,
            deep_health_failures=said.deep_health_failures,
            lifecycle_failures=said.lifecycle_failures,
            failing_slots=said.failing_slots,
            crash_loops=said.crash_loops,
            dashboard=said.dashboard,
        )
        # On Slurm jobs have no other identity than the nodes'; on EKS pods have their own.
        jobs = self.execution_role if self._on_slurm else self.training_pod_role
        if said.crash_loops and jobs is not None:
            observability.grant_notify(jobs)
        return observability

    def _task_governance(self) -> TaskGovernance | None:
        said = self.spec.task_governance
        if said is None:
            return None
        from hyperpod_constructs.task_governance import TaskGovernance, TeamQuota

        return TaskGovernance(
            self,
            "TaskGovernance",
            cluster=self.cluster,
            control_plane=self.control_plane if said.add_on else None,
            teams=[TeamQuota(**dict(team)) for team in said.teams],
            priority_classes=said.priority_classes,
            fair_share=said.fair_share,
            idle_resource_sharing=said.idle_resource_sharing,
        )

    def _prometheus(self) -> ManagedPrometheus | None:
        said = self.spec.metrics
        if said is None or not said.prometheus:
            return None
        from hyperpod_constructs.hyperpod_observability_add_on import HyperPodObservabilityAddOn
        from hyperpod_constructs.managed_prometheus import ManagedPrometheus

        # The specification refuses Prometheus for Slurm.
        assert self.control_plane is not None
        prometheus = ManagedPrometheus(
            self,
            "Prometheus",
            cluster=self.cluster,
            notices=None if self.observability is None else self.observability.notices,
            governance_rules=self.spec.task_governance is not None,
            wait_alert_minutes=said.wait_alert_minutes,
            preemption_alert_count=said.preemption_alert_count,
        )
        add_on = HyperPodObservabilityAddOn(
            self,
            "PrometheusCollection",
            control_plane=self.control_plane,
            cluster=self.cluster,
            prometheus=prometheus,
        )
        if self.task_governance is not None:
            # Figures of queues come from Kueue, which task governance installs.
            add_on.node.add_dependency(self.task_governance)
        if said.grafana_authentication:
            from hyperpod_constructs.managed_grafana import ManagedGrafana

            ManagedGrafana(
                self,
                "Grafana",
                cluster=self.cluster,
                prometheus=prometheus,
                authentication_providers=said.grafana_authentication,
            )
        return prometheus

    def _measure_containers(self) -> None:
        said = self.spec.metrics
        if said is None or not said.container_insights:
            return
        from hyperpod_constructs.container_insights import ContainerInsights

        # The specification refuses Container Insights for Slurm.
        assert self.control_plane is not None
        insights = ContainerInsights(
            self, "ContainerInsights", control_plane=self.control_plane, cluster=self.cluster
        )
        if self.observability is not None:
            kept = self.observability.keep_container_logs(insights.log_group_name)
            # Encrypted and kept from the first line.
            insights.add_on.resource.node.add_dependency(kept)
            self.observability.watch_job_logs(kept.log_group)
            self.container_log_group = kept.log_group

    def _measure_recoveries(self) -> None:
        said = self.spec.metrics
        if said is None or self.observability is None:
            return
        if said.recovery_records_folder is not None:
            log_group, field = self.observability.node_log_group, None
        elif self.container_log_group is not None:
            log_group, field = self.container_log_group, PARSED_LINE_KEY.value
        else:
            return
        from hyperpod_constructs.recovery_figures import RecoveryFigures

        figures = RecoveryFigures(
            self,
            "RecoveryFigures",
            log_group=log_group,
            cluster_name=self.cluster.cluster_name,
            record_field=field,
        )
        if self.observability.dashboard is not None:
            self.observability.dashboard.add_widgets(*figures.widgets())

    def _job_figures(self) -> JobFigures | None:
        if not has_job_figures(self.spec):
            return None
        from hyperpod_constructs.job_figures import JobFigures

        figures = JobFigures(
            self,
            "JobFigures",
            cluster=self.cluster,
            notices=None if self.observability is None else self.observability.notices,
            queues=job_queues_of(self.spec),
            wait_alert_minutes=job_alert_limit(self.spec, "wait_alert_minutes"),
            preemption_alert_count=job_alert_limit(self.spec, "preemption_alert_count"),
        )
        image = job_figures_image_of(self.spec)
        if image is not None and self.spec.eks.cluster_arn is None:
            from hyperpod_constructs.job_figures_manifest import JobFiguresManifest

            # The specification refuses the image for Slurm, and the EKS cluster is made here.
            assert self.control_plane is not None
            JobFiguresManifest(
                figures,
                "Check",
                control_plane=self.control_plane,
                cluster_name=self.spec.name,
                image=image,
            ).node.add_dependency(self.cluster)
        return figures

    def _budget_guard(self) -> BudgetGuard | None:
        said, idle_hours = self.spec.budget, idle_hours_of(self.spec)
        if said is None or (said.limit_usd is None and idle_hours is None):
            return None
        from hyperpod_constructs.budget_guard import TAG_NOTE, BudgetGuard

        # Without a limit the specification has nothing of a budget.
        limited = said.limit_usd is not None
        guard = BudgetGuard(
            self,
            "BudgetGuard",
            cluster=self.cluster,
            limit_usd=said.limit_usd,
            start_date=said.start_date,
            end_date=said.end_date,
            actual_alert_percentages=said.actual_alert_percentages if limited else None,
            forecast_alert_percentages=said.forecast_alert_percentages if limited else None,
            notices=None if self.observability is None else self.observability.notices,
            emails=said.emails,
            cost_allocation_tag=said.cost_allocation_tag if limited else None,
            # The stack puts it on what costs, where the specification does not.
            cost_allocation_tag_value=self.spec.tags.get(said.cost_allocation_tag, self.spec.name)
            if limited
            else None,
            idle_hours=idle_hours,
            cost_per_hour_usd=None if idle_hours is None else said.cost_per_hour_usd,
        )
        if said.cost_allocation_tag_activated:
            Annotations.of(guard).acknowledge_info(TAG_NOTE, "the specification says that it is activated")
        return guard

    def _show_jobs(self) -> None:
        """Put figures of jobs on the dashboard, with the alarms that watch them."""
        dashboard = None if self.observability is None else self.observability.dashboard
        idle = None if self.budget_guard is None else self.budget_guard.idle_alarm
        if self.job_figures is not None and dashboard is not None:
            more = () if idle is None else (idle,)
            dashboard.add_widgets(*self.job_figures.widgets(more_alarms=more))

    def _orchestrator(self) -> Orchestrator:
        if self.control_plane is not None:
            return Orchestrator.eks(self.control_plane, script_hook=self.spec.script_hook)
        said = self.spec.slurm
        return Orchestrator.slurm(
            configuration=SlurmConfiguration.of(said.mode),
            strategy=said.strategy,
            accounting_database=self._accounting_database(),
        )

    def _accounting_database(self) -> AccountingDatabase | None:
        said = self.spec.slurm.accounting_database
        if said is None:
            return None
        from hyperpod_constructs.accounting_database import AccountingDatabase

        return AccountingDatabase(
            endpoint=said.endpoint,
            secret=self._existing.secret(said.secret_arn),
            database_name=said.database_name,
            port=said.port,
        )

    def _auto_scaling(self) -> AutoScaling | None:
        said = self.spec.auto_scaling
        if said is None:
            return None
        role: iam.IRole | None = None
        if said.role_arn is not None:
            role = self._existing.role(said.role_arn)
        elif said.mode == "Enable":
            from hyperpod_constructs.autoscaling_role import AutoscalingRole

            role = AutoscalingRole(self, "AutoscalingRole")
        return AutoScaling(mode=said.mode, role=role)

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
        if self.checkpoint_signing_key is not None:
            values["CheckpointSigningKeyArn"] = (
                self.checkpoint_signing_key.key.key_arn,
                "HMAC key of checkpoints, as jobs name it: KmsKey(ARN)",
            )
        if self.observability is not None:
            values["NoticeTopicArn"] = (
                self.observability.topic.topic_arn,
                "Topic of all notices, for more readers and for jobs: sns_notice(ARN). AWS mails each "
                "address of observability.emails once, and sends nothing else before that is confirmed",
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
        spare_nodes = cluster.node.find_child("SpareNodes")
        assert isinstance(spare_nodes, CfnOutput)
        # The cluster's own output, named like those of the stack.
        spare_nodes.override_logical_id("SpareNodes")


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
