"""Limits beyond those of a request's fields, which the catalog's ``cluster_request`` has."""

from __future__ import annotations

from typing import Any

from hyperpod_model.catalog._tables import fact, frozen, table
from hyperpod_model.catalog.fact import Fact

_TABLE = table("limits")
_LIMITS = _TABLE["limits"]


def _fact(name: str, what: str) -> Fact[Any]:
    return fact(what, _LIMITS[name], _TABLE)


MAX_INSTANCE_GROUPS: Fact[int] = _fact("instance_groups", "most instance groups of a cluster")
"""Sources disagree: :attr:`Fact.claims` has each with its date. More than the largest is surely refused."""


MAX_LIFECYCLE_SCRIPT_BYTES: Fact[int | None] = _fact(
    "lifecycle_script_bytes", "most bytes of lifecycle scripts"
)
LIFECYCLE_SCRIPT_TIMEOUT_MINUTES: Fact[int | None] = _fact(
    "lifecycle_script_timeout_minutes", "minutes until a lifecycle script times out"
)
INSTANCES_OF_A_CLUSTER_QUOTA: Fact[int | None] = _fact(
    "instances_of_a_cluster_quota", "default quota of instances in a cluster"
)
INSTANCES_OF_AN_ACCOUNT_QUOTA: Fact[int | None] = _fact(
    "instances_of_an_account_quota", "default quota of instances in all clusters"
)

MIN_INSTANCE_COUNT_TIMEOUT_HOURS: int = _LIMITS["min_instance_count_timeout_hours"]
STACK_HANDLER_TIMEOUT_MINUTES: int = _LIMITS["stack_handler_timeout_minutes"]
"""How long CloudFormation waits for a cluster to be created or updated."""

MAX_BATCH_ADD_GROUPS: int = _LIMITS["batch_add_groups"]
MAX_BATCH_ADD_NODES: int = _LIMITS["batch_add_nodes"]
MAX_BATCH_REPAIR_NODES: int = _LIMITS["batch_repair_nodes"]

TIERED_MEMORY_PERCENTAGE: Fact[tuple[int, int]] = _fact(
    "tiered_memory_percentage", "memory percentage for tiered checkpointing, least and most"
)
"""Certain: the schemas allow less than the documented 20, the service does not promise to work with it."""

MAX_COMPUTE_QUOTA_RESOURCES: int = _LIMITS["compute_quota_resources"]
MAX_PRIORITY_CLASSES: int = _LIMITS["priority_classes"]

SUBNET_PREFIX_LENGTHS: tuple[int, int] = frozen(_LIMITS["subnet_prefix_lengths"])
"""Shortest and longest IPv4 prefix of a subnet or VPC."""

RESERVED_SUBNET_ADDRESSES: int = _LIMITS["reserved_subnet_addresses"]
"""IPv4 addresses that AWS keeps in every subnet."""

MAX_SECURITY_GROUP_RULES: int = _LIMITS["security_group_rules"]
"""Default quota of rules of a security group, each direction."""

MAX_NETWORK_ACL_RULES: int = _LIMITS["network_acl_rules"]
"""Default quota of rules of a network ACL, each direction."""

MAX_BUCKET_POLICY_BYTES: int = _LIMITS["bucket_policy_bytes"]
MAX_MANAGED_POLICY_CHARACTERS: int = _LIMITS["managed_policy_characters"]
MAX_MANAGED_POLICIES_OF_A_ROLE: int = _LIMITS["managed_policies_of_a_role"]

INSTANCES_OF_A_CLUSTER_QUOTA_NAME: str = _TABLE["quotas"]["instances_of_a_cluster"]
INSTANCES_OF_AN_ACCOUNT_QUOTA_NAME: str = _TABLE["quotas"]["instances_of_an_account"]
EBS_VOLUME_GB_QUOTA_NAME: str = _TABLE["quotas"]["ebs_volume_gb"]
SPOT_INSTANCES_QUOTA_NAME: str = _TABLE["quotas"]["spot_instances_of_an_account"]["value"]
NETWORK_INTERFACES_QUOTA_CODE: str = _TABLE["quotas"]["network_interfaces_code"]


def instance_type_quota_name(instance_type: str) -> str:
    """Name of the service quota for instances of one type in clusters.

    Args:
        instance_type: Such as ``ml.p5.48xlarge``.
    """
    template: str = _TABLE["quotas"]["instance_type"]
    return template.format(instance_type=instance_type)


def spot_instance_type_quota_name(instance_type: str) -> str:
    """Name of the service quota for spare instances of one type in clusters.

    Args:
        instance_type: Such as ``ml.p5.48xlarge``.
    """
    template: str = _TABLE["quotas"]["spot_instance_type"]["value"]
    return template.format(instance_type=instance_type)
