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


def with_controller(**said: Any) -> dict[str, Any]:
    groups = [one | said if one["node_type"] == "Controller" else one for one in SLURM["instance_groups"]]
    return SLURM | {"instance_groups": groups}


LUSTRE = {"dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "mount_name": "abcdefgh"}


def folder_faults(cluster: dict[str, Any], folder: str) -> list[Fault]:
    spec = ClusterSpec.model_validate(cluster | {"metrics": {"recovery_records_folder": folder}})
    return [fault for fault in faults_of(spec) if fault.path == ("metrics", "recovery_records_folder")]


@pytest.mark.parametrize(
    ("cluster", "folder", "got"),
    [
        (SLURM, "/var/recovery", "mounts /fsx"),
        (SLURM, "/fsx2/recovery", "mounts /fsx"),
        (with_controller(mounts_file_system=False), FOLDER, "mounts nothing"),
        (SLURM | {"file_system": None}, FOLDER, "mounts nothing"),
        (SLURM | {"file_system": {"mount_path": "/data"}}, FOLDER, "mounts /data"),
        (with_controller(open_zfs_mounts=[{"dns_name": LUSTRE["dns_name"]}]), "/opt/a", "/home and /fsx"),
    ],
)
def test_warns_of_a_records_folder_where_no_job_writes(
    cluster: dict[str, Any], folder: str, got: str
) -> None:
    (fault,) = folder_faults(cluster, folder)
    assert fault.severity == "warning"
    assert f"got {folder!r}, and group 'controller' mounts " in fault.message
    assert got in fault.message
    assert "name a folder below a mount, or mount the file_system on the controller" in fault.message


@pytest.mark.parametrize(
    ("cluster", "folder"),
    [
        (SLURM, "/fsx"),
        (SLURM, "/fsx/../data"),
        (SLURM | {"file_system": {"mount_path": "/data"}}, "/data/recovery"),
        (with_controller(lustre_mounts=[LUSTRE], mounts_file_system=False), FOLDER),
        (with_controller(lustre_mounts=[LUSTRE | {"mount_path": "/old"}]), "/old/recovery"),
        (with_controller(open_zfs_mounts=[{"dns_name": LUSTRE["dns_name"]}]), "/home/shared/recovery"),
    ],
)
def test_accepts_a_records_folder_below_any_mount(cluster: dict[str, Any], folder: str) -> None:
    assert folder_faults(cluster, folder) == []


@pytest.mark.parametrize("field", ["file_system", "mount_path", "mounts_file_system", "lustre_mounts"])
def test_mounts_that_are_known_only_later_pass(field: str) -> None:
    spec = ClusterSpec.model_validate(SLURM | {"metrics": {"recovery_records_folder": "/var/recovery"}})
    groups: Any = spec.instance_groups
    assert spec.file_system is not None
    if field == "file_system":
        spec = spec.model_copy(update={field: UNKNOWN})
    elif field == "mount_path":
        spec = spec.model_copy(update={"file_system": spec.file_system.model_copy(update={field: UNKNOWN})})
    else:
        groups = [group.model_copy(update={field: UNKNOWN}) for group in groups]
        spec = spec.model_copy(update={"instance_groups": groups})
    found = faults_of(spec)
    assert not [fault for fault in found if fault.path == ("metrics", "recovery_records_folder")]


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
