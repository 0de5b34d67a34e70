"""Teams in specifications."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_model.cluster_spec import ClusterSpec, LoadedCluster
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.cluster_spec.task_governance import capacity_of, sharing_plan_of, sharing_table
from hyperpod_model.faults import UNKNOWN, Fault

Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

EXAMPLES = Path(__file__).parents[3] / "examples"
PLAIN: dict[str, Any] = yaml.safe_load((EXAMPLES / "clusters/llm-train-eks.yaml").read_text("utf-8"))
P5 = "ml.p5.48xlarge"
TEAMS = [{"team": "research", "instances": {P5: 8}}, {"team": "product", "instances": {P5: 7}}]


def text(**said: Any) -> str:
    return yaml.safe_dump(PLAIN | {"task_governance": {"teams": TEAMS} | said})


def spec(**said: Any) -> ClusterSpec:
    return ClusterSpec.model_validate(PLAIN | {"task_governance": {"teams": TEAMS} | said})


def team(**said: Any) -> list[dict[str, Any]]:
    return [{"team": "research", "instances": {P5: 8}} | said]


@pytest.mark.parametrize(
    ("said", "path", "message"),
    [
        (
            {"teams": [*TEAMS, {"team": "late", "instances": {P5: 3}}]},
            ("task_governance", "teams"),
            f"quotas promise 18 instances of {P5}, and the cluster has 16 (research 8, product 7, late 3)",
        ),
        ({"teams": []}, ("task_governance", "teams"), "is empty; name a team"),
        (
            {"teams": [*TEAMS, TEAMS[0] | {"instances": {P5: 1}}]},
            ("task_governance", "teams", 2, "team"),
            "'research' has a quota already, at 0",
        ),
        (
            {"teams": team(team="Research")},
            ("task_governance", "teams", 0, "team"),
            "lower-case letters, digits and hyphens inside, got 'Research'",
        ),
        (
            {"teams": team(instances={"ml.g5.xlarge": 1})},
            ("task_governance", "teams", 0, "instances", "ml.g5.xlarge"),
            "the cluster has no such instances, so that no job ever runs on them; its instance types are "
            "'ml.p5.48xlarge', 'ml.m5.2xlarge'",
        ),
        (
            {"teams": team(instances={})},
            ("task_governance", "teams", 0, "instances"),
            "is empty; say how many instances",
        ),
        (
            {"teams": team(fair_share_weight=101)},
            ("task_governance", "teams", 0, "fair_share_weight"),
            "must be a whole number from 0 to 100, got 101",
        ),
        (
            {"teams": team(strategy="DontLend", borrow_limit_percent=50)},
            ("task_governance", "teams", 0, "borrow_limit_percent"),
            "needs strategy 'LendAndBorrow', got 'DontLend'",
        ),
        (
            {"teams": team(borrow_limit_percent=501)},
            ("task_governance", "teams", 0, "borrow_limit_percent"),
            "must be a whole number from 1 to 500, got 501",
        ),
        (
            {"priority_classes": {"Fast": 1}},
            ("task_governance", "priority_classes", "Fast"),
            "its name must be 1 to 40 lower-case letters",
        ),
        (
            {"priority_classes": {"fast": 101}},
            ("task_governance", "priority_classes", "fast"),
            "must be a whole number from 0 to 100, got 101",
        ),
        (
            {"priority_classes": {f"class-{number}": number for number in range(11)}},
            ("task_governance", "priority_classes"),
            "must be 10 or fewer, got 11",
        ),
    ],
)
def test_refuses(faults_in: Faults, said: dict[str, Any], path: tuple[str | int, ...], message: str) -> None:
    found = {fault.path: fault for fault in faults_in(text(**said))}
    assert message in found[path].message
    assert found[path].line is not None


def test_slurm_has_no_task_governance(faults_in: Faults) -> None:
    slurm = yaml.safe_load((EXAMPLES / "clusters/llm-train.yaml").read_text("utf-8"))
    [fault] = faults_in(yaml.safe_dump(slurm | {"task_governance": {"teams": TEAMS}}))
    assert fault.path == ("task_governance",)
    assert "goes with orchestrator 'eks'" in fault.message


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"teams": team(instances={P5: 16})}, "of which 1 are spare nodes that no job should count on"),
        ({"teams": team(fair_share_weight=5), "fair_share": False}, "counts only where fair_share is on"),
    ],
)
def test_warns(load: Load, said: dict[str, Any], words: str) -> None:
    assert [note for note in load(text(**said)).notes if words in note]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"teams": team(instances={P5: 15})},
        {"teams": team(instances={P5: 8, "ml.m5.2xlarge": 2}, strategy="Lend", preempt_own_tasks="Never")},
        {"teams": team(instances={P5: 0}, borrow_limit_percent=500)},
        {"priority_classes": {"inference": 100, "training": 0}, "idle_resource_sharing": False},
        {"fair_share": False, "add_on": False},
    ],
    ids=str,
)
def test_says_nothing(load: Load, said: dict[str, Any]) -> None:
    assert not [note for note in load(text(**said)).notes if "task_governance" in note]


def test_capacity_counts_groups_of_one_type_together() -> None:
    assert capacity_of(spec()) == {P5: 16, "ml.m5.2xlarge": 2}
    more = PLAIN["instance_groups"][0] | {"name": "more", "instance_count": 4}
    groups = [*PLAIN["instance_groups"], more]
    assert capacity_of(ClusterSpec.model_validate(PLAIN | {"instance_groups": groups})) == {
        P5: 20,
        "ml.m5.2xlarge": 2,
    }


def test_the_plan_says_who_borrows() -> None:
    research, product = sharing_plan_of(spec())
    assert (research.borrows_at_most, research.lenders) == (4, ("product",))
    assert (product.borrows_at_most, product.lenders) == (3, ("research",))
    table = sharing_table(spec())
    assert f"1 of 16 {P5} are promised to nobody and may be borrowed" in table


@pytest.mark.parametrize("field", ["teams", "priority_classes", "fair_share", "idle_resource_sharing"])
def test_fields_that_are_known_only_later_pass(field: str) -> None:
    sound = spec()
    assert sound.task_governance is not None
    said = sound.task_governance.model_copy(update={field: UNKNOWN})
    assert faults_of(sound.model_copy(update={"task_governance": said})) == faults_of(sound)


@pytest.mark.parametrize(
    "field",
    ["team", "instances", "fair_share_weight", "strategy", "borrow_limit_percent", "preempt_own_tasks"],
)
def test_quotas_that_are_known_only_later_pass(field: str) -> None:
    sound = spec()
    assert sound.task_governance is not None
    first, second = sound.task_governance.teams
    said = sound.task_governance.model_copy(
        update={"teams": (first.model_copy(update={field: UNKNOWN}), second)}
    )
    assert faults_of(sound.model_copy(update={"task_governance": said})) == faults_of(sound)


@pytest.mark.parametrize("field", ["instance_groups", "resilience", "task_governance", "orchestrator"])
def test_what_else_is_known_only_later_hides_no_quota_and_invents_none(field: str) -> None:
    found = faults_of(spec().model_copy(update={field: UNKNOWN}))
    assert not [fault for fault in found if fault.path[:1] == ("task_governance",)]


def test_an_unknown_count_is_no_capacity_to_be_exceeded() -> None:
    sound = spec()
    workers, system = sound.instance_groups
    groups = (workers.model_copy(update={"instance_count": UNKNOWN}), system)
    found = faults_of(sound.model_copy(update={"instance_groups": groups}))
    assert not [fault for fault in found if "quotas promise" in fault.message]
