"""Slurm that the package's own scripts configure, as a specification says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_model.cluster_spec import LoadedCluster

GROUPS = """instance_groups:
  - {name: controller, instance_type: ml.m5.2xlarge, instance_count: 1, node_type: Controller}
  - {name: login, instance_type: ml.m5.4xlarge, instance_count: 1, node_type: Login}
  - {name: workers, instance_type: ml.p5.48xlarge, node_type: Compute, partition_names: [gpu],
     instance_count: 4}
"""


def text(
    slurm: str = "{mode: lifecycle}",
    *,
    groups: str = GROUPS,
    mode: str = "null",
    more: str = "",
    orchestrator: str = "slurm",
) -> str:
    return (
        f"name: llm-train\nregion: us-west-2\norchestrator: {orchestrator}\nnode_provisioning_mode: {mode}\n"
        f"network: {{availability_zone_id: usw2-az1}}\nslurm: {slurm}\n{more}{groups}"
    )


def test_sound(load: Callable[..., LoadedCluster]) -> None:
    said = "{mode: lifecycle, accounting: true, settings: {AccountingStorageTRES: gres/gpu}}"
    scripts = (
        "lifecycle_scripts: {users_file: /fsx/users.csv, log_files: {slurmd: /var/log/slurm/slurmd.log}}\n"
    )
    spec = load(text(said, more=scripts)).spec
    assert (spec.slurm.accounting, spec.slurm.settings) == (True, {"AccountingStorageTRES": "gres/gpu"})
    assert (spec.entry_point, spec.script_hook) == ("on_create.sh", "OnCreate")


def without(old: str, new: str = "") -> dict[str, Any]:
    assert old in GROUPS
    return {"groups": GROUPS.replace(old, new)}


CASES: list[tuple[dict[str, Any], str]] = [
    ({"mode": "Continuous"}, "node_provisioning_mode (line 4): must be null where the package's scripts"),
    (without(", node_type: Login"), "instance_groups[1].node_type (line 9): is required where the package's"),
    (
        without("node_type: Login", "node_type: Controller"),
        "instance_groups[1].node_type (line 9): is a second",
    ),
    (
        without("node_type: Controller", "node_type: Compute, partition_names: [cpu]"),
        "instance_groups (line 7): no group is the Controller",
    ),
    (
        {"groups": GROUPS.replace("ml.m5.2xlarge, instance_count: 1", "ml.m5.2xlarge, instance_count: 2")},
        "instance_groups[0].instance_count (line 8): must be 1 for the Controller group, got 2",
    ),
    (
        {"groups": GROUPS[: GROUPS.index("  - {name: workers")]},
        "instance_groups (line 7): no group is for jobs",
    ),
    (without(", partition_names: [gpu]"), "instance_groups[2].partition_names (line 10): must be exactly 1"),
    (
        without("node_type: Login", "node_type: Login, partition_names: [x]"),
        "instance_groups[1].partition_names (line 9): must be none, since only Compute groups run jobs",
    ),
    (
        {"slurm": "{mode: lifecycle, accounting: true, settings: {AccountingStorageTRES: 'gres/gpu;cpu'}}"},
        "slurm.settings.AccountingStorageTRES (line 6): is a list with commas and nothing else between",
    ),
    (
        {"slurm": "{mode: lifecycle, settings: {AccountingStorageTRES: gres/gpu}}"},
        "slurm.settings.AccountingStorageTRES (line 6): needs an accounting database",
    ),
    (
        {"slurm": "{mode: api, settings: {KillWait: '60'}}", "mode": "Continuous"},
        "slurm.settings (line 6): is set up by the package's own scripts in mode 'lifecycle'",
    ),
    (
        {"slurm": "{mode: api, accounting: true}", "mode": "Continuous"},
        "slurm.accounting (line 6): is set up by the package's own scripts in mode 'lifecycle'",
    ),
    (
        {
            "slurm": "{mode: lifecycle, accounting: true}",
            "more": "lifecycle_scripts: {source_s3_uri: 's3://sagemaker-a/b/'}\n",
        },
        "slurm.accounting (line 6): is set up by the package's own scripts in mode 'lifecycle'",
    ),
    (
        {"more": "lifecycle_scripts: {source_s3_uri: 's3://sagemaker-a/b/', users_file: /fsx/users.csv}\n"},
        "lifecycle_scripts.users_file (line 7): is read by the package's own scripts",
    ),
    ({"more": "lifecycle_scripts: null\n"}, "slurm.mode (line 6): 'lifecycle' needs scripts that"),
    (
        without("node_type: Login", "node_type: Login, runs_lifecycle_scripts: false"),
        "instance_groups[1].runs_lifecycle_scripts (line 9): is false, and the scripts are what starts Slurm",
    ),
    (
        {"more": "lifecycle_scripts: {shared_folder: hyperpod}\n"},
        "lifecycle_scripts.shared_folder (line 7): must be an absolute path, got 'hyperpod'",
    ),
]


@pytest.mark.parametrize(("change", "fault"), CASES, ids=[fault[:60] for _, fault in CASES])
def test_refuses(change: dict[str, Any], fault: str, faults_in: Callable[..., Any]) -> None:
    [found] = faults_in(text(**change))
    assert str(found).startswith(fault)


def test_refuses_users_on_eks(faults_in: Callable[..., Any]) -> None:
    groups = "instance_groups:\n  - {name: workers, instance_type: ml.p5.48xlarge, instance_count: 4}\n"
    more = "eks: {dependency_chart: {installed: true}}\nlifecycle_scripts: {users_file: /fsx/users.csv}\n"
    said = text("{}", groups=groups, mode="Continuous", more=more, orchestrator="eks")
    assert "lifecycle_scripts.users_file" in "\n".join(str(found) for found in faults_in(said))


def test_own_scripts_elsewhere_are_left_to_their_owner(load: Callable[..., LoadedCluster]) -> None:
    groups = GROUPS.replace(", node_type: Login", "").replace(", node_type: Controller", "")
    groups = groups.replace(", node_type: Compute, partition_names: [gpu]", "")
    load(text(groups=groups, more="lifecycle_scripts: {source_s3_uri: 's3://sagemaker-a/b/'}\n"))
