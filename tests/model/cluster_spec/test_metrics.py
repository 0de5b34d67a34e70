"""Figures in specifications: what goes with which orchestrator, and with what else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_model.cluster_spec import ClusterSpec, MetricsSpec
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.faults import UNKNOWN, Fault

Faults = Callable[..., tuple[Fault, ...]]

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
SLURM: dict[str, Any] = yaml.safe_load((EXAMPLES / "llm-train.yaml").read_text("utf-8"))
EKS: dict[str, Any] = yaml.safe_load((EXAMPLES / "llm-train-eks.yaml").read_text("utf-8"))
FOLDER = "/fsx/checkpoints/recovery"


@pytest.mark.parametrize(
    ("cluster", "said", "field", "message"),
    [
        (
            SLURM,
            {"prometheus": True},
            "prometheus",
            "CreateClusterExtension installs sagemaker-observability",
        ),
        (SLURM, {"container_insights": True}, "container_insights", "goes with orchestrator 'eks'"),
        (
            EKS,
            {"recovery_records_folder": FOLDER},
            "recovery_records_folder",
            "goes with orchestrator 'slurm', whose nodes have scripts of this package; leave it out, and set "
            "container_insights to true",
        ),
        (
            SLURM,
            {"recovery_records_folder": "fsx/recovery"},
            "recovery_records_folder",
            "must be an absolute path, got 'fsx/recovery'; begin it with /",
        ),
        (
            SLURM | {"observability": None},
            {"recovery_records_folder": FOLDER},
            "recovery_records_folder",
            "got observability: null",
        ),
        (
            SLURM | {"lifecycle_scripts": {"source_s3_uri": "s3://sagemaker-scripts/abc"}},
            {"recovery_records_folder": FOLDER},
            "recovery_records_folder",
            "is shipped by the package's own lifecycle scripts",
        ),
        (
            EKS,
            {"grafana_authentication": ["AWS_SSO"]},
            "grafana_authentication",
            "set prometheus to true, or leave it out",
        ),
        (
            SLURM
            | {
                "instance_groups": [
                    one for one in SLURM["instance_groups"] if one["node_type"] != "Controller"
                ]
            },
            {"recovery_records_folder": FOLDER},
            "recovery_records_folder",
            "no group has node_type: Controller",
        ),
        (EKS, {"wait_alert_minutes": 0}, "wait_alert_minutes", "1 or more"),
        (EKS, {"preemption_alert_count": -1}, "preemption_alert_count", "1 or more"),
    ],
)
def test_refuses(
    faults_in: Faults, cluster: dict[str, Any], said: dict[str, Any], field: str, message: str
) -> None:
    found = {fault.path: fault for fault in faults_in(yaml.safe_dump(cluster | {"metrics": said}))}
    assert message in found["metrics", field].message


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (SLURM, {}),
        (SLURM, {"recovery_records_folder": FOLDER}),
        (EKS, {"prometheus": True, "grafana_authentication": ["SAML"], "container_insights": True}),
        (EKS | {"observability": None}, {"container_insights": True}),
        (EKS, {"prometheus": True, "wait_alert_minutes": 1, "preemption_alert_count": 1}),
        (EKS | {"observability": None}, {"prometheus": True}),
    ],
)
def test_accepts(cluster: dict[str, Any], said: dict[str, Any]) -> None:
    found = faults_of(ClusterSpec.model_validate(cluster | {"metrics": said}))
    assert not [fault for fault in found if fault.path[0] == "metrics"]


def test_accepts_an_isolated_network_which_gets_an_endpoint() -> None:
    network = EKS["network"] | {"isolated": True}
    found = faults_of(ClusterSpec.model_validate(EKS | {"network": network, "metrics": {"prometheus": True}}))
    assert not [fault for fault in found if fault.path[0] == "metrics"]


def test_only_jobs_are_counted_by_default() -> None:
    plain = {name: value for name, value in EKS.items() if name != "metrics"}
    said = ClusterSpec.model_validate(plain).metrics
    assert said == MetricsSpec()
    assert said.job_figures
    assert not said.prometheus
    assert not said.container_insights
    assert said.grafana_authentication == ()
    assert said.recovery_records_folder is None


@pytest.mark.parametrize("field", MetricsSpec.model_fields)
def test_fields_that_are_known_only_later_pass(field: str) -> None:
    sound = ClusterSpec.model_validate(EKS | {"metrics": {"prometheus": True}})
    assert sound.metrics is not None
    said = sound.metrics.model_copy(update={field: UNKNOWN})
    found = faults_of(sound.model_copy(update={"metrics": said}))
    assert not [fault for fault in found if fault.path[0] == "metrics"]


@pytest.mark.parametrize(
    "field", ["metrics", "orchestrator", "lifecycle_scripts", "observability", "instance_groups"]
)
def test_what_else_is_known_only_later_passes(field: str) -> None:
    sound = ClusterSpec.model_validate(SLURM | {"metrics": {"recovery_records_folder": FOLDER}})
    found = faults_of(sound.model_copy(update={field: UNKNOWN}))
    assert not [fault for fault in found if fault.path[0] == "metrics"]
