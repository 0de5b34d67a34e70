"""What the documentation says of clusters beyond the service's model: counts, reserved names, defaults."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError

Orchestrator = Literal["slurm", "eks"]


@cache
def rule(name: str) -> Fact[Any]:
    """Return one rule with its source.

    Args:
        name: Key of the table, such as ``reserved_partitions``.

    Raises:
        UnknownNameError: If the table has no such rule.
    """
    owner = table("cluster_rules")
    if name not in owner["rules"]:
        raise UnknownNameError("cluster rule", name, owner["rules"])
    return fact(name.replace("_", " "), owner["rules"][name], owner)


def controller_instance_count() -> int:
    """Return the number of instances of the Slurm controller group."""
    return int(rule("controller_instance_count").value)


def max_groups_of(node_type: Literal["Controller", "Login"]) -> int:
    """Return how many groups of a Slurm node type a cluster may have."""
    return int(rule(f"max_{node_type.lower()}_groups").value)


def partitions_per_compute_group() -> int:
    """Return the number of partitions that a Slurm compute group names."""
    return int(rule("partitions_per_compute_group").value)


def reserved_partitions() -> Mapping[str, str]:
    """Return partition names (lower case) that are taken, each with the reason."""
    names: Mapping[str, str] = rule("reserved_partitions").value
    return names


def deep_health_check_accelerators(orchestrator: Orchestrator) -> tuple[str, ...]:
    """Return the kinds of accelerator that deep health checks can test under an orchestrator."""
    return tuple(rule("deep_health_check_accelerators").value[orchestrator])


def deep_health_check_hours() -> int:
    """Return about how many hours the deep health checks of an instance take."""
    return int(rule("deep_health_check_hours").value)


def max_storage_volumes_of_a_kind() -> int:
    """Return how many root volumes, secondary volumes, and file systems of a kind a group may have."""
    return int(rule("max_storage_volumes_of_a_kind").value)


def secondary_volume_mount_path() -> str:
    """Return where HyperPod mounts the secondary EBS volume."""
    return str(rule("secondary_volume_mount_path").value)


def default_mount_path(kind: Literal["FsxLustreConfig", "FsxOpenZfsConfig"]) -> str:
    """Return where HyperPod mounts a file system whose mount path is not given."""
    return str(rule("default_mount_paths").value[kind])


def replacement_waits() -> tuple[str, ...]:
    """Return what the wait for a checked replacement node can mean to a user."""
    return tuple(rule("replacement_waits").value)


def describe_actions() -> tuple[str, ...]:
    """Return the IAM actions that read one cluster and its nodes."""
    return tuple(rule("describe_actions").value)


def max_batch_percentage() -> int:
    """Return the greatest share of a group's instances that a batch can be, in percent."""
    return int(rule("max_batch_percentage").value)


def max_label_name_length() -> int:
    """Return the greatest length of the name in a Kubernetes label key, without its prefix."""
    return int(rule("kubernetes_name_lengths").value["name"])


def max_label_prefix_length() -> int:
    """Return the greatest length of the prefix of a Kubernetes label key, without the slash."""
    return int(rule("kubernetes_name_lengths").value["prefix"])


def own_label_prefix() -> str:
    """Return the prefix of the labels and taints that HyperPod itself puts on nodes."""
    return str(rule("own_label_prefix").value)


def autoscaled_instance_count() -> int:
    """Return the number of instances with which a group that Karpenter scales begins."""
    return int(rule("autoscaled_instance_count").value)


def autoscaling_node_recovery() -> str:
    """Return the ``NodeRecovery`` that autoscaling asks for."""
    return str(rule("autoscaling_node_recovery").value)


def accounting_database_names() -> Mapping[str, str]:
    """Return the schema name that each source documents where a request names none."""
    names: Mapping[str, str] = rule("accounting_database_names").value
    return names


def rollback_alarm_action() -> str:
    """Return the IAM action that nodes' roles need where alarms roll updates back."""
    return str(rule("rollback_alarm_action").value)


def training_operator_tag() -> Mapping[str, str]:
    """Return ``key`` and ``value`` of the tag that lets ``add_on``, the training operator, read a cluster."""
    tag: Mapping[str, str] = rule("training_operator_tag").value
    return tag
