from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aws_cdk import (
    Acknowledgment,
    App,
    CfnOutput,
    CliCredentialsStackSynthesizer,
    Environment,
    Fn,
    LegacyStackSynthesizer,
    NestedStack,
    Stack,
    Stage,
    Validations,
)
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks
from constructs import Construct

from hyperpod_constructs.hyperpod_checks import HyperPodChecks
from hyperpod_policy.registry import RULES, rule

ENV = Environment(region="us-west-2")
ROLE_ARN = "arn:aws:iam::111122223333:role/Nodes"
ONLY = [rule("EfaSelfTraffic"), rule("NodeRecovery"), rule("ExecutionRoleTrust"), rule("CheckpointPortsAcl")]
ALL_ERRORS = ("EfaSelfTraffic", "NodeRecovery")


def _cluster(scope: Construct, group_id: str, *, node_recovery: str = "Automatic") -> sagemaker.CfnCluster:
    return sagemaker.CfnCluster(
        scope,
        "Cluster",
        cluster_name="llm-train",
        node_recovery=node_recovery,
        instance_groups=[
            sagemaker.CfnCluster.ClusterInstanceGroupProperty(
                execution_role=ROLE_ARN,
                instance_count=1,
                instance_group_name="workers",
                instance_type="ml.p5.48xlarge",
            )
        ],
        vpc_config=sagemaker.CfnCluster.VpcConfigProperty(
            security_group_ids=[group_id], subnets=["subnet-0123456789abcdef0"]
        ),
    )


def _group(scope: Construct, *, self_rules: bool) -> ec2.CfnSecurityGroup:
    group = ec2.CfnSecurityGroup(scope, "Nodes", group_description="nodes", vpc_id="vpc-0123456789abcdef0")
    if self_rules:
        for kind, peer in (
            (ec2.CfnSecurityGroupIngress, "source_security_group_id"),
            (ec2.CfnSecurityGroupEgress, "destination_security_group_id"),
        ):
            ids = {"group_id": group.attr_group_id, peer: group.attr_group_id}
            kind(scope, kind.__name__, ip_protocol="-1", **ids)
    return group


class _Cluster(Stack):
    def __init__(
        self, scope: Construct, id: str, *, self_rules: bool = True, node_recovery: str = "Automatic"
    ) -> None:
        super().__init__(scope, id, env=ENV)
        self.group = _group(self, self_rules=self_rules)
        self.cluster = _cluster(self, self.group.ref, node_recovery=node_recovery)


def _synthesize(app: App) -> tuple[dict[str, Any], str | None]:
    """Synthesize, and return the report with the error, if there is one."""
    try:
        app.synth()
    except RuntimeError as error:
        failure: str | None = str(error)
    else:
        failure = None
    report = Path(app.outdir) / "validation-report.json"
    return (json.loads(report.read_text()) if report.exists() else {"pluginReports": []}), failure


def _ours(report: dict[str, Any]) -> dict[str, Any]:
    found = [each for each in report["pluginReports"] if each["pluginName"] == "HyperPodChecks"]
    return found[0] if found else {"violations": [], "suppressedViolations": []}


def _places(violations: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {
        (violation["ruleName"], construct["constructPath"])
        for violation in violations
        for construct in violation["violatingConstructs"]
    }


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory):
    """One app with a stack, a nested stack, a Stage and an acknowledged stack, judged by three packs."""
    app = App(outdir=str(tmp_path_factory.mktemp("everywhere")))
    broken = _Cluster(app, "Broken", self_rules=False)
    bucket = s3.CfnBucket(broken, "Unlogged")
    Validations.of(bucket).acknowledge(
        Acknowledgment(
            id="NIST.800.53.R5::NIST.800.53.R5-S3BucketLoggingEnabled", reason="holds nothing worth a log"
        )
    )
    outer = Stack(app, "Outer", env=ENV)
    group = _group(outer, self_rules=False)
    _cluster(NestedStack(outer, "Inner"), group.ref, node_recovery="None")
    stage = Stage(app, "Prod", env=ENV)
    _Cluster(stage, "Staged", self_rules=False)
    deep = NestedStack(Stack(stage, "Deep"), "Within")
    _cluster(deep, _group(deep, self_rules=False).ref)
    calm = _Cluster(app, "Calm", self_rules=False)
    Validations.of(calm.group).acknowledge(
        Acknowledgment(id="HyperPodChecks::EfaSelfTraffic", reason="rules are added by the network team")
    )
    Validations.of(app).add_plugins(
        AwsSolutionsChecks(app), NIST80053R5Checks(app), HyperPodChecks(app, rules=ONLY)
    )
    report, failure = _synthesize(app)
    return SimpleNamespace(report=report, ours=_ours(report), failure=failure)


