"""Managed tiered checkpointing: its values, and nodes that reach each other's memory."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_requests import changed, eks_request, group

from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.tiered_storage import check_tiered_checkpointing, check_tiered_storage
from hyperpod_model.faults import UNKNOWN

WORKERS = ("InstanceGroups", 0)
OTHER = {"Subnets": ["subnet-0123456789abcdef1"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
SAME = {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}


@pytest.mark.parametrize(
    ("percentage", "steps", "expected"),
    [
        (20, 1, []),
        (100, 500, []),
        (UNKNOWN, UNKNOWN, []),
        (19, 1, ["memory_percentage: must be 20 to 100, a whole percentage of each node's memory, got 19"]),
        (101, 1, ["memory_percentage: must be 20 to 100, a whole percentage of each node's memory, got 101"]),
        (
            True,
            1,
            ["memory_percentage: must be 20 to 100, a whole percentage of each node's memory, got True"],
        ),
        (
            None,
            1,
            [
                "memory_percentage: is required, 20 to 100: what the service takes by default is "
                "undocumented, and pods can ask only for the memory that is left"
            ],
        ),
        (
            20,
            None,
            [
                "s3_interval_steps: is required: the memory tier does not outlive a stop of the whole "
                "cluster, so every so many steps a checkpoint has to go to the bucket"
            ],
        ),
        (20, 0, ["s3_interval_steps: must be 1 or more steps, got 0"]),
        (20, "often", ["s3_interval_steps: must be 1 or more steps, got 'often'"]),
    ],
)
def test_values(percentage: Any, steps: Any, expected: list[str]) -> None:
    faults = check_tiered_checkpointing(memory_percentage=percentage, s3_interval_steps=steps)
    assert [str(fault) for fault in faults] == expected


def second_group(**members: Any) -> tuple[Any, ...]:
    return ("InstanceGroups", 1, group("more", "ml.p5.48xlarge", 2, **members))


ONE_SUBNET: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("one group", []),
    ("two groups", [second_group()]),
    ("the same subnet said again", [second_group(OverrideVpcConfig=SAME)]),
    ("all groups elsewhere together", [(*WORKERS, "OverrideVpcConfig", OTHER)]),
    (
        "a CPU group elsewhere",
        [("InstanceGroups", 1, group("cpu", "ml.m5.xlarge", 1, OverrideVpcConfig=OTHER))],
    ),
    ("subnets known only at deployment", [("VpcConfig", "Subnets", UNKNOWN), second_group()]),
    ("an override known only at deployment", [second_group(OverrideVpcConfig=UNKNOWN)]),
    ("a type nobody knows", [second_group(OverrideVpcConfig=OTHER, InstanceType="ml.p9.48xlarge")]),
    ("off", [("TieredStorageConfig", {"Mode": "Disable"}), second_group(OverrideVpcConfig=OTHER)]),
    ("not asked for", [("TieredStorageConfig", None), second_group(OverrideVpcConfig=OTHER)]),
    (
        "a mode known only at deployment",
        [("TieredStorageConfig", UNKNOWN), second_group(OverrideVpcConfig=OTHER)],
    ),
]


@pytest.mark.parametrize("changes", [case[1] for case in ONE_SUBNET], ids=[case[0] for case in ONE_SUBNET])
def test_groups_of_one_subnet(changes: list[tuple[Any, ...]]) -> None:
    assert check_tiered_storage(changed(eks_request(), *changes)) == []


def test_groups_of_two_subnets() -> None:
    request = changed(eks_request(), second_group(OverrideVpcConfig=OTHER))
    (fault,) = check_tiered_storage(request)
    assert fault.path == ("InstanceGroups", 1, "OverrideVpcConfig")
    assert fault.message.startswith(
        "must be the one subnet that all accelerated groups share where tiered checkpointing is on, got "
        "'subnet-0123456789abcdef0', 'subnet-0123456789abcdef1' for 'workers', 'more': nodes keep copies"
    )
    assert fault in check_cluster(request)


def test_two_subnets_of_the_cluster() -> None:
    request = changed(
        eks_request(), ("VpcConfig", "Subnets", ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"])
    )
    (fault,) = check_tiered_storage(request)
    assert fault.path == ("VpcConfig",)
    assert "for 'workers': nodes keep copies" in fault.message
