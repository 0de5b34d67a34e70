from __future__ import annotations

from importlib import import_module

import pytest

from hyperpod_policy import Document, Rule, review
from hyperpod_policy.registry import RULES
from hyperpod_policy.rule import failed, passed, undetermined


def _probe(check) -> Rule:
    return Rule("Probe", "probes are right", "error", "Because.", "do it", "nowhere", check)


def _small_probes_fail(template):
    for probe in template.of_type("Test::Probe"):
        size = probe.get("Size")
        yield (
            passed(probe, "Size")
            if size == "large"
            else failed(probe, "Size", found=f"is {size}", allowed="large")
        )


SMALL = _probe(_small_probes_fail)


def test_a_finding_is_complete(template):
    (finding,) = review(
        {"Resources": {"P": {"Type": "Test::Probe", "Properties": {"Size": "small"}}}},
        rules=[SMALL],
        file="x.json",
    ).findings
    assert finding.text() == (
        "error: Probe: probes are right\n"
        "  where: P (Test::Probe) Size\n"
        "  file:  x.json\n"
        "  found: is small; expected: large\n"
        "  fix:   do it\n"
        "  why:   Because.\n"
        "  see:   nowhere"
    )


def test_undetermined_is_told_apart_from_failure():
    rule = _probe(
        lambda template: [undetermined(p, found="is x", allowed="y") for p in template.of_type("T")]
    )
    report = review({"Resources": {"P": {"Type": "T"}}}, rules=[rule])
    assert report.failures == ()
    assert report.outcome("Probe") == "undetermined"
    assert report.text().startswith("undetermined: Probe: ")
    assert "cannot be told before deployment: is x; expected: y" in report.text()


def test_each_allowed_value_is_a_world():
    body = {
        "Parameters": {"Size": {"Type": "String", "AllowedValues": ["large", "small", "tiny"]}},
        "Resources": {"P": {"Type": "Test::Probe", "Properties": {"Size": {"Ref": "Size"}}}},
    }
    findings = review(body, rules=[SMALL]).failures
    assert {(finding.found, finding.when) for finding in findings} == {
        ("is small", "parameter Size is small"),
        ("is tiny", "parameter Size is tiny"),
    }


def test_one_condition_has_one_answer_in_a_world():
    """Two resources under opposite conditions never exist together."""

    def both(template):
        probes = list(template.of_type("Test::Probe"))
        assert len(probes) == 1
        yield passed(probes[0])

    region = {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}
    body = {
        "Conditions": {"Yes": region, "No": {"Fn::Not": [region]}},
        "Resources": {
            "A": {"Type": "Test::Probe", "Condition": "Yes"},
            "B": {"Type": "Test::Probe", "Condition": "No"},
        },
    }
    report = review(body, rules=[_probe(both)])
    assert {verdict.logical_id for verdict in report.verdicts} == {"A", "B"}


def test_an_unknown_value_equals_one_constant_at_most():
    def never_both(template):
        assert len(list(template.of_type("Test::Probe"))) < 2
        return ()

    body = {
        "Conditions": {
            name: {"Fn::Equals": [{"Ref": "AWS::Region"}, name]} for name in ("us-east-1", "us-west-2")
        },
        "Resources": {
            "A": {"Type": "Test::Probe", "Condition": "us-east-1"},
            "B": {"Type": "Test::Probe", "Condition": "us-west-2"},
        },
    }
    review(body, rules=[_probe(never_both)])


def test_a_failure_everywhere_says_no_when():
    body = {
        "Parameters": {"Name": {"Type": "String", "AllowedValues": ["a", "b"]}},
        "Resources": {"P": {"Type": "Test::Probe", "Properties": {"Name": {"Ref": "Name"}}}},
    }
    (finding,) = review(body, rules=[SMALL]).findings
    assert finding.when == ""


def test_too_many_combinations_are_said(monkeypatch):
    monkeypatch.setattr(import_module("hyperpod_policy.review"), "MAX_WORLDS", 3)
    body = {
        "Parameters": {"Size": {"Type": "String", "AllowedValues": [str(size) for size in range(9)]}},
        "Resources": {"P": {"Type": "Test::Probe", "Properties": {"Size": {"Ref": "Size"}}}},
    }
    report = review(body, rules=[SMALL])
    assert "further combinations of parameter values and conditions" in report.limits[0]
    assert "not reviewed: 6 or more further combinations" in report.text()


def _with_condition(**parameter):
    return {
        "Parameters": {"Stage": {"Type": "String", **parameter}, "Other": {"Type": "String", "Default": "a"}},
        "Conditions": {"Prod": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Stage"}, "test"]}]}},
        "Resources": {"P": {"Type": "Test::Probe", "Properties": {}}},
    }


def test_a_condition_that_only_a_default_decides_is_said():
    report = review(_with_condition(Default="prod"), file="t.json", rules=[SMALL])
    (limit,) = report.limits
    assert limit == "conditions on parameter Stage of t.json with another value than its default"


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ({}, {}),
        ({"Default": "prod", "AllowedValues": ["prod", "test"]}, {}),
        ({"Default": "a"}, {"Stage": "b"}),
    ],
    ids=str,
)
def test_a_condition_that_counts_both_ways_is_not_said(parameter, values):
    assert review(_with_condition(**parameter), rules=[SMALL], parameters=values).limits == ()


def test_where_nothing_is_judged_conditions_are_not_said():
    assert review(_with_condition(Default="prod")).limits == ()