def test_findings_have_construct_path_logical_id_and_property(everywhere):
    violations = [
        construct
        for violation in everywhere.ours["violations"]
        for construct in violation["violatingConstructs"]
        if violation["ruleName"] == "EfaSelfTraffic" and construct["constructPath"] == "Broken/Nodes"
    ]
    assert {json.dumps(violation["cloudFormationResource"], sort_keys=True) for violation in violations} == {
        json.dumps(
            {
                "logicalId": "Nodes",
                "propertyPaths": [f"Properties.SecurityGroup{direction}"],
                "templatePath": "Broken.template.json",
            },
            sort_keys=True,
        )
        for direction in ("Ingress", "Egress")
    }


def test_a_finding_says_what_why_and_how(everywhere):
    violation = next(each for each in everywhere.ours["violations"] if each["ruleName"] == "EfaSelfTraffic")
    efa = rule("EfaSelfTraffic")
    assert violation["description"].startswith(f"{efa.title}: no ingress rule at all; expected: all traffic")
    assert violation["description"].endswith(efa.why)
    assert violation["suggestedFix"] == efa.fix
    assert violation["severity"] == "error"
    assert violation["ruleMetadata"] == {"outcome": "fail", "source": efa.source, "why": efa.why}


def test_nested_stacks_and_stages_are_seen(everywhere):
    assert _places(everywhere.ours["violations"]) >= {
        ("EfaSelfTraffic", "Outer/Nodes"),
        ("NodeRecovery", "Outer/Inner/Cluster"),
        ("EfaSelfTraffic", "Prod/Staged/Nodes"),
        ("EfaSelfTraffic", "Prod/Deep/Within/Nodes"),
    }


def test_what_only_deployment_can_tell_is_information(everywhere):
    trust = [each for each in everywhere.ours["violations"] if each["ruleName"] == "ExecutionRoleTrust"]
    assert {each["severity"] for each in trust} == {"info"}
    assert {each["ruleMetadata"]["outcome"] for each in trust} == {"undetermined"}
    why = rule("ExecutionRoleTrust").why
    assert {each["ruleMetadata"]["why"] for each in trust} == {why}
    assert not any(why in each["description"] for each in trust)


def test_an_acknowledgement_moves_the_finding_with_its_reason(everywhere):
    assert ("EfaSelfTraffic", "Calm/Nodes") not in _places(everywhere.ours["violations"])
    suppressed = everywhere.ours["suppressedViolations"]
    assert _places(suppressed) == {("EfaSelfTraffic", "Calm/Nodes")}
    assert {each["reason"] for each in suppressed} == {"rules are added by the network team"}
    assert {each["acknowledgedId"] for each in suppressed} == {"HyperPodChecks::EfaSelfTraffic"}


def test_the_packs_work_beside_each_other(everywhere):
    reports = {each["pluginName"]: each for each in everywhere.report["pluginReports"]}
    assert set(reports) == {"AwsSolutions", "NIST.800.53.R5", "HyperPodChecks"}
    bucket = "Broken/Unlogged"
    assert ("AwsSolutions-S1", bucket) in _places(reports["AwsSolutions"]["violations"])
    assert ("NIST.800.53.R5-S3BucketLoggingEnabled", bucket) in _places(
        reports["NIST.800.53.R5"]["suppressedViolations"]
    )


def test_an_unacknowledged_error_fails_the_synthesis(everywhere):
    assert everywhere.ours["conclusion"] == "failure"
    assert "every security group of EFA nodes admits all traffic" in everywhere.failure


def _small(tmp_path, *acknowledged: str, **more: Any) -> tuple[dict[str, Any], str | None]:
    app = App(outdir=str(tmp_path))
    stack = _Cluster(app, "Cluster", **more)
    for rule_id in acknowledged:
        Validations.of(stack).acknowledge(Acknowledgment(id=rule_id, reason="a test"))
    Validations.of(app).add_plugins(HyperPodChecks(app, rules=ONLY))
    report, failure = _synthesize(app)
    return _ours(report), failure


def test_acknowledging_every_error_lets_the_synthesis_pass(tmp_path):
    ids = [f"HyperPodChecks::{rule_id}" for rule_id in ALL_ERRORS]
    ours, failure = _small(tmp_path, *ids, self_rules=False, node_recovery="None")
    assert failure is None
    assert ours["conclusion"] == "success"
    assert {each["ruleName"] for each in ours["suppressedViolations"]} == set(ALL_ERRORS)
    assert {each["severity"] for each in ours["violations"]} == {"info"}


