"""A cloud assembly that the CDK wrote, as hyperpod-review loads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from aws_cdk import (
    Acknowledgment,
    App,
    CfnResource,
    Environment,
    NestedStack,
    Stack,
    Stage,
    Validations,
)
from aws_cdk import aws_s3 as s3

from hyperpod_constructs.hyperpod_checks import HyperPodChecks
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load

ACCOUNT = "111122223333"


def _fill(stack: Stack) -> s3.CfnBucket:
    CfnResource(stack, "Cluster", type="AWS::SageMaker::Cluster", properties={"InstanceGroups": []})
    return s3.CfnBucket(stack, "Bucket")


def _accept(scope, rule_id: str) -> None:
    Validations.of(scope).acknowledge(Acknowledgment(id=f"HyperPodChecks::{rule_id}", reason=f"{rule_id}!"))


@pytest.fixture(scope="module")
def assembly(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("assembly") / "cdk.out"
    app = App(outdir=str(folder))
    top = Stack(app, "Top", env=Environment(region="us-west-2", account=ACCOUNT))
    bucket = _fill(top)
    inner = NestedStack(top, "Inner")
    _fill(inner)
    stage = Stage(app, "Prod", env=Environment(region="eu-west-1"))
    staged = Stack(stage, "Staged")
    _fill(staged)
    _accept(bucket, "BucketVersioning")
    _accept(inner, "BucketTransport")
    _accept(staged, "BucketPublicAccess")
    _accept(stage, "ClusterRequest")
    _accept(app, "NodeRecovery")
    Validations.of(bucket).acknowledge(Acknowledgment(id="AwsSolutions::AwsSolutions-S1", reason="other"))
    Validations.of(app).add_plugins(HyperPodChecks(app))
    with pytest.raises(Exception, match="HyperPodChecks"):
        app.synth()
    return folder


def test_each_stack_has_its_environment_and_nested_stacks(assembly):
    found = {
        Path(document.file).relative_to(assembly).parts[-2:-1]: document
        for document in load([assembly]).documents
    }
    top, staged = found[()], found[("assembly-Prod",)]
    assert (top.region, top.account, staged.region, staged.account) == (
        "us-west-2",
        ACCOUNT,
        "eu-west-1",
        None,
    )
    (inner,) = top.nested.values()
    assert "Bucket" in inner.body["Resources"]
    assert Path(inner.file).read_text().splitlines()[inner.line_of("Bucket") - 1].strip() == '"Bucket": {'


def test_what_the_app_accepts_is_known_by_resource(assembly):
    def where(acknowledgement):
        return Path(acknowledgement.file).name.partition(".")[0], acknowledgement.resource

    found: dict[str, set[tuple[str, str]]] = {}
    for one in load([assembly]).acknowledgements:
        found.setdefault(one.rule_id, set()).add(where(one))
        assert one.reason == f"{one.rule_id}!"
        assert one.in_source
    names = {Path(document.file).name.partition(".")[0] for document in load([assembly]).documents}
    (staged,) = names - {"Top"}
    (nested,) = {file for file, _ in found["BucketTransport"]}
    assert found["BucketVersioning"] == {("Top", "Bucket")}
    assert nested.startswith("TopInner")
    assert found["BucketTransport"] == {(nested, "Bucket"), (nested, "Cluster")}
    assert {(staged, "Bucket"), (staged, "Cluster")} <= found["BucketPublicAccess"]
    # Accepted by the Stage and by the app, of which only the report tells.
    assert found["ClusterRequest"] == {(staged, "Cluster")}
    assert found["NodeRecovery"] == {("Top", "Cluster"), (nested, "Cluster"), (staged, "Cluster")}
    assert "AwsSolutions-S1" not in found


@pytest.mark.parametrize(("name", "rules"), [("Top.template.json", 3), ("assembly-Prod", 3)])
def test_a_part_of_an_assembly_is_known_as_well(assembly, name, rules):
    found = load([assembly / name])
    (document,) = found.documents
    assert document.region in ("us-west-2", "eu-west-1")
    assert len({one.rule_id for one in found.acknowledgements}) == rules


def test_the_findings_name_a_line_of_their_template(assembly):
    report = review_sources(load([assembly]))
    assert report.failures
    for finding in report.findings:
        line = Path(finding.file).read_text().splitlines()[finding.line - 1]
        assert finding.logical_id in line or any(str(step) in line for step in ("Properties", *finding.path))