def test_what_is_not_reviewed_is_said():
    body = {
        "Transform": [
            "AWS::LanguageExtensions",
            "AWS::Serverless-2016-10-31",
            {"Name": "AWS::Include", "Parameters": {"Location": "s3://x/y"}},
            {},
        ],
        "Resources": {
            "Fn::ForEach::Nodes": ["X", ["a"], {}],
            "Inner": {"Type": "AWS::CloudFormation::Stack"},
            "Many": {"Type": "AWS::CloudFormation::StackSet"},
            "Shared": {"Type": "Our::Network::Vpc::MODULE"},
        },
    }
    assert review(body, file="t.json").limits == (
        "transform AWS::Serverless-2016-10-31 of t.json: only CloudFormation runs it",
        "transform AWS::Include of t.json: only CloudFormation runs it",
        "Fn::ForEach::Nodes of t.json: only CloudFormation expands it",
        "nested stack Inner of t.json: its template is not at hand",
        "stack set Many of t.json: name its template's file to have it reviewed",
        "module Shared of t.json: only CloudFormation expands it",
    )


@pytest.mark.parametrize("body", [{}, {"Resources": {}}, {"Resources": {"X": {"Type": "AWS::S3::Bucket"}}}])
def test_other_templates_have_no_verdicts(body):
    assert review(body).verdicts == ()


def test_a_cluster_of_unresolved_values_crashes_no_rule():
    body = {
        "Parameters": {"P": {"Type": "String"}, "L": {"Type": "CommaDelimitedList"}},
        "Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {"Ref": "P"}}},
    }
    properties = [
        {"Ref": "P"},
        {"InstanceGroups": {"Ref": "L"}, "VpcConfig": {"Ref": "P"}, "Tags": {"Ref": "L"}},
        {"InstanceGroups": [{"Ref": "P"}], "VpcConfig": {"Subnets": {"Ref": "L"}, "SecurityGroupIds": "x"}},
        {
            "InstanceGroups": [
                {
                    "InstanceType": {"Ref": "P"},
                    "ExecutionRole": {"Ref": "P"},
                    "LifeCycleConfig": {"Ref": "P"},
                    "OverrideVpcConfig": {"Ref": "P"},
                    "OnStartDeepHealthChecks": {"Ref": "L"},
                    "InstanceRequirements": {"Ref": "P"},
                }
            ],
            "VpcConfig": {"SecurityGroupIds": [{"Ref": "P"}], "Subnets": [{"Ref": "P"}]},
        },
        {"InstanceGroups": "x", "VpcConfig": [], "Orchestrator": 1},
    ]
    for value in properties:
        body["Resources"]["C"]["Properties"] = value
        report = review(body, region="us-west-2")
        assert report.verdicts


def test_nested_stacks_are_reviewed_with_their_parent(template):
    """The cluster in a nested stack, everything else in its parent."""
    resources = template["Resources"]
    cluster = resources.pop("Cluster")
    parameters = ("NodeGroup", "Subnet", "Scripts")
    inner = {
        "Parameters": {name: {"Type": "String"} for name in (*parameters, "NodeRoleArn")},
        "Resources": {"Cluster": cluster},
    }
    depends = cluster.pop("DependsOn")
    for group in cluster["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Ref": "NodeRoleArn"}
    resources["Inner"] = {
        "Type": "AWS::CloudFormation::Stack",
        "DependsOn": depends,
        "Properties": {
            "Parameters": {
                **{name: {"Ref": name} for name in parameters},
                "NodeRoleArn": {"Fn::GetAtt": ["NodeRole", "Arn"]},
            }
        },
    }
    document = Document(template, region="us-west-2", nested={"Inner": Document(inner, region="us-west-2")})
    report = review(document)
    assert report.findings == ()
    assert report.outcome("ClusterDependencies") == "pass"
    assert report.outcome("ScriptWriters") == "pass"
    resources["Inner"]["DependsOn"].remove("Route")
    del resources["SelfEgress"]
    assert {finding.rule_id for finding in review(document).failures} == {
        "EfaSelfTraffic",
        "ClusterDependencies",
    }


def test_stacks_are_reviewed_together(template):
    """The network in a stack of its own, imported by the stack of the cluster."""
    resources = template["Resources"]
    moved = {name: resources.pop(name) for name in ("NodeGroup", "SelfIngress", "SelfEgress", "HttpsEgress")}
    moved["NodeGroup"]["Properties"] = {}
    network = {
        "Resources": moved,
        "Outputs": {"Group": {"Value": {"Fn::GetAtt": "NodeGroup.GroupId"}, "Export": {"Name": "nodes"}}},
    }
    imported = {"Fn::ImportValue": "nodes"}
    resources["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"] = [imported]
    for name in ("988", "1018"):
        resources[f"LustreFromNodes{name}"]["Properties"]["SourceSecurityGroupId"] = imported
        resources[f"NodesToLustre{name}"]["Properties"]["GroupId"] = imported
        resources[f"NodesFromLustre{name}"]["Properties"]["GroupId"] = imported
        resources[f"LustreToNodes{name}"]["Properties"]["DestinationSecurityGroupId"] = imported
    documents = [Document(network, region="us-west-2"), Document(template, region="us-west-2")]
    assert review(documents).findings == ()
    alone = review(documents[1])
    assert alone.outcome("EfaSelfTraffic") == "undetermined"


def test_all_rules_apply_by_default(template, eks_template):
    ids = {
        verdict.rule_id
        for found in (template, eks_template)
        for verdict in review(found, region="us-west-2").verdicts
    }
    assert ids == {rule.id for rule in RULES} - {"EfaLustreTraffic"}