def test_acknowledging_one_error_leaves_the_other(tmp_path):
    ours, failure = _small(tmp_path, "HyperPodChecks::EfaSelfTraffic", self_rules=False, node_recovery="None")
    assert failure is not None
    assert {each["ruleName"] for each in ours["violations"] if each["severity"] == "error"} == {
        "NodeRecovery"
    }


def test_an_id_without_prefix_acknowledges_nothing(tmp_path):
    ours, failure = _small(tmp_path, "EfaSelfTraffic", self_rules=False)
    assert failure is not None
    assert not ours.get("suppressedViolations")


def test_information_fails_nothing(tmp_path):
    ours, failure = _small(tmp_path)
    assert failure is None
    assert ours["conclusion"] == "success"
    assert {each["severity"] for each in ours["violations"]} == {"info"}


def test_a_stack_without_cluster_has_no_findings(tmp_path):
    app = App(outdir=str(tmp_path))
    _group(Stack(app, "Other"), self_rules=False)
    Validations.of(app).add_plugins(HyperPodChecks())
    report, failure = _synthesize(app)
    assert failure is None
    assert _ours(report)["violations"] == []


def test_references_across_stacks_count(tmp_path):
    app = App(outdir=str(tmp_path))
    network = Stack(app, "Network", env=ENV)
    group = _group(network, self_rules=True)
    CfnOutput(network, "Group", value=group.attr_group_id, export_name="nodes")
    _cluster(Stack(app, "Cluster", env=ENV), Fn.import_value("nodes"))
    Validations.of(app).add_plugins(HyperPodChecks(app, rules=[rule("EfaSelfTraffic")]))
    report, failure = _synthesize(app)
    assert failure is None
    assert _ours(report)["violations"] == []


@pytest.mark.parametrize(
    "synthesizer", [LegacyStackSynthesizer, CliCredentialsStackSynthesizer], ids=lambda kind: kind.__name__
)
def test_nested_stacks_are_seen_under_other_synthesizers(tmp_path, synthesizer):
    app = App(outdir=str(tmp_path))
    inner = NestedStack(NestedStack(Stack(app, "Outer", synthesizer=synthesizer()), "Middle"), "Inner")
    _cluster(inner, "sg-0123456789abcdef0", node_recovery="None")
    Validations.of(app).add_plugins(HyperPodChecks(app, rules=[rule("NodeRecovery")]))
    report, failure = _synthesize(app)
    assert failure is not None
    assert _places(_ours(report)["violations"]) == {("NodeRecovery", "Outer/Middle/Inner/Cluster")}


def test_a_token_is_undetermined_until_it_is_given(tmp_path):
    app = App(outdir=str(tmp_path))
    stack = Stack(app, "Cluster", env=ENV)
    role = iam.Role.from_role_arn(stack, "Role", Fn.import_value("role"))
    cluster = _cluster(stack, _group(stack, self_rules=True).ref)
    cluster.add_property_override("InstanceGroups.0.ExecutionRole", role.role_arn)
    Validations.of(app).add_plugins(HyperPodChecks(app, rules=[rule("ExecutionRoleTrust")]))
    report, failure = _synthesize(app)
    assert failure is None
    (violation,) = _ours(report)["violations"]
    assert "role import role is not in this template" in violation["description"]


def test_the_pack_names_itself_and_its_rules():
    pack = HyperPodChecks()
    assert pack.name == "HyperPodChecks"
    assert pack.rule_ids == [found.id for found in RULES]
    assert pack.version.count(".") == 2


@pytest.mark.parametrize(("acknowledge", "code"), [("no", 1), ("yes", 0)])
def test_the_exit_code_tells(tmp_path, acknowledge, code):
    script = Path(__file__).with_name("hyperpod_checks_app.py")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), acknowledge],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "validation-report.json").exists()


def test_advice_is_a_line_of_information(tmp_path):
    app = App(outdir=str(tmp_path))
    _Cluster(app, "Cluster")
    Validations.of(app).add_plugins(HyperPodChecks(app, rules=[replace(rule("Budget"), severity="advice")]))
    report, failure = _synthesize(app)
    assert failure is None
    (violation,) = _ours(report)["violations"]
    assert violation["severity"] == "info"
    assert violation["description"] == "advice: this template has no budget"
