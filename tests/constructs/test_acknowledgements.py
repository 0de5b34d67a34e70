"""What is acknowledged is what cdk-nag finds, no less and no more."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from importlib import util
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, CfnResource, Environment, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from hyperpod_constructs import EfaSecurityGroup, ExecutionRole, HyperPodChecks, HyperPodStack
from hyperpod_constructs.acknowledgements import acknowledge_known_findings, acknowledge_upload_handler
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster

ROOT = Path(__file__).parents[2]
CLUSTERS = ROOT / "examples" / "clusters"
JOB_CLUSTERS = ROOT / "examples" / "jobs" / "clusters"
EXAMPLES = sorted(path.name for path in CLUSTERS.iterdir())
ENV = Environment(account="111122223333", region="us-west-2")


def report_of(app: App) -> Mapping[str, Any]:
    """The validation report, whether or not the findings fail the synthesis."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app), HyperPodChecks(app))
    with contextlib.suppress(RuntimeError):
        app.synth()
    report: dict[str, Any] = json.loads((Path(app.outdir) / "validation-report.json").read_text())
    return report


def findings(report: Mapping[str, Any], kind: str) -> set[tuple[str, str]]:
    return {
        (construct["constructPath"], f"{plugin['pluginName']}::{finding['ruleName']}")
        for plugin in report["pluginReports"]
        for finding in plugin.get(kind, [])
        if finding["severity"] != "info"
        for construct in finding["violatingConstructs"]
    }


