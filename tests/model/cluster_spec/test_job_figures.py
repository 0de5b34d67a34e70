"""Figures of jobs in specifications: who counts, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.cluster_spec.job_figures import (
    counts_jobs,
    counts_jobs_on_controller,
    job_alert_limit,
    job_figures_image_of,
    job_queues_of,
)
from hyperpod_model.cluster_spec.metrics import MetricsSpec
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.faults import UNKNOWN, Fault

Faults = Callable[..., tuple[Fault, ...]]

EXAMPLES = Path(__file__).parents[3] / "examples"
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/job-figures:1.0.0"
SLURM, EKS, TEAM = "clusters/llm-train.yaml", "clusters/llm-train-eks.yaml", "jobs/clusters/team.yaml"
EXISTING_EKS, OWN_SCRIPTS = "clusters/llm-train-eks-existing.yaml", "clusters/own-lifecycle-scripts.yaml"
LIMITS = ("wait_alert_minutes", "preemption_alert_count")


def example(name: str, **changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = yaml.safe_load((EXAMPLES / name).read_text("utf-8"))
    return plain | changes


def specified(name: str, **changes: Any) -> ClusterSpec:
    return ClusterSpec.model_validate(example(name, **changes))


@pytest.mark.parametrize(
    ("name", "metrics", "field", "message"),
    [
        (
            SLURM,
            {"job_figures_image": IMAGE},
            "job_figures_image",
            "goes with orchestrator 'eks'; leave it out: with Slurm a script of the controller counts jobs",
        ),
        (SLURM, {"job_figures_image": "count"}, "job_figures_image", "goes with orchestrator 'eks'"),
        (
            EKS,
            {"job_figures_image": "count:latest"},
            "job_figures_image",
            "must be an image with registry and tag or digest",
        ),
        (
            EKS,
            {"job_figures_image": IMAGE, "job_figures": False},
            "job_figures_image",
            "counts for figures that are off; set job_figures to true, or leave it out",
        ),
        (
            SLURM,
            {"own_job_check": True},
            "own_job_check",
            "counts what the package's own scripts count on the controller; leave it out",
        ),
        (
            EKS,
            {"own_job_check": True, "job_figures_image": IMAGE},
            "own_job_check",
            "counts what the stack's check of job_figures_image counts; leave out one",
        ),
        (
            EXISTING_EKS,
            {"own_job_check": True, "job_figures": False},
            "own_job_check",
            "counts for figures that are off; set job_figures to true, or leave it out",
        ),
        *(
            (
                SLURM,
                {"job_figures": False, name: 5},
                name,
                "is told by nobody, since job_figures and prometheus are false",
            )
            for name in LIMITS
        ),
    ],
)
def test_refuses(faults_in: Faults, name: str, metrics: dict[str, Any], field: str, message: str) -> None:
    [fault] = faults_in(yaml.safe_dump(example(name, metrics=metrics)))
    assert fault.path == ("metrics", field)
    assert message in fault.message
    assert fault.line is not None


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        (SLURM, {"wait_alert_minutes": None, "preemption_alert_count": None}),
        (SLURM, {"job_figures": False, "wait_alert_minutes": None}),
        (EKS, {"job_figures": False, "prometheus": True, "wait_alert_minutes": 5}),
        (EKS, {"job_figures_image": IMAGE, "wait_alert_minutes": 5}),
        (EKS, {"own_job_check": True}),
        (EXISTING_EKS, {"own_job_check": True, "job_figures_image": IMAGE}),
        (OWN_SCRIPTS, {"own_job_check": True}),
    ],
)
def test_accepts(name: str, metrics: dict[str, Any]) -> None:
    found = faults_of(specified(name, metrics=metrics))
    assert not [fault for fault in found if fault.path[0] == "metrics"]


@pytest.mark.parametrize("field", ["job_figures", "job_figures_image", "prometheus", *LIMITS])
def test_what_is_known_only_later_passes(field: str) -> None:
    spec = specified(EKS)
    assert spec.metrics is not None
    metrics = spec.metrics.model_copy(
        update={"job_figures": False, "job_figures_image": None, field: UNKNOWN}
    )
    found = faults_of(spec.model_copy(update={"metrics": metrics}))
    told = [fault for fault in found if fault.path[0] == "metrics"]
    # An image that is known later is one, whatever it is.
    assert len(told) == (1 if field in ("job_figures_image", *LIMITS) else 0)
    assert faults_of(spec.model_copy(update={"metrics": UNKNOWN})) == faults_of(spec)


@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        (SLURM, "instance_groups"),
        (SLURM, "lifecycle_scripts"),
        (SLURM, "orchestrator"),
        (EXISTING_EKS, "eks"),
        (EXISTING_EKS, "orchestrator"),
    ],
)
def test_a_check_of_ones_own_passes_where_others_are_known_only_later(name: str, unknown: str) -> None:
    metrics = MetricsSpec(own_job_check=True)
    found = faults_of(specified(name).model_copy(update={"metrics": metrics, unknown: UNKNOWN}))
    assert not [fault for fault in found if fault.path == ("metrics", "own_job_check")]


@pytest.mark.parametrize(
    ("slurm", "limit", "warned"),
    [
        ({"accounting": False}, 5, True),
        ({"accounting": True}, 5, False),
        ({"accounting": False}, None, False),
        ({"settings": {"AccountingStorageType": "accounting_storage/slurmdbd"}}, 5, False),
    ],
)
def test_preemptions_need_accounting(slurm: dict[str, Any], limit: int | None, warned: bool) -> None:
    name = "clusters/scripted-slurm.yaml"
    said = {"mode": "lifecycle"} | slurm
    spec = specified(name, slurm=said, metrics={"preemption_alert_count": limit})
    found = [fault for fault in faults_of(spec) if fault.path == ("metrics", "preemption_alert_count")]
    assert [fault.severity for fault in found] == ["warning"] * warned
    assert all("Slurm tells of preempted jobs by accounting" in fault.message for fault in found)
    assert not [fault for fault in faults_of(specified(name, slurm=said)) if fault.path[0] == "metrics"]
    unknown = spec.model_copy(update={"slurm": spec.slurm.model_copy(update={"accounting": UNKNOWN})})
    assert not [fault for fault in faults_of(unknown) if fault.path[0] == "metrics"]


class TestWhoCounts:
    @pytest.mark.parametrize(
        ("name", "metrics", "counts"),
        [
            (SLURM, {}, True),
            (SLURM, {"job_figures": False}, False),
            (SLURM, None, False),
            (OWN_SCRIPTS, {}, False),
            (EKS, {"job_figures_image": IMAGE}, False),
        ],
    )
    def test_the_controller(self, name: str, metrics: Any, counts: bool) -> None:
        spec = specified(name, metrics=metrics)
        assert counts_jobs_on_controller(spec) is counts
        assert counts_jobs(spec) is (counts or name == EKS)

    def test_an_image(self) -> None:
        assert job_figures_image_of(specified(EKS, metrics={"job_figures_image": IMAGE})) == IMAGE
        assert job_figures_image_of(specified(EKS, metrics={})) is None
        assert job_figures_image_of(specified(EKS, metrics=None)) is None
        assert not counts_jobs(specified(EKS, metrics={}))

    def test_is_on_by_default(self) -> None:
        plain = example(SLURM)
        plain.pop("metrics", None)
        assert counts_jobs(ClusterSpec.model_validate(plain))


class TestStepsDue:
    @pytest.mark.parametrize(
        ("name", "metrics", "words"),
        [
            (SLURM, {}, None),
            (OWN_SCRIPTS, {}, "let a timer of yours put the metrics"),
            (OWN_SCRIPTS, {"job_figures": False}, None),
            (OWN_SCRIPTS, None, None),
            (EKS, {}, "name an image in metrics.job_figures_image"),
            (EKS, {"job_figures": False}, None),
            (EKS, {"job_figures_image": IMAGE}, None),
            (EXISTING_EKS, {}, "name an image in metrics.job_figures_image"),
            (EXISTING_EKS, {"job_figures_image": IMAGE}, "render JobFiguresCheck"),
            (EXISTING_EKS, {"job_figures_image": IMAGE, "own_job_check": True}, None),
            (OWN_SCRIPTS, {"own_job_check": True}, None),
        ],
    )
    def test_says_once_that_somebody_has_to_count(self, name: str, metrics: Any, words: str | None) -> None:
        found = [
            step
            for step in specified(name, metrics=metrics).steps_due()
            if "nobody counts" in step or "JobFiguresCheck" in step
        ]
        assert len(found) == (0 if words is None else 1)
        assert words is None or words in found[0]


class TestAlerts:
    @pytest.mark.parametrize(
        ("name", "changes", "limits"),
        [
            (TEAM, {"metrics": {"job_figures_image": IMAGE}}, (60, 10)),
            (TEAM, {"metrics": {"job_figures_image": IMAGE, "wait_alert_minutes": None}}, (None, 10)),
            (TEAM, {"metrics": {"own_job_check": True}}, (60, 10)),
            # Nobody counts, or nobody hears.
            (TEAM, {"metrics": {}}, (None, None)),
            (TEAM, {"metrics": {"job_figures_image": IMAGE}, "observability": None}, (None, None)),
            (TEAM, {"metrics": None}, (None, None)),
            # Nothing is shared: queues may be long.
            (SLURM, {}, (None, None)),
            (EKS, {"metrics": {"job_figures_image": IMAGE}}, (None, None)),
            # What is said is made.
            (SLURM, {"metrics": {"wait_alert_minutes": 60}}, (60, None)),
            (SLURM, {"metrics": {"preemption_alert_count": 3}}, (None, 3)),
            (OWN_SCRIPTS, {"metrics": {"wait_alert_minutes": 60}}, (60, None)),
            (SLURM, {"observability": None, "metrics": {"wait_alert_minutes": 60}}, (60, None)),
            # Unless it is for Prometheus, and the alarm would have no data.
            (TEAM, {"metrics": {"prometheus": True, "wait_alert_minutes": 5}}, (None, None)),
            (
                TEAM,
                {"metrics": {"prometheus": True, "wait_alert_minutes": 5, "job_figures_image": IMAGE}},
                (5, 10),
            ),
        ],
    )
    def test_limits(self, name: str, changes: dict[str, Any], limits: tuple[int | None, int | None]) -> None:
        spec = specified(name, **changes)
        found = (
            job_alert_limit(spec, "wait_alert_minutes"),
            job_alert_limit(spec, "preemption_alert_count"),
        )
        assert found == limits


def test_queues_are_namespaces_of_teams() -> None:
    assert job_queues_of(specified(TEAM)) == ("hyperpod-ns-research", "hyperpod-ns-product")
    assert job_queues_of(specified(EKS)) is None
    assert job_queues_of(specified(SLURM)) is None
