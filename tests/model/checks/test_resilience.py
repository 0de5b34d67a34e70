"""The developer guide's three cases, and spare nodes."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_requests import group

from hyperpod_model.checks.resilience import (
    check_resilience,
    check_spare_nodes,
    deep_health_checks,
    runs_deep_health_checks,
)
from hyperpod_model.faults import UNKNOWN


@pytest.mark.parametrize(
    ("spares", "wait", "commissioned", "runs"),
    [
        (1, "tolerable", False, True),
        (1, "avoid", False, True),
        (1, "avoid", True, True),
        (1, "intolerable", False, True),
        (0, "tolerable", False, True),
        (0, "tolerable", True, True),
        (0, "avoid", False, True),
        (0, "avoid", True, False),
        (0, "intolerable", False, False),
        (0, "intolerable", True, False),
    ],
)
def test_three_cases(spares: int, wait: str, commissioned: bool, runs: bool) -> None:
    assert (
        runs_deep_health_checks(spare_nodes=spares, replacement_wait=wait, commissioned=commissioned) is runs
    )


def test_the_checks_are_those_that_cloudformation_knows() -> None:
    assert deep_health_checks() == ("InstanceStress", "InstanceConnectivity")


@pytest.mark.parametrize(
    ("spares", "wait", "expected"),
    [
        ("2", "avoid", ["spare_nodes: must be a whole number, got '2'"]),
        (None, "avoid", ["spare_nodes: must be a whole number, got None"]),
        (-1, "avoid", ["spare_nodes: must be 0 or more, got -1"]),
        (
            0,
            "never",
            ["replacement_wait: must be one of 'tolerable', 'avoid', 'intolerable', got 'never'"],
        ),
        (0, "avoid", []),
        (UNKNOWN, UNKNOWN, []),
    ],
)
def test_situation(spares: Any, wait: Any, expected: list[str]) -> None:
    assert [str(fault) for fault in check_resilience(spare_nodes=spares, replacement_wait=wait)] == expected


GROUPS = [
    group("controller", "ml.m5.large", 1),
    group("a", "ml.p5.48xlarge", 2),
    group("b", "ml.trn1.32xlarge", 2),
]


def test_as_many_spares_as_accelerated_nodes_are_refused() -> None:
    (fault,) = check_spare_nodes(4, GROUPS)
    assert str(fault) == (
        "spare_nodes: must be fewer than the accelerated nodes of the cluster, which are 4, got 4; "
        "spares are part of instance_count"
    )


def test_spares_are_not_counted_against_a_count_that_is_wrong_itself() -> None:
    assert check_spare_nodes(1, [group("a", "ml.p5.48xlarge", -1)]) == []


def test_spares_without_accelerated_nodes_are_refused() -> None:
    assert "which are 0, got 1" in str(check_spare_nodes(1, GROUPS[:1])[0])


@pytest.mark.parametrize(
    ("spares", "groups"),
    [
        (3, GROUPS),
        (0, GROUPS[:1]),
        (UNKNOWN, GROUPS),
        (4, [*GROUPS, group("c", "ml.p5.48xlarge", UNKNOWN)]),  # type: ignore[arg-type]
        (4, [*GROUPS, group("c", UNKNOWN, 1)]),  # type: ignore[arg-type]
        (4, [*GROUPS, group("c", "ml.p9.48xlarge", 1)]),
    ],
)
def test_spares_left_alone(spares: Any, groups: Any) -> None:
    assert check_spare_nodes(spares, groups) == []
