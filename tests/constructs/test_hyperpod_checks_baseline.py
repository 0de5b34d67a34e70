from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Acknowledgment, App, Stack, Validations
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs.hyperpod_checks import HyperPodChecks
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy.registry import UPDATE_RULES

ROLE_ARN = "arn:aws:iam::111122223333:role/Nodes"


class _Cluster(Stack):
    def __init__(self, scope: App, id: str, *, name: str, instance_type: str) -> None:
        super().__init__(scope, id)
        self.cluster = sagemaker.CfnCluster(
            self,
            "Cluster",
            cluster_name=name,
            instance_groups=[
                sagemaker.CfnCluster.ClusterInstanceGroupProperty(
                    execution_role=ROLE_ARN,
                    instance_count=1,
                    instance_group_name="workers",
                    instance_type=instance_type,
                )
            ],
        )


def _app(outdir: Path, *, baseline: str | None = None, **instance_types: str) -> tuple[App, list[_Cluster]]:
    app = App(outdir=str(outdir))
    stacks = [
        _Cluster(app, name.title(), name=name, instance_type=found) for name, found in instance_types.items()
    ]
    Validations.of(app).add_plugins(HyperPodChecks(app, rules=[], baseline=baseline))
    return app, stacks


def _violations(app: App) -> list[dict[str, Any]]:
    """Synthesize, and return what the pack finds; a finding of severity error fails the synthesis."""
    with contextlib.suppress(RuntimeError):
        app.synth()
    file = Path(app.outdir) / "validation-report.json"
    found = json.loads(file.read_text())["pluginReports"] if file.exists() else []
    return [violation for plugin in found for violation in plugin["violations"]]


@pytest.fixture
def deployed(tmp_path):
    """The assembly that was deployed."""
    app, _ = _app(tmp_path / "old", llm="ml.p5.48xlarge", other="ml.p4d.24xlarge")
    assert _violations(app) == []
    return tmp_path / "old"


def test_the_stack_with_the_baselines_cluster_is_compared(tmp_path, deployed):
    baseline = str(deployed / "Llm.template.json")
    app, _ = _app(tmp_path / "new", baseline=baseline, other="ml.p4d.24xlarge", llm="ml.p5e.48xlarge")
    (violation,) = _violations(app)
    assert violation["ruleName"] == "GroupSettings"
    (construct,) = violation["violatingConstructs"]
    assert construct["constructPath"] == "Llm/Cluster"
    assert "add a group with a new name, such as 'workers-2'" in violation["description"]


def test_an_unchanged_stack_has_no_findings(tmp_path, deployed):
    baseline = str(deployed / "Llm.template.json")
    app, _ = _app(tmp_path / "new", baseline=baseline, llm="ml.p5.48xlarge", other="ml.p4d.24xlarge")
    assert _violations(app) == []


def test_an_update_can_be_acknowledged(tmp_path, deployed):
    baseline = str(deployed / "Llm.template.json")
    app, (stack,) = _app(tmp_path / "new", baseline=baseline, llm="ml.p5e.48xlarge")
    Validations.of(stack.cluster).acknowledge(
        Acknowledgment(id="HyperPodChecks::GroupSettings", reason="the group has no nodes and is made anew")
    )
    assert _violations(app) == []


def test_a_baseline_of_another_cluster_is_told(tmp_path, deployed):
    baseline = str(deployed / "Other.template.json")
    app, _ = _app(tmp_path / "new", baseline=baseline, llm="ml.p4d.24xlarge")
    (violation,) = _violations(app)
    assert violation["ruleName"] == "ClusterReplacement"


def test_the_pack_names_its_update_rules_with_a_baseline_only(deployed):
    ids = [rule.id for rule in UPDATE_RULES]
    assert not set(ids) & set(HyperPodChecks().rule_ids)
    assert HyperPodChecks(baseline=deployed / "Llm.template.json").rule_ids[-len(ids) :] == ids


def test_a_missing_baseline_is_refused():
    with pytest.raises(InvalidInputError, match=r"baseline: nowhere\.json: is not there"):
        HyperPodChecks(baseline="nowhere.json")
