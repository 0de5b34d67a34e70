"""Budgets in specifications."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_model.cluster_spec import ClusterSpec, LoadedCluster
from hyperpod_model.cluster_spec.budget import cost_tag_of, idle_hours_of
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.faults import UNKNOWN, Fault

Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
SPEC = """\
name: llm-train
region: us-west-2
network: {{availability_zone_id: usw2-az1}}
instance_groups:
  - {{name: head, node_type: Controller, instance_type: ml.m5.2xlarge, instance_count: 1}}
  - {{name: gpu, node_type: Compute, partition_names: [a], instance_type: ml.p5.48xlarge, instance_count: 2}}
observability: {{emails: [oncall@example.com]}}
budget: {budget}
"""
ACTIVATED = "limit_usd: 1000, cost_allocation_tag_activated: true"


def example(name: str, **changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = yaml.safe_load((EXAMPLES / name).read_text("utf-8"))
    return plain | changes


def steps(spec: ClusterSpec) -> list[str]:
    return [step for step in spec.steps_due() if step.startswith("budget: ")]


@pytest.mark.parametrize(
    ("budget", "path", "message"),
    [
        ("{limit_usd: 0}", ("budget", "limit_usd"), "must be an amount of US dollars above 0, got 0.0"),
        ("{limit_usd: much}", ("budget", "limit_usd"), "must be a number"),
        ("{idle_hours: null}", ("budget", "limit_usd"), "is missing, and idle_hours is off"),
        *(
            (
                f"{{{name}: {value}}}",
                ("budget", name),
                "is for a budget, of which there is none without limit_usd",
            )
            for name, value in {
                "actual_alert_percentages": "[80]",
                "forecast_alert_percentages": "[80]",
                "cost_allocation_tag": "team",
                "cost_allocation_tag_activated": "true",
                "emails": "[finance@example.com]",
            }.items()
        ),
        ("{limit_usd: 1, start_date: '2027-01-01'}", ("budget", "end_date"), "is required with start_date"),
        (
            "{limit_usd: 1, start_date: '2027-02-01', end_date: '2027-01-01'}",
            ("budget", "end_date"),
            "must be after start_date",
        ),
        (
            "{limit_usd: 1, actual_alert_percentages: [50, 50]}",
            ("budget", "actual_alert_percentages", 1),
            "is given twice",
        ),
        ("{limit_usd: 1, emails: [a]}", ("budget", "emails", 0), "must be an e-mail address"),
        ("{limit_usd: 1, idle_hours: 30}", ("budget", "idle_hours"), "from 1 to 24, got 30"),
        ("{limit_usd: 1, idle: 3}", ("budget", "idle"), "idle"),
    ],
)
def test_refuses(faults_in: Faults, budget: str, path: tuple[str | int, ...], message: str) -> None:
    [fault] = faults_in(SPEC.format(budget=budget))
    assert fault.path == path
    assert message in fault.message
    assert fault.line is not None


def test_dates_without_a_limit(faults_in: Faults) -> None:
    found = faults_in(SPEC.format(budget="{start_date: '2027-01-01', end_date: '2027-02-01'}"))
    assert [fault.path for fault in found] == [("budget", "start_date"), ("budget", "end_date")]
    assert all("of which there is none without limit_usd" in fault.message for fault in found)


@pytest.mark.parametrize(
    "budget",
    ["{}", "{limit_usd: null}", "{cost_per_hour_usd: 5}", "{idle_hours: 2, emails: [], start_date: null}"],
)
def test_accepts_an_alarm_without_a_budget(load: Load, budget: str) -> None:
    spec = load(SPEC.format(budget=budget)).spec
    assert spec.budget is not None
    assert spec.budget.limit_usd is None
    assert cost_tag_of(spec) == ()


def test_addresses_are_of_the_alarm_where_no_topic_is_made_for_all() -> None:
    spec = ClusterSpec.model_validate(
        example("llm-train.yaml", observability=None, budget={"emails": ["a@example.com"]})
    )
    assert not [fault for fault in faults_of(spec) if fault.path[0] == "budget"]
    assert idle_hours_of(spec) == 4


class TestStepsDue:
    def test_the_amount_is_missing_by_default(self, load: Load) -> None:
        [note] = load(SPEC.format(budget="x").replace("budget: x\n", "")).notes
        assert note.startswith("budget: nobody hears what the cluster costs; the step that is due: give")

    @pytest.mark.parametrize(
        "budget",
        ["null", "{limit_usd: null}", f"{{{ACTIVATED}}}", f"{{{ACTIVATED}, idle_hours: null}}"],
    )
    def test_says_nothing_where_nothing_is_due(self, load: Load, budget: str) -> None:
        assert load(SPEC.format(budget=budget)).notes == ()

    def test_the_tag_has_to_be_activated(self, load: Load) -> None:
        [note] = load(SPEC.format(budget="{limit_usd: 1}")).notes
        assert "activate it under Cost allocation tags in the Billing console" in note

    @pytest.mark.parametrize("budget", [{"limit_usd": 1}, {"limit_usd": None, "idle_hours": 4}])
    def test_nobody_reads(self, budget: dict[str, Any]) -> None:
        activated = {"cost_allocation_tag_activated": True} if budget["limit_usd"] else {}
        silent = ClusterSpec.model_validate(
            example("llm-train.yaml", observability=None, budget=budget | activated)
        )
        [step] = steps(silent)
        assert "nobody hears of it" in step
        told = budget | activated | {"emails": ["a@example.com"]}
        assert (
            steps(ClusterSpec.model_validate(example("llm-train.yaml", observability=None, budget=told)))
            == []
        )

    @pytest.mark.parametrize("metrics", [None, {"job_figures": False}])
    def test_an_alarm_that_is_asked_for_needs_somebody_who_counts(self, metrics: Any) -> None:
        def due(**budget: Any) -> list[str]:
            said = {"limit_usd": None} | budget
            return steps(ClusterSpec.model_validate(example("llm-train.yaml", metrics=metrics, budget=said)))

        [step] = due(idle_hours=4)
        assert "let a timer of yours put the metric RunningJobs" in step
        assert due() == []


@pytest.mark.parametrize(
    ("name", "changes", "hours"),
    [
        ("llm-train.yaml", {}, 4),
        ("llm-train.yaml", {"budget": {"idle_hours": 2}}, 2),
        ("llm-train.yaml", {"budget": None}, None),
        ("llm-train.yaml", {"budget": {"limit_usd": 1, "idle_hours": None}}, None),
        ("scripted-slurm.yaml", {"metrics": None}, None),
        ("scripted-slurm.yaml", {"metrics": {"job_figures": False}}, None),
        ("llm-train.yaml", {"metrics": None, "budget": {"idle_hours": 4}}, 4),
        # Nobody would hear, unless the budget makes a topic.
        ("scripted-slurm.yaml", {"observability": None}, None),
        ("scripted-slurm.yaml", {"observability": None, "budget": {"limit_usd": 1}}, 4),
        ("scripted-slurm.yaml", {}, 4),
        # Nobody counts.
        ("own-lifecycle-scripts.yaml", {}, None),
        ("own-lifecycle-scripts.yaml", {"budget": {"limit_usd": 1}}, None),
        ("own-lifecycle-scripts.yaml", {"budget": {"idle_hours": 4}}, 4),
        ("llm-train-eks.yaml", {}, 4),
        ("llm-train-eks.yaml", {"metrics": {}}, None),
        ("llm-train-eks-existing.yaml", {}, None),
    ],
)
def test_an_alarm_is_made_where_it_has_data_and_readers(
    name: str, changes: dict[str, Any], hours: int | None
) -> None:
    assert idle_hours_of(ClusterSpec.model_validate(example(name, **changes))) == hours


def test_the_tag_is_the_user_s_where_they_have_it() -> None:
    def tag(**changes: Any) -> tuple[str, ...]:
        return cost_tag_of(ClusterSpec.model_validate(example("llm-train.yaml", **changes)))

    assert tag(budget={"limit_usd": 1}) == ("hyperpod-cluster",)
    assert tag(budget={"limit_usd": 1, "cost_allocation_tag": "team"}, tags={"team": "a"}) == ()
    assert tag(budget=None) == tag(budget={}) == ()


def test_the_tag_counts_among_those_of_the_cluster(load: Load, faults_in: Faults) -> None:
    def tagged(count: int) -> str:
        lines = "".join(f"  key-{number}: x\n" for number in range(count))
        return SPEC.format(budget=f"{{{ACTIVATED}}}") + f"tags:\n{lines}"

    assert len(load(tagged(47)).spec.tags) == 47
    [fault] = faults_in(tagged(48))
    assert "must be at most 47, since the cluster gets" in fault.message
    assert "hyperpod-cluster besides, got 48" in fault.message


@pytest.mark.parametrize("field", ["limit_usd", "emails", "idle_hours", "cost_allocation_tag", "start_date"])
def test_what_is_known_only_later_passes(field: str) -> None:
    spec = ClusterSpec.model_validate(example("llm-train.yaml", budget={"limit_usd": 1}))
    assert spec.budget is not None
    dates = {"start_date": "2027-01-01", "end_date": "2027-02-01"}
    budget = spec.budget.model_copy(update=dates | {field: UNKNOWN})
    assert faults_of(spec.model_copy(update={"budget": budget})) == faults_of(spec)
    assert faults_of(spec.model_copy(update={"budget": UNKNOWN})) == faults_of(spec)


def test_what_is_known_only_later_is_no_missing_limit() -> None:
    spec = ClusterSpec.model_validate(example("llm-train.yaml", budget={"limit_usd": 1}))
    assert spec.budget is not None
    budget = spec.budget.model_copy(
        update={"limit_usd": UNKNOWN, "emails": ("a@example.com",), "idle_hours": None}
    )
    found = faults_of(spec.model_copy(update={"budget": budget}))
    assert not [fault for fault in found if fault.path[0] == "budget"]
