"""Generates cluster specifications as documents: every field, legal and near-legal.

A document is first made so that most of its fields go together, then up to two places of it are changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.regions import offers, region
from hyperpod_model.cluster_spec import (
    AccountingDatabaseSpec,
    AutoPatchingSpec,
    AutoScalingSpec,
    BatchSizeSpec,
    BudgetSpec,
    CheckpointBucketSpec,
    CheckpointlessSpec,
    CheckpointSigningKeySpec,
    ClusterSpec,
    DataRepositorySpec,
    DependencyChartSpec,
    DeploymentSpec,
    EksSpec,
    FileSystemSpec,
    GroupLifecycleScriptsSpec,
    InstanceGroupSpec,
    KubernetesTaintSpec,
    LifecycleScriptsSpec,
    LustreMountSpec,
    MetricsSpec,
    NetworkSpec,
    ObservabilitySpec,
    OpenZfsMountSpec,
    ResilienceSpec,
    RestrictedEnvironmentSpec,
    RestrictedFileSystemSpec,
    RestrictedInstanceGroupSpec,
    ScheduledUpdateSpec,
    SlurmSpec,
    TaskGovernanceSpec,
    TeamQuotaSpec,
    TieredCheckpointingSpec,
    TrainingPodsSpec,
)
from hyperpod_model.cluster_spec.budget import ONLY_WITH_LIMIT
from hyperpod_model.cluster_spec.eks import EXISTING_EKS_ONLY, MAKES_EKS_ONLY
from hyperpod_model.spec_files.spec_model import SpecModel

CHART_FOLDER = "<chart>"
SCRIPTS_FOLDER = "<scripts>"
"""Stand for folders that the test makes."""

REGIONS = ("us-west-2", "us-east-1", "eu-north-1", "ap-southeast-3")
"""The last is one that lacks many instance types."""
UNLISTED = "ml.p9.48xlarge"
ACCOUNT = "111122223333"

Document = dict[str, Any]
Place = tuple[str | int, ...]


class Site(NamedTuple):
    """What names depend on."""

    region: str
    orchestrator: str
    network: str
    """``made``, ``isolated`` or ``existing``."""
    control_plane: str
    """``made`` or ``existing``."""


def of(model: type[SpecModel], **fields: SearchStrategy[Any]) -> dict[str, SearchStrategy[Any]]:
    """Values of every field of a model: a field that is missing here fails."""
    assert fields.keys() == model.model_fields.keys(), fields.keys() ^ model.model_fields.keys()
    return fields


def _choice(*values: Any) -> SearchStrategy[Any]:
    return st.sampled_from(values)


def _some(item: SearchStrategy[Any], least: int = 0, most: int = 2) -> SearchStrategy[Any]:
    return st.lists(item, min_size=least, max_size=most, unique_by=str)


def _fixed_length_ids(prefix: str) -> SearchStrategy[str]:
    return _choice(*(f"{prefix}-0123456789abcdef{digit}" for digit in range(4)), f"{prefix}-01234567")


SUBNETS = _fixed_length_ids("subnet")
SECURITY_GROUPS = _fixed_length_ids("sg")


@cache
def values(site: Site) -> dict[type[SpecModel], dict[str, SearchStrategy[Any]]]:
    """Values of each field that are legal, but for what other fields say."""
    where = site.region
    role = _choice(
        f"arn:aws:iam::{ACCOUNT}:role/hp-exec",
        f"arn:aws:iam::{ACCOUNT}:role/team/path/hyperpod-nodes",
        f"arn:aws:iam::{ACCOUNT}:role/Admin",
    )
    key = _choice(
        f"arn:aws:kms:{where}:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        f"arn:aws:kms:{where}:{ACCOUNT}:key/mrk-1234abcd12ab34cd56ef1234567890ab",
    )
    listed = [name for name in instance_types() if offers(where, name).if_certain(False)]
    accelerated = [name for name in listed if instance_types()[name].is_accelerated]
    types = st.one_of(
        _choice("ml.p5.48xlarge", "ml.p5en.48xlarge"),
        st.sampled_from(accelerated),
        _choice("ml.m5.2xlarge", "ml.m5.4xlarge", "ml.c5.xlarge"),
        st.sampled_from(listed),
    )
    zones = region(where).zone_ids
    plan = st.just(f"arn:aws:sagemaker:{where}:{ACCOUNT}:training-plan/reserved")
    s3_uri = _choice(
        "s3://sagemaker-scripts/abc/", "s3://other-bucket", f"s3://sagemaker-{where}-{ACCOUNT}/lifecycle"
    )
    script = _choice("on_create.sh", "on_init_complete.sh", "main.sh")
    checks = _some(_choice("InstanceStress", "InstanceConnectivity"), 0, 2)
    mount_path = _choice("/fsx", "/data", "/mnt/shared", "/home")
    file_system_name = _choice(
        f"fs-0123456789abcdef0.fsx.{where}.amazonaws.com", f"fs-01234567.fsx.{where}.amazonaws.com"
    )
    text = _choice("a", "research", "Team_1", "x.y-z")

    def part(model: type[SpecModel], chance: int = 50) -> SearchStrategy[Document]:
        return record(site, model, chance=chance)

    deployment = record(site, DeploymentSpec, chance=50, always=("maximum_batch_size",))
    return {
        ClusterSpec: of(
            ClusterSpec,
            name=_choice("llm-train", "a", "everything", "c" * 63, "Hyper-Pod-1"),
            region=st.just(where),
            orchestrator=st.just(site.orchestrator),
            node_provisioning_mode=_choice("Continuous", None),
            node_recovery=_choice("Automatic", "None"),
            slurm=part(SlurmSpec),
            eks=part(EksSpec),
            network=part(NetworkSpec),
            resilience=part(ResilienceSpec),
            instance_groups=st.lists(part(InstanceGroupSpec, 10), max_size=3),
            restricted_instance_groups=st.lists(part(RestrictedInstanceGroupSpec, 15), max_size=2),
            restricted_environment=part(RestrictedEnvironmentSpec),
            lifecycle_scripts=st.none() | part(LifecycleScriptsSpec),
            file_system=st.none() | part(FileSystemSpec),
            checkpoint_bucket=st.none() | part(CheckpointBucketSpec),
            checkpoint_signing_key=st.none() | part(CheckpointSigningKeySpec),
            training_pods=part(TrainingPodsSpec),
            tiered_checkpointing=part(TieredCheckpointingSpec, 80),
            checkpointless=part(CheckpointlessSpec),
            task_governance=part(TaskGovernanceSpec),
            observability=st.none() | part(ObservabilitySpec),
            metrics=st.none() | part(MetricsSpec),
            budget=st.none()
            | record(site, BudgetSpec, chance=50, always=("limit_usd",))
            | record(site, BudgetSpec, chance=50, never=("limit_usd", "emails", *ONLY_WITH_LIMIT)),
            auto_scaling=part(AutoScalingSpec),
            administrator_role_arns=_some(role),
            unlisted_instance_types=st.just([UNLISTED]),
            acknowledged_findings=st.dictionaries(
                _choice("HyperPodChecks::LustreRemoval", "HyperPodChecks::NodeRecovery", "Other::X[y]"),
                _choice("agreed with the platform team"),
                max_size=2,
            ),
            tags=st.dictionaries(_choice("team", "cost:center", "Name", "a/b"), text, max_size=3),
        ),
        AccountingDatabaseSpec: of(
            AccountingDatabaseSpec,
            endpoint=_choice("accounting.example.com", f"db.abc.{where}.rds.amazonaws.com"),
            database_name=_choice("slurm_acct_db", "acct"),
            secret_arn=st.just(f"arn:aws:secretsmanager:{where}:{ACCOUNT}:secret:accounting-AbCdEf"),
            port=_choice(3306, 3307, 1150),
        ),
        AutoPatchingSpec: of(
            AutoPatchingSpec, strategy=_choice("WhenIdle", "WhenAllIdle"), deployment=deployment
        ),
        AutoScalingSpec: of(AutoScalingSpec, mode=_choice("Enable", "Disable", None), role_arn=role),
        BatchSizeSpec: of(
            BatchSizeSpec, type=_choice("INSTANCE_COUNT", "CAPACITY_PERCENTAGE"), value=st.integers(1, 100)
        ),
        BudgetSpec: of(
            BudgetSpec,
            limit_usd=_choice(1, 0.5, 650_000, 12_345.67),
            start_date=st.none(),
            end_date=st.none(),
            actual_alert_percentages=_choice([], [80], [50, 80, 100]),
            forecast_alert_percentages=_choice([100], [90.5, 120]),
            emails=_some(_choice("finance@example.com", "team+gpu@sub.example.org")),
            cost_allocation_tag=_choice("hyperpod-cluster", "team", "cost:center"),
            cost_allocation_tag_activated=st.booleans(),
            idle_hours=_choice(None, 1, 4, 24),
            cost_per_hour_usd=_choice(None, 0.01, 890, 98.32),
        ),
        CheckpointBucketSpec: of(CheckpointBucketSpec, reader_role_arns=_some(role)),
        CheckpointSigningKeySpec: of(CheckpointSigningKeySpec, verifier_role_arns=_some(role)),
        CheckpointlessSpec: of(
            CheckpointlessSpec,
            operator_version=_choice("1.2.0", "1.3.1"),
            framework=_choice("Nemo", "Nemo", "PyTorch"),
            data_format=_choice("ARROW", "ARROW", "CSV"),
            image_uri=_choice(f"{ACCOUNT}.dkr.ecr.{where}.amazonaws.com/checkpointless:1"),
            durable_interval_steps=_choice(1, 500),
            package_version=_choice("1.0.1", "1.1.0"),
        ),
        DataRepositorySpec: of(
            DataRepositorySpec,
            path=_choice("/data", "/", "/corpus/one"),
            bucket_name=_choice("my-corpus", "a-bucket.of-ours"),
            prefix=_choice("", "corpus/", "a/b"),
            import_events=_some(_choice("NEW", "CHANGED", "DELETED"), 0, 3),
            export_events=_some(_choice("NEW", "CHANGED", "DELETED"), 0, 3),
            export_makes_fsx_users_writers=st.booleans(),
        ),
        DependencyChartSpec: of(
            DependencyChartSpec,
            folder=st.just(CHART_FOLDER),
            oci_uri=st.just(f"oci://{ACCOUNT}.dkr.ecr.{where}.amazonaws.com/hyperpod-helm-chart"),
            version=_choice("0.1.0", "1.0.0-rc.1"),
            installed=st.booleans(),
        ),
        DeploymentSpec: of(
            DeploymentSpec,
            maximum_batch_size=part(BatchSizeSpec),
            rollback_maximum_batch_size=part(BatchSizeSpec),
            wait_interval_seconds=_choice(0, 600, 3600),
            rollback_alarm_names=_some(_choice("jobs-fail", "nodes fail", "a")),
        ),
        EksSpec: of(
            EksSpec,
            cluster_arn=st.just(f"arn:aws:eks:{where}:{ACCOUNT}:cluster/training"),
            kubernetes_version=_choice("1.31", "1.32", "1.33"),
            control_plane_availability_zone_ids=_some(st.sampled_from(zones), 2, 2),
            control_plane_subnet_ids=_some(SUBNETS, 2, 3),
            public_access_cidrs=_some(_choice("203.0.113.0/24", "198.51.100.7/32", "0.0.0.0/0")),
            administrator_role_arns=_some(role),
            dependency_chart=part(DependencyChartSpec),
            add_on_versions=st.dictionaries(
                _choice("vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent"),
                _choice("v1.20.4-eksbuild.1", "v1.19.0-eksbuild.2"),
                max_size=2,
            ),
            kubectl_role_arn=role,
            cluster_security_group_id=SECURITY_GROUPS,
        ),
        FileSystemSpec: of(
            FileSystemSpec,
            storage_capacity_gib=_choice(1200, 2400, 4800, 7200, 38400, 240000),
            throughput_mbps_per_tib=_choice(125, 250, 500, 1000),
            mount_path=mount_path,
            removal=_choice("final-backup", "retain"),
            efa_enabled=st.booleans(),
            data_repository=part(DataRepositorySpec, 35),
        ),
        GroupLifecycleScriptsSpec: of(
            GroupLifecycleScriptsSpec, source_s3_uri=s3_uri, on_create=script, on_init_complete=script
        ),
        InstanceGroupSpec: of(
            InstanceGroupSpec,
            name=_choice("workers", "w", "group-2", "g" * 63),
            node_type=_choice("Controller", "Login", "Compute"),
            partition_names=st.just(["train"]),
            instance_type=types,
            instance_types=_some(types, 1, 3),
            instance_count=_choice(1, 2, 4, 16, 64),
            min_instance_count=_choice(0, 1, 2),
            threads_per_core=_choice(1, 2),
            training_plan_arn=plan,
            capacity_type=_choice("spot", "on-demand"),
            image_id=_choice("ami-0123456789abcdef0", "ami-01234567"),
            image_release_version=_choice("1.2.3", "1.10.0"),
            deep_health_checks=checks,
            secondary_volume_size_gib=_choice(0, 1, 200, 500, 16384),
            root_volume_kms_key_arn=key,
            secondary_volume_kms_key_arn=key,
            execution_role_arn=role,
            lifecycle_scripts=part(GroupLifecycleScriptsSpec),
            runs_lifecycle_scripts=st.booleans(),
            mounts_file_system=st.booleans(),
            lustre_mounts=st.lists(part(LustreMountSpec), min_size=1, max_size=1),
            open_zfs_mounts=st.lists(part(OpenZfsMountSpec), min_size=1, max_size=1),
            kubernetes_labels=st.dictionaries(_choice("example.com/team", "tier"), text, max_size=2),
            kubernetes_taints=st.lists(part(KubernetesTaintSpec), max_size=2),
            network_interface_type=_choice("efa", "efa-only"),
            override_subnet_ids=_some(SUBNETS, 1),
            override_security_group_ids=_some(SECURITY_GROUPS, 1),
            auto_patching=part(AutoPatchingSpec),
            scheduled_update=part(ScheduledUpdateSpec),
        ),
        KubernetesTaintSpec: of(
            KubernetesTaintSpec,
            key=_choice("example.com/spot", "slow"),
            value=text,
            effect=_choice("NoSchedule", "PreferNoSchedule", "NoExecute"),
        ),
        LifecycleScriptsSpec: of(
            LifecycleScriptsSpec,
            folder=st.just(SCRIPTS_FOLDER),
            entry_point=script,
            source_s3_uri=s3_uri,
            users_file=_choice("/fsx/users.csv", "/home/users.csv"),
            shared_folder=st.just("/fsx/hyperpod"),
            log_files=_choice({}, {"slurmd": "/var/log/slurm/slurmd.log"}),
        ),
        LustreMountSpec: of(
            LustreMountSpec,
            dns_name=file_system_name,
            mount_name=_choice("abcdefgh", "fsx"),
            mount_path=mount_path,
        ),
        MetricsSpec: of(
            MetricsSpec,
            job_figures=_choice(True, True, True, False),
            job_figures_image=st.none()
            if site.orchestrator == "slurm"
            else _choice(None, f"{ACCOUNT}.dkr.ecr.{where}.amazonaws.com/job-figures:1.0.0"),
            own_job_check=_choice(*[False] * 9, True),
            prometheus=st.booleans(),
            wait_alert_minutes=_choice(None, 1, 60, 240),
            preemption_alert_count=_choice(None, 1, 10),
            grafana_authentication=_some(_choice("AWS_SSO", "SAML"), 0, 2),
            container_insights=st.booleans(),
            recovery_records_folder=_choice("/fsx/checkpoints/recovery", "/data/recovery"),
        ),
        NetworkSpec: of(
            NetworkSpec,
            availability_zone_id=st.sampled_from(zones),
            vpc_cidr=_choice("10.0.0.0/16", "172.16.0.0/16", "100.64.0.0/17", "192.168.0.0/20"),
            accelerator_subnet_prefix_length=st.integers(17, 24),
            vpc_id=_choice("vpc-0123456789abcdef0", "vpc-01234567"),
            subnet_ids=_some(SUBNETS, 1),
            security_group_ids=_some(SECURITY_GROUPS, 1),
            http_egress=st.booleans(),
            isolated=st.booleans(),
            subnet_cidr=_choice("10.20.0.0/22", "10.0.0.0/17", "10.20.0.0/27"),
        ),
        ObservabilitySpec: of(
            ObservabilitySpec,
            emails=_some(_choice("oncall@example.com", "team+gpu@sub.example.org")),
            topic_arn=st.none() | st.just(f"arn:aws:sns:{where}:{ACCOUNT}:oncall"),
            log_retention_days=_choice(7, 30, 365),
            **{
                switch: st.booleans()
                for switch in (
                    "health_events",
                    "state_changes",
                    "cluster_events",
                    "health_detections",
                    "deep_health_failures",
                    "lifecycle_failures",
                    "failing_slots",
                    "crash_loops",
                    "dashboard",
                )
            },
        ),
        OpenZfsMountSpec: of(OpenZfsMountSpec, dns_name=file_system_name, mount_path=mount_path),
        ResilienceSpec: of(
            ResilienceSpec,
            spare_nodes=_choice(0, 1, 2),
            replacement_wait=_choice("tolerable", "avoid", "intolerable"),
            commissioned=st.booleans(),
        ),
        RestrictedEnvironmentSpec: of(
            RestrictedEnvironmentSpec,
            file_system=part(RestrictedFileSystemSpec),
            deletion_policy=_choice("DeleteIfNotUsed", "Keep"),
        ),
        RestrictedFileSystemSpec: of(
            RestrictedFileSystemSpec,
            storage_capacity_gib=_choice(1200, 2400, 4800),
            throughput_mbps_per_tib=_choice(125, 250, 500, 1000),
        ),
        RestrictedInstanceGroupSpec: of(
            RestrictedInstanceGroupSpec,
            name=_choice("nova", "nova-2"),
            instance_type=_choice("ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.g5.12xlarge"),
            instance_count=_choice(1, 2, 4),
            execution_role_arn=role,
            threads_per_core=_choice(1, 2),
            training_plan_arn=plan,
            deep_health_checks=checks,
            secondary_volume_size_gib=_choice(1, 400),
            lustre_mounts=st.lists(part(LustreMountSpec), min_size=1, max_size=1),
            open_zfs_mounts=st.lists(part(OpenZfsMountSpec), min_size=1, max_size=1),
            override_subnet_ids=_some(SUBNETS, 1),
            override_security_group_ids=_some(SECURITY_GROUPS, 1),
            file_system=part(RestrictedFileSystemSpec),
        ),
        ScheduledUpdateSpec: of(
            ScheduledUpdateSpec,
            schedule_expression=_choice("cron(0 3 ? * SUN *)", "cron(30 1 1 * ? *)"),
            deployment=deployment,
        ),
        SlurmSpec: of(
            SlurmSpec,
            mode=_choice("api", "lifecycle"),
            strategy=_choice("Overwrite", "Managed", "Merge"),
            accounting_database=part(AccountingDatabaseSpec),
            accounting=st.booleans(),
            settings=_choice({}, {"KillWait": "60"}, {"SchedulerParameters": "bf_continue,defer"}),
        ),
        TaskGovernanceSpec: of(
            TaskGovernanceSpec,
            teams=st.lists(part(TeamQuotaSpec), min_size=1, max_size=2, unique_by=lambda team: team["team"]),
            priority_classes=st.dictionaries(
                _choice("training", "inference", "a"), st.integers(0, 100), max_size=2
            ),
            fair_share=st.just(True),
            idle_resource_sharing=st.booleans(),
            add_on=st.booleans(),
        ),
        TeamQuotaSpec: of(
            TeamQuotaSpec,
            team=_choice("research", "product", "a", "t" * 40),
            instances=st.dictionaries(types, st.integers(0, 4), min_size=1, max_size=2),
            fair_share_weight=st.integers(0, 100),
            strategy=_choice("LendAndBorrow", None),
            borrow_limit_percent=st.integers(1, 500),
            preempt_own_tasks=_choice("LowerPriority", "Never"),
        ),
        TieredCheckpointingSpec: of(
            TieredCheckpointingSpec,
            enabled=st.booleans(),
            memory_percentage=_choice(20, 30, 100),
            s3_interval_steps=_choice(1, 500),
        ),
        TrainingPodsSpec: of(
            TrainingPodsSpec,
            namespace=_choice("kubeflow", "hyperpod-finetune", "default"),
            service_account=_choice("trainer", "a.b"),
            identity=_choice("pod-identity", "irsa"),
            apply_platform_chart=st.booleans(),
            issuer=st.just(f"oidc.eks.{where}.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"),
        ),
    }


def happens(draw: DrawFn, percent: int) -> bool:
    """Whether something with a chance of so many percent happens; not, in the simplest example."""
    return draw(st.integers(0, 99)) >= 100 - percent


@st.composite
def record(
    draw: DrawFn,
    site: Site,
    model: type[SpecModel],
    *,
    chance: int,
    said: Mapping[str, Any] = {},
    always: tuple[str, ...] = (),
    never: tuple[str, ...] = (),
) -> Document:
    """A document for a model: what is required, what is said, and of the rest what chance brings."""
    made = {}
    for name, field in model.model_fields.items():
        if name in said:
            made[name] = said[name]
            continue
        needed = field.is_required() or name in always
        if needed or (name not in never and happens(draw, chance)):
            made[name] = draw(values(site)[model][name])
    return made


_SLURM_ONLY = ("node_type", "partition_names", "mounts_file_system", "lustre_mounts", "open_zfs_mounts")
_EKS_ONLY = (
    "image_release_version",
    "kubernetes_labels",
    "kubernetes_taints",
    "auto_patching",
    "scheduled_update",
    "capacity_type",
    "instance_types",
)
_BY_SCRIPTS = ("accounting", "settings")
_EKS_ONLY_OF_CLUSTERS = (
    "eks",
    "restricted_instance_groups",
    "restricted_environment",
    "training_pods",
    "tiered_checkpointing",
    "checkpointless",
    "auto_scaling",
    "task_governance",
)
_MADE_ONLY = (
    "vpc_cidr",
    "accelerator_subnet_prefix_length",
    "isolated",
    "http_egress",
    "availability_zone_id",
)
_ROOM = {"vpc_cidr": "10.0.0.0/16", "accelerator_subnet_prefix_length": 17}


@st.composite
def documents(draw: DrawFn) -> Document:
    """Specifications most of which are legal."""
    site = Site(
        region=draw(_choice(*REGIONS[:3], *REGIONS)),
        orchestrator=draw(_choice("slurm", "eks")),
        network=draw(_choice("made", "existing", "isolated", "made")),
        control_plane=draw(_choice("made", "existing")),
    )
    said: Document = {
        "orchestrator": site.orchestrator,
        "network": _network(draw, site),
        "resilience": draw(record(site, ResilienceSpec, chance=30)),
    }
    on_eks = site.orchestrator == "eks"
    lifecycle = not on_eks and happens(draw, 20)
    if on_eks:
        said["eks"] = _eks(draw, site)
        said["instance_groups"] = _eks_groups(draw, site)
        said["restricted_instance_groups"] = _restricted_groups(draw, site) if happens(draw, 40) else []
        if happens(draw, 40):
            said["tiered_checkpointing"] = _tiers(draw, site)
        if happens(draw, 30):
            said["checkpointless"] = draw(values(site)[ClusterSpec]["checkpointless"])
        if happens(draw, 80):
            said["training_pods"] = _training_pods(draw, site)
        if happens(draw, 30):
            said["task_governance"] = _governance(draw, site, said["instance_groups"])
    else:
        scripted = lifecycle and happens(draw, 50)
        said["instance_groups"] = _slurm_groups(draw, site, lifecycle=lifecycle, scripted=scripted)
        if scripted:
            never = ("strategy", "accounting_database")
            said["slurm"] = draw(record(site, SlurmSpec, chance=50, said={"mode": "lifecycle"}, never=never))
            said["node_provisioning_mode"] = None
            never = ("folder", "entry_point", "source_s3_uri")
            said["lifecycle_scripts"] = draw(record(site, LifecycleScriptsSpec, chance=50, never=never))
        elif lifecycle:
            said["slurm"] = {"mode": "lifecycle"}
            said["node_provisioning_mode"] = None
            said["lifecycle_scripts"] = draw(
                _choice({"folder": SCRIPTS_FOLDER}, {"source_s3_uri": "s3://sagemaker-a/b"})
            )
        else:
            said["slurm"] = draw(
                record(site, SlurmSpec, chance=30, said={"mode": "api"}, never=("strategy", *_BY_SCRIPTS))
            )
    if not happens(draw, 20):
        own = {"folder": SCRIPTS_FOLDER, "entry_point": "main.sh"}
        said.setdefault("lifecycle_scripts", draw(_choice({}, own, {"folder": SCRIPTS_FOLDER}, None)))
    if happens(draw, 40):
        said["file_system"] = _file_system(draw, site)
    never = ("slurm",) if on_eks else _EKS_ONLY_OF_CLUSTERS
    never += ("node_provisioning_mode", "tiered_checkpointing", "checkpointless", "task_governance")
    made = draw(record(site, ClusterSpec, chance=25, said=said, never=never))
    if happens(draw, 5):
        made["region"] = None
    types = {group.get("instance_type") for group in made["instance_groups"]}
    if UNLISTED in types:
        made["unlisted_instance_types"] = [UNLISTED]
    return made


def _network(draw: DrawFn, site: Site) -> Document:
    if site.network == "existing" or (site.orchestrator == "eks" and site.control_plane == "existing"):
        return draw(record(site, NetworkSpec, chance=50, always=("vpc_id", "subnet_ids"), never=_MADE_ONLY))
    said: Document = {} if happens(draw, 30) else dict(_ROOM)
    never = ("vpc_id", "subnet_ids", "security_group_ids", "subnet_cidr", "isolated")
    if site.network == "isolated":
        said["isolated"] = True
        never += ("http_egress",)
    zone = ("availability_zone_id",)
    return draw(record(site, NetworkSpec, chance=30, said=said, always=zone, never=never))


def _eks(draw: DrawFn, site: Site) -> Document:
    always: tuple[str, ...]
    if site.control_plane == "existing":
        chart: Document = {"installed": True}
        always = ("cluster_arn",)
        if happens(draw, 50):
            chart = _chart(draw, site)
            always += EXISTING_EKS_ONLY
        said = {"dependency_chart": chart}
        return draw(record(site, EksSpec, chance=40, said=said, always=always, never=MAKES_EKS_ONLY))
    said = {"dependency_chart": _chart(draw, site)}
    places = ("control_plane_availability_zone_ids", "control_plane_subnet_ids")
    always = places[1:] if site.network == "existing" else places[:1]
    never = ("cluster_arn", *EXISTING_EKS_ONLY, *places)
    return draw(record(site, EksSpec, chance=40, said=said, always=always, never=never))


def _chart(draw: DrawFn, site: Site) -> Document:
    if happens(draw, 40):
        return {"folder": CHART_FOLDER}
    return draw(record(site, DependencyChartSpec, chance=0, always=("oci_uri", "version")))


def _governance(draw: DrawFn, site: Site, groups: list[Document]) -> Document:
    """Quotas that the groups of a cluster can keep: half of each type for each team."""
    said = draw(values(site)[ClusterSpec]["task_governance"])
    there: dict[str, int] = {}
    for group in groups:
        for name in group.get("instance_types") or [group.get("instance_type")]:
            if name is not None:
                there[name] = there.get(name, 0) + group["instance_count"]
    if there:
        said["teams"] = [
            team | {"instances": {name: count // 2 for name, count in there.items()}}
            for team in said["teams"]
        ]
    return said


def _training_pods(draw: DrawFn, site: Site) -> Document:
    identity = draw(_choice("pod-identity", "irsa"))
    needs_issuer = identity == "irsa" and site.control_plane == "existing"
    return draw(
        record(
            site,
            TrainingPodsSpec,
            chance=0,
            said={"identity": identity},
            always=("issuer",) if needs_issuer else (),
        )
    )


def _restricted_groups(draw: DrawFn, site: Site) -> list[Document]:
    groups = []
    for index in range(draw(st.integers(1, 2))):
        said = {"name": f"nova-{index}", "instance_type": "ml.p5.48xlarge"}
        made = draw(record(site, RestrictedInstanceGroupSpec, chance=25, said=said))
        _complete_overrides(made)
        groups.append(made)
    return groups


def _tiers(draw: DrawFn, site: Site) -> Document:
    if happens(draw, 20):
        return {"enabled": False}
    both = ("memory_percentage", "s3_interval_steps")
    return draw(record(site, TieredCheckpointingSpec, chance=0, always=both))


def _complete_overrides(group: Document) -> None:
    if ("override_subnet_ids" in group) != ("override_security_group_ids" in group):
        group["override_subnet_ids"] = ["subnet-0123456789abcdef0"]
        group["override_security_group_ids"] = ["sg-0123456789abcdef0"]


def _file_system(draw: DrawFn, site: Site) -> Document:
    made = draw(record(site, FileSystemSpec, chance=40, never=("data_repository", "efa_enabled")))
    if happens(draw, 30):
        made |= {"efa_enabled": True, "storage_capacity_gib": 38400, "throughput_mbps_per_tib": 125}
    if happens(draw, 40):
        made["data_repository"] = draw(values(site)[FileSystemSpec]["data_repository"])
        made["removal"] = "retain"
        if made["data_repository"].get("export_events") and happens(draw, 70):
            made["data_repository"]["bucket_name"] = "my-corpus"
            made["data_repository"].pop("export_makes_fsx_users_writers", None)
    return made


def _slurm_groups(draw: DrawFn, site: Site, *, lifecycle: bool, scripted: bool) -> list[Document]:
    groups = []
    kinds = ["Controller", *(["Login"] if happens(draw, 40) else []), *["Compute"] * draw(st.integers(1, 2))]
    for index, kind in enumerate(kinds):
        said: Document = {"name": f"{kind.lower()}-{index}"}
        never = (*_EKS_ONLY, "lifecycle_scripts")
        if lifecycle:
            never += (
                "node_type",
                "partition_names",
                "min_instance_count",
                "root_volume_kms_key_arn",
                "secondary_volume_kms_key_arn",
                "lustre_mounts",
                "open_zfs_mounts",
                "mounts_file_system",
            )
        if scripted:
            never += ("runs_lifecycle_scripts",)
        if scripted or not lifecycle:
            said["node_type"] = kind
            if kind == "Compute":
                said["partition_names"] = ["train"]
        if kind != "Compute":
            said |= {"instance_type": "ml.m5.2xlarge", "instance_count": 1}
            never += ("deep_health_checks", "network_interface_type", "partition_names", "training_plan_arn")
        groups.append(_group(draw, site, said, never))
    return groups


def _eks_groups(draw: DrawFn, site: Site) -> list[Document]:
    return [
        _group(draw, site, {"name": f"workers-{index}"}, (*_SLURM_ONLY, "lifecycle_scripts"))
        for index in range(draw(st.integers(1, 3)))
    ]


def _group(draw: DrawFn, site: Site, said: Document, never: tuple[str, ...]) -> Document:
    flexible = "instance_types" not in never and "instance_type" not in said and happens(draw, 20)
    always = ("instance_types",) if flexible else ("instance_type",)
    made = draw(
        record(
            site,
            InstanceGroupSpec,
            chance=10,
            said=said,
            always=always,
            never=(*never, "instance_type" if flexible else "instance_types"),
        )
    )
    if (
        made.get("instance_type") in instance_types()
        and happens(draw, 5)
        and "deep_health_checks" not in made
    ):
        made["instance_type"] = UNLISTED
    _complete_overrides(made)
    if "secondary_volume_kms_key_arn" in made:
        made["secondary_volume_size_gib"] = 200
    if made.get("kubernetes_taints"):
        made["deep_health_checks"] = []
    if happens(draw, 5) and "lifecycle_scripts" not in made:
        made["lifecycle_scripts"] = draw(values(site)[InstanceGroupSpec]["lifecycle_scripts"])
    return made


def _near(value: Any) -> SearchStrategy[Any]:
    """Values a slip away."""
    if isinstance(value, bool):
        return _choice(not value, str(value), None, int(value))
    if isinstance(value, int):
        return _choice(value + 1, value - 1, -1, 0, value * 1000, 2**31, str(value), float(value), None)
    if isinstance(value, str):
        return _choice(
            "",
            " ",
            value + " ",
            value.upper(),
            value[:-1],
            value[1:],
            value + "x",
            value * 40,
            value.replace("aws:", "aws-cn:", 1),
            value.replace(ACCOUNT, "444455556666"),
            value.replace("west", "east"),
            value.replace("-", "_"),
            value + "\n",
            "é" + value,
            "${AWS::Region}",
            "{{resolve:ssm:/a}}",
            "/" + value,
            "../" + value,
            None,
            1,
        )
    if isinstance(value, list):
        longer: list[Any] = [*value, *value]
        return _choice([], longer, value[:1], value * 30, value[0] if value else None, [*value, None], None)
    return _choice({}, [], None, {"unknown": 1}, "text", [value])


def _places(value: Any, at: Place = ()) -> Iterator[Place]:
    entries: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, member in entries:
        yield (*at, step)
        yield from _places(member, (*at, step))


def _models(value: Any, model: type[SpecModel], at: Place = ()) -> Iterator[tuple[Place, type[SpecModel]]]:
    """The parts of a document that a model describes."""
    if not isinstance(value, dict):
        return
    yield at, model
    for name, member in value.items():
        part = PARTS.get((model, name))
        if part is None:
            continue
        for step, item in enumerate(member) if isinstance(member, list) else [(None, member)]:
            yield from _models(item, part, (*at, name) if step is None else (*at, name, step))


def parts_of(model: type[SpecModel]) -> Iterator[tuple[str, type[SpecModel]]]:
    """The models that the fields of a model hold."""
    for name, field in model.model_fields.items():
        waiting = [field.annotation]
        while waiting:
            kind = waiting.pop()
            if isinstance(kind, type) and issubclass(kind, SpecModel):
                yield name, kind
            waiting += getattr(kind, "__args__", ())


def all_models(model: type[SpecModel]) -> Iterator[type[SpecModel]]:
    """The model and all that are in it, some more than once."""
    yield model
    for _, part in parts_of(model):
        yield from all_models(part)


PARTS = {(model, name): part for model in set(all_models(ClusterSpec)) for name, part in parts_of(model)}


def _change(draw: DrawFn, document: Document) -> None:
    if happens(draw, 50):
        _say_more(draw, document)
        return
    place = draw(st.sampled_from(list(_places(document))))
    parent: Any = document
    for step in place[:-1]:
        parent = parent[step]
    if happens(draw, 25):
        del parent[place[-1]]
    else:
        parent[place[-1]] = draw(_near(parent[place[-1]]))


def _say_more(draw: DrawFn, document: Document) -> None:
    """Say one field, whether or not it goes with the others."""
    site = Site(draw(st.sampled_from(REGIONS[:2])), "eks", "made", "made")
    place, model = draw(st.sampled_from(list(_models(document, ClusterSpec))))
    part: Any = document
    for step in place:
        part = part[step]
    name = draw(st.sampled_from(list(model.model_fields)))
    part[name] = draw(values(site)[model][name])


@st.composite
def changed_documents(draw: DrawFn) -> Document:
    """Specifications with up to two places changed."""
    made: Document = copy.deepcopy(draw(documents()))
    for _ in range(draw(_choice(0, 0, 1, 1, 2))):
        if made:
            _change(draw, made)
    return made


def with_folders(document: Any, folders: Callable[[str], str]) -> Any:
    """The document with folders in place of what stands for them."""
    if isinstance(document, dict):
        return {key: with_folders(value, folders) for key, value in document.items()}
    if isinstance(document, list):
        return [with_folders(value, folders) for value in document]
    return folders(document) if isinstance(document, str) else document
