"""Budgets in specifications."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_model.cluster_spec import ClusterSpec, LoadedCluster
from hyperpod_model.cluster_spec.budget import cost_tag_of, counts_jobs_on_controller
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.faults import UNKNOWN, Fault

Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/count:1.0.0"
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
        ("{}", ("budget", "limit_usd"), "is required"),
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
        (
            f"{{limit_usd: 1, idle_check_image: '{IMAGE}'}}",
            ("budget", "idle_check_image"),
            "goes with orchestrator 'eks'; with Slurm a script of the controller counts jobs",
        ),
    ],
)
def test_refuses(faults_in: Faults, budget: str, path: tuple[str | int, ...], message: str) -> None:
    [fault] = faults_in(SPEC.format(budget=budget))
    assert fault.path == path
    assert message in fault.message
    assert fault.line is not None


def test_images_are_judged_for_eks(faults_in: Faults) -> None:
    text = yaml.safe_dump(
        example("llm-train-eks.yaml", budget={"limit_usd": 1, "idle_check_image": "count:latest"})
    )
    [fault] = faults_in(text)
    assert fault.path == ("budget", "idle_check_image")
    assert "must be an image with registry and tag or digest" in fault.message


def test_an_image_for_no_alarm_is_a_warning(load: Load) -> None:
    budget = {"limit_usd": 1, "idle_hours": None, "idle_check_image": IMAGE}
    notes = load(yaml.safe_dump(example("llm-train-eks.yaml", budget=budget))).notes
    assert [note for note in notes if "counts for an alarm that is off" in note]


class TestStepsDue:
    def test_says_once_that_nobody_counts(self, load: Load) -> None:
        [note] = load(SPEC.format(budget="x").replace("budget: x\n", "")).notes
        assert note.startswith("budget: nobody hears what the cluster costs, or that it idles; the step that")

    @pytest.mark.parametrize("budget", ["null", f"{{{ACTIVATED}}}", f"{{{ACTIVATED}, idle_hours: null}}"])
    def test_says_nothing_where_nothing_is_due(self, load: Load, budget: str) -> None:
        assert load(SPEC.format(budget=budget)).notes == ()

    def test_the_tag_has_to_be_activated(self, load: Load) -> None:
        [note] = load(SPEC.format(budget="{limit_usd: 1}")).notes
        assert "activate it under Cost allocation tags in the Billing console" in note

    def test_nobody_reads(self) -> None:
        budget = {"limit_usd": 1, "cost_allocation_tag_activated": True}
        silent = ClusterSpec.model_validate(example("llm-train.yaml", observability=None, budget=budget))
        [step] = steps(silent)
        assert "nobody hears of it" in step
        told = example("llm-train.yaml", observability=None, budget=budget | {"emails": ["a@example.com"]})
        assert steps(ClusterSpec.model_validate(told)) == []

    @pytest.mark.parametrize(
        ("name", "budget", "words"),
        [
            ("own-lifecycle-scripts.yaml", {}, "let a timer of yours put the metric RunningJobs"),
            ("own-lifecycle-scripts.yaml", {"idle_hours": None}, None),
            ("llm-train-eks.yaml", {}, "name an image in budget.idle_check_image"),
            ("llm-train-eks.yaml", {"idle_hours": None}, None),
            ("llm-train-eks.yaml", {"idle_check_image": IMAGE}, None),
            ("llm-train-eks-existing.yaml", {"idle_check_image": IMAGE}, "render JobFiguresCheck"),
            ("scripted-slurm.yaml", {}, None),
        ],
    )
    def test_somebody_has_to_count_jobs(self, name: str, budget: dict[str, Any], words: str | None) -> None:
        said = {"limit_usd": 1, "cost_allocation_tag_activated": True} | budget
        found = steps(ClusterSpec.model_validate(example(name, budget=said)))
        assert len(found) == (0 if words is None else 1)
        assert words is None or words in found[0]


@pytest.mark.parametrize(
    ("name", "budget", "counts"),
    [
        ("llm-train.yaml", {"limit_usd": 1}, True),
        ("llm-train.yaml", {"limit_usd": 1, "idle_hours": None}, False),
        ("llm-train.yaml", None, False),
        ("own-lifecycle-scripts.yaml", {"limit_usd": 1}, False),
        ("llm-train-eks.yaml", {"limit_usd": 1}, False),
    ],
)
def test_who_counts_jobs(name: str, budget: dict[str, Any] | None, counts: bool) -> None:
    spec = ClusterSpec.model_validate(example(name, budget=budget))
    assert counts_jobs_on_controller(spec) is counts


def test_the_tag_is_the_user_s_where_they_have_it() -> None:
    def tag(**changes: Any) -> tuple[str, ...]:
        return cost_tag_of(ClusterSpec.model_validate(example("llm-train.yaml", **changes)))

    assert tag(budget={"limit_usd": 1}) == ("hyperpod-cluster",)
    assert tag(budget={"limit_usd": 1, "cost_allocation_tag": "team"}, tags={"team": "a"}) == ()
    assert tag(budget=None) == ()


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
