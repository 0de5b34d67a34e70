"""Arguments of the wrong kind, such as an ARN where a role is meant, refused in words.

Python and jsii find these late, with messages that name neither the argument nor the way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import getattr_static
from typing import Any, NamedTuple

from aws_cdk import Token

from hyperpod_model.faults import Fault, FaultPath

_MISSING = object()


class Kind(NamedTuple):
    """What an argument has to be.

    Attributes:
        member: Member that every such object has and no text.
        words: The kind for people, with the way to get one.
    """

    member: str
    words: str


ROLE = Kind("role_arn", "a role, such as iam.Role.from_role_arn(...)")
KEY = Kind("key_arn", "a KMS key, such as kms.Key.from_key_arn(...)")
VPC = Kind("vpc_id", "a VPC, such as ec2.Vpc.from_vpc_attributes(...)")
SUBNET = Kind("subnet_id", "a subnet, such as ec2.Subnet.from_subnet_id(...)")
SECURITY_GROUP = Kind(
    "security_group_id", "a security group, such as ec2.SecurityGroup.from_security_group_id(...)"
)
BUCKET = Kind("bucket_arn", "a bucket, such as s3.Bucket.from_bucket_name(...)")
REPOSITORY = Kind("repository_arn", "an ECR repository, such as ecr.Repository.from_repository_name(...)")
EKS_CLUSTER = Kind("cluster_arn", "an EKS cluster, such as EksControlPlane.from_existing(...)")
SCRIPTS = Kind("source_s3_uri", "lifecycle scripts, such as LifecycleScripts.from_s3_uri(...)")
READABLE_SCRIPTS = Kind("grant_read", "lifecycle scripts, such as LifecycleScripts.from_s3_uri(...)")
CHECKPOINTS = Kind("grant_checkpointing", "a CheckpointBucket, such as CheckpointBucket.from_bucket(...)")
FILE_SYSTEM = Kind("mount_name", "a LustreFileSystem")
NETWORK = Kind("accelerator_subnet", "a ClusterNetwork, such as ClusterNetwork.from_existing(...)")
GROUP = Kind("slurm_node_type", "an InstanceGroup(...)")
ORCHESTRATOR = Kind("takes_node_types", "an Orchestrator, such as Orchestrator.slurm()")
ALARM = Kind("alarm_arn", "an alarm, such as cloudwatch.Alarm.from_alarm_arn(...)")
TOPIC = Kind("topic_arn", "an SNS topic, such as sns.Topic.from_topic_arn(...)")
NOTICES = Kind("admit_alarms", "a NoticeTopic(...), such as ClusterObservability(...).notices")
LOG_GROUP = Kind("log_group_arn", "a log group, such as logs.LogGroup.from_log_group_name(...)")
CLUSTER = Kind("log_group_name", "a HyperPodCluster, such as HyperPodCluster.from_cluster_attributes(...)")
TEAM_QUOTA = Kind("preempt_own_tasks", "a TeamQuota(...)")
SECRET = Kind("secret_arn", "a secret, such as secretsmanager.Secret.from_secret_complete_arn(...)")
BATCH_SIZE = Kind("percentage", "a BatchSize, such as BatchSize.instances(1)")
DEPLOYMENT = Kind("maximum_batch_size", "a Deployment(...)")
AUTO_PATCHING = Kind("strategy", "an AutoPatching(...)")
SCHEDULED_UPDATE = Kind("schedule_expression", "a ScheduledUpdate(...)")
TAINT = Kind("effect", "a KubernetesTaint(...)")
LUSTRE_MOUNT = Kind("mount_name", "a LustreMount(...)")
OPEN_ZFS_MOUNT = Kind("mount_path", "an OpenZfsMount(...)")
RESTRICTED_GROUP = Kind("file_system", "a RestrictedInstanceGroup(...)")
RESTRICTED_FILE_SYSTEM = Kind("throughput_mbps_per_tib", "a RestrictedFileSystem(...)")
RESTRICTED_ENVIRONMENT = Kind("deletion_policy", "a RestrictedEnvironment(...)")
ACCOUNTING_DATABASE = Kind("database_name", "an AccountingDatabase(...)")
AUTO_SCALING = Kind("mode", "an AutoScaling(...)")
TIERED_CHECKPOINTING = Kind("to_request", "a TieredCheckpointing(...)")
TRAINING_PODS = Kind("service_account", "a TrainingPodRole(...)")
RESILIENCE = Kind("replacement_wait", "a ResiliencePolicy(...)")


def check_kind(value: Any, kind: Kind, path: FaultPath, *, required: bool = False) -> list[Fault]:
    """Check that a value is of a kind.

    Args:
        value: The argument.
        kind: What it has to be.
        path: Where it stands.
        required: Whether ``None`` is refused too. By default it passes.
    """
    if value is None and not required:
        return []
    # First without reading the member, which may have effects; jsii's proxies of interfaces know theirs only
    # when asked.
    if getattr_static(value, kind.member, _MISSING) is not _MISSING or hasattr(value, kind.member):
        return []
    return [Fault(path, f"must be {kind.words}, got {_shown(value)}")]


def check_kinds(values: Any, kind: Kind, path: FaultPath, *, required: bool = False) -> list[Fault]:
    """Check that a value is a list of a kind.

    Args:
        values: The argument.
        kind: What each item has to be.
        path: Where it stands.
        required: Whether ``None`` is refused too. By default it passes.
    """
    if values is None and not required:
        return []
    if not isinstance(values, (list, tuple)):
        way_out = "" if check_kind(values, kind, path, required=True) else "; put it in brackets"
        return [Fault(path, f"must be a list, got {_shown(values)}{way_out}")]
    return [
        fault
        for index, value in enumerate(values)
        for fault in check_kind(value, kind, (*path, index), required=True)
    ]


def check_list(value: Any, path: FaultPath, *, of: str) -> list[Fault]:
    """Check that a value is a list whose length is known at synthesis.

    Args:
        value: The argument.
        path: Where it stands.
        of: What the items are, such as ``e-mail addresses``.
    """
    if not isinstance(value, (list, tuple)):
        way_out = "; put it in brackets" if isinstance(value, (str, int, float)) else ""
        return [Fault(path, f"must be a list of {of}, got {_shown(value)}{way_out}")]
    # The CDK puts a list that is a Token into a list of one text.
    if len(value) == 1 and isinstance(value[0], str) and Token.is_unresolved([value[0]]):
        return [
            Fault(
                path,
                f"must be a list of {of} whose length is known at synthesis, got a list that is known only "
                "at deployment; name each item, such as Fn.select(0, parameter.value_as_list)",
            )
        ]
    return []


def check_mapping(value: Any, path: FaultPath, *, of: str) -> list[Fault]:
    """Check that a value is a mapping.

    Args:
        value: The argument.
        path: Where it stands.
        of: What it holds, such as ``numbers by instance type``.
    """
    return (
        [] if isinstance(value, Mapping) else [Fault(path, f"must be a mapping, {of}, got {_shown(value)}")]
    )


def check_switch(value: Any, path: FaultPath, *, optional: bool = False) -> list[Fault]:
    """Check that a value is ``True`` or ``False``: what is made depends on it, so that no Token can say it.

    Args:
        value: The argument.
        path: Where it stands.
        optional: Whether ``None`` passes.
    """
    if isinstance(value, bool) or (optional and value is None):
        return []
    token = Token.is_unresolved(value) if isinstance(value, (str, int, float)) else False
    got = "a Token, which is known only at deployment" if token else _shown(value)
    return [Fault(path, f"must be True or False, got {got}; decide at synthesis, such as by a context value")]


def _shown(value: Any) -> str:
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, (list, tuple)) else f"an object of {type(value).__name__}"