def test_of_unknown_types_only_quotas_are_accepted(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    stack = HyperPodStack(app, "HyperPodStack", spec=load_cluster(JOB_CLUSTERS / "team.yaml").spec)
    CfnResource(stack, "Other", type="AWS::SageMaker::NoSuchType")
    accepted = acknowledge_known_findings(stack)
    of_types = [one for one in accepted if one.id == "CloudFormation-Validate::F3006"]
    assert {one.construct.node.path for one in of_types} == {
        f"HyperPodStack/TaskGovernance/Quota{team}" for team in ("research", "product")
    }
    assert all(len(one.reason) > 30 for one in of_types)


@pytest.mark.parametrize(
    ("said", "reminded"),
    [
        ({}, True),
        ({"budget": {"idle_hours": 2}}, True),
        ({"budget": None}, False),
        ({"budget": {"limit_usd": None}}, False),
    ],
)
def test_who_says_that_there_is_no_budget_is_not_reminded(
    said: dict[str, Any], reminded: bool, tmp_path: Path
) -> None:
    spec = yaml.safe_load((CLUSTERS / "scripted-slurm.yaml").read_text(encoding="utf-8")) | said
    app = App(outdir=str(tmp_path))
    HyperPodStack(app, "HyperPodStack", spec=ClusterSpec.model_validate(spec))
    report = report_of(app)
    kinds = {
        kind: "HyperPodChecks::Budget" in {id for _, id in findings(report, kind)}
        for kind in ("violations", "suppressedViolations")
    }
    assert kinds == {"violations": reminded, "suppressedViolations": not reminded}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_acknowledgement_meets_a_finding_and_every_error_an_acknowledgement(
    name: str, tmp_path: Path
) -> None:
    request = {"region": "us-west-2", "availability_zone_id": "usw2-az2"} if name.endswith(".json") else {}
    app = App(outdir=str(tmp_path))
    stack = HyperPodStack(app, "HyperPodStack", spec=load_cluster(CLUSTERS / name, **request).spec)
    accepted = (*acknowledge_known_findings(stack), *acknowledge_upload_handler(stack))
    report = report_of(app)
    suppressed = findings(report, "suppressedViolations")
    assert {(one.construct.node.path, one.id) for one in accepted} == suppressed
    errors = {
        finding["ruleName"]
        for plugin in report["pluginReports"]
        for finding in plugin["violations"]
        if finding["severity"] == "error"
    }
    assert errors == set()
    for one in accepted:
        assert len(one.reason) > 30, one.id


def test_the_role_of_autoscaling_is_accepted_and_what_others_add_to_it_is_not(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    text = (CLUSTERS / "llm-train-eks.yaml").read_text(encoding="utf-8")
    file.write_text(f"{text}\nauto_scaling: {{mode: Enable}}\n", encoding="utf-8")

    def of_the_role(folder: Path, *, widened: bool) -> set[str]:
        app = App(outdir=str(folder))
        stack = HyperPodStack(app, "HyperPodStack", spec=load_cluster(file).spec)
        if widened:
            role = stack.node.find_child("AutoscalingRole")
            assert isinstance(role, iam.Role)
            role.add_to_principal_policy(iam.PolicyStatement(actions=["sagemaker:*"], resources=["*"]))
        acknowledge_known_findings(stack)
        acknowledge_upload_handler(stack)
        found = findings(report_of(app), "violations")
        return {
            id.split("::", 1)[1] for path, id in found if path.startswith("HyperPodStack/AutoscalingRole")
        }

    assert of_the_role(tmp_path / "own", widened=False) == set()
    assert {
        "AwsSolutions-IAM5[Action::sagemaker:*]",
        "AwsSolutions-IAM5[Resource::*]",
    } <= of_the_role(tmp_path / "widened", widened=True)


def test_reads_of_a_chart_from_a_folder_are_accepted_and_what_others_add_is_not(tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    chart.mkdir()
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n", encoding="utf-8")
    spec = yaml.safe_load((CLUSTERS / "llm-train-eks.yaml").read_text(encoding="utf-8"))
    spec["eks"]["dependency_chart"] = {"folder": "chart"}
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")

    def of_the_installer(folder: Path, *, widened: bool) -> set[str]:
        app = App(outdir=str(folder))
        stack = HyperPodStack(app, "HyperPodStack", spec=load_cluster(file).spec)
        if widened:
            role = stack.node.find_child("ControlPlane").node.find_child("Kubectl").node.find_child("Handler")
            assert isinstance(role, lambda_.Function)
            role.add_to_role_policy(
                iam.PolicyStatement(actions=["s3:GetObject*"], resources=["arn:aws:s3:::other/*"])
            )
            role.add_to_role_policy(iam.PolicyStatement(actions=["s3:Put*"], resources=["*"]))
        accepted = (*acknowledge_known_findings(stack), *acknowledge_upload_handler(stack))
        report = report_of(app)
        assert {(one.construct.node.path, one.id) for one in accepted} == findings(
            report, "suppressedViolations"
        )
        return {
            id.split("::", 1)[1]
            for path, id in findings(report, "violations")
            if path.startswith("HyperPodStack/ControlPlane")
        }

    assert of_the_installer(tmp_path / "own", widened=False) == set()
    assert of_the_installer(tmp_path / "widened", widened=True) == {
        "AwsSolutions-IAM5[Action::s3:Put*]",
        "AwsSolutions-IAM5[Resource::*]",
        "AwsSolutions-IAM5[Resource::arn:aws:s3:::other/*]",
        "RolePrivileges",
    }


def test_what_others_add_stays_a_finding(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    stack = Stack(app, "S", env=ENV)
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["a"])
    group = EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    ec2.CfnSecurityGroupIngress(
        stack,
        "Ssh",
        group_id=group.security_group_id,
        ip_protocol="tcp",
        from_port=22,
        to_port=22,
        cidr_ip="0.0.0.0/0",
    )
    role = ExecutionRole(stack, "Role")
    role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:*"], resources=["*"]))
    s3.Bucket(stack, "Bucket")
    acknowledge_known_findings(stack)
    acknowledge_upload_handler(stack)
    found = {id for _, id in findings(report_of(app), "violations")}
    assert "NIST.800.53.R5::NIST.800.53.R5-EC2RestrictedSSH" in found
    assert "AwsSolutions::AwsSolutions-IAM5[Action::s3:*]" in found
    assert "AwsSolutions::AwsSolutions-IAM5[Resource::*]" in found
    assert "AwsSolutions::AwsSolutions-S1" in found


def test_no_construct_speaks_for_the_shared_upload_function(tmp_path: Path) -> None:
    def uploads(acknowledge: bool, folder: Path) -> set[tuple[str, str]]:
        app = App(outdir=str(folder))
        stack = Stack(app, "S", env=ENV)
        s3_deployment.BucketDeployment(
            stack,
            "Upload",
            destination_bucket=s3.Bucket(stack, "Bucket"),
            sources=[s3_deployment.Source.data("a", "b")],
        )
        acknowledge_known_findings(stack)
        if acknowledge:
            acknowledge_upload_handler(stack)
        found = findings(report_of(app), "violations")
        return {one for one in found if "Custom::CDKBucketDeployment" in one[0]}

    assert uploads(False, tmp_path / "a") != set()
    assert uploads(True, tmp_path / "b") == set()


def test_the_page_is_current() -> None:
    spec = util.spec_from_file_location("page", ROOT / "docs" / "generators" / "acknowledgements.py")
    assert spec is not None
    assert spec.loader is not None
    page = util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.PAGE.read_text() == page.page()
