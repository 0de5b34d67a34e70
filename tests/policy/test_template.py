from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.faults import UNKNOWN
from hyperpod_policy import Document
from hyperpod_policy.choices import World
from hyperpod_policy.template import Template
from hyperpod_policy.values import (
    Dynamic,
    Expression,
    Imported,
    Parameter,
    Pseudo,
    Reference,
    Text,
    elements,
    request_terms,
    same,
)

GROUP = Reference("Group", "Ref")
ARN = Text(("arn:", Pseudo("AWS::Partition"), ":s3:::", Reference("Bucket", "Ref")))

DOCUMENT: dict[str, Any] = {
    "Parameters": {
        "Name": {"Type": "String", "Default": "train"},
        "Open": {"Type": "String"},
        "Count": {"Type": "Number", "Default": "16"},
        "Zones": {"Type": "CommaDelimitedList", "Default": "a, b"},
        "Groups": {"Type": "List<AWS::EC2::SecurityGroup::Id>"},
        "Image": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/aws/image"},
        "Stage": {"Type": "String", "AllowedValues": ["dev", "prod"], "Default": "prod"},
    },
    "Mappings": {"Sizes": {"prod": {"disk": 500}, "dev": {"disk": 50}}},
    "Conditions": {
        "Yes": {"Fn::Equals": ["a", "a"]},
        "No": {"Fn::Not": [{"Condition": "Yes"}]},
        "Both": {"Fn::And": [{"Condition": "Yes"}, {"Fn::Equals": [{"Ref": "Name"}, "train"]}]},
        "Either": {"Fn::Or": [{"Condition": "No"}, {"Condition": "Both"}]},
        "Here": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-west-2"]},
        "Loop": {"Fn::Not": [{"Condition": "Loop"}]},
    },
    "Resources": {
        "Group": {"Type": "AWS::EC2::SecurityGroup"},
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Probe": {"Type": "Test::Probe"},
    },
}


def _resolve(value: Any, **more: Any) -> Any:
    resources = {**DOCUMENT["Resources"], "Probe": {"Type": "Test::Probe", "Properties": {"Value": value}}}
    template = Template([Document({**DOCUMENT, "Resources": resources}, **more)])
    probe = template.by_key("Probe")
    assert probe is not None
    return probe.get("Value", default="absent")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        ({"Ref": "Name"}, "train"),
        ({"Ref": "Open"}, Parameter("Open")),
        ({"Ref": "Count"}, 16),
        ({"Ref": "Zones"}, ["a", "b"]),
        ({"Ref": "Groups"}, Parameter("Groups", many=True)),
        ({"Ref": "Image"}, Parameter("Image")),
        ({"Ref": "Stage"}, "prod"),
        ({"Ref": "Group"}, GROUP),
        ({"Ref": "AWS::Region"}, Pseudo("AWS::Region")),
        ({"Ref": "AWS::NoValue"}, "absent"),
        ({"Fn::GetAtt": ["Group", "GroupId"]}, GROUP),
        ({"Fn::GetAtt": "Group.GroupId"}, GROUP),
        ({"Fn::GetAtt": ["Group", "VpcId"]}, Reference("Group", "VpcId")),
        ({"Fn::GetAtt": ["Vpc", "CidrBlock"]}, "10.0.0.0/16"),
        ({"Fn::GetAtt": ["Bucket", "Arn"]}, ARN),
        ({"Fn::Sub": "arn:${AWS::Partition}:s3:::${Bucket}"}, ARN),
        ({"Fn::Sub": "${Bucket.Arn}"}, ARN),
        ({"Fn::Sub": "${Name}-${!Name}-${Count}"}, "train-${Name}-16"),
        ({"Fn::Sub": ["${A}/${Name}", {"A": {"Ref": "Group"}}]}, Text((GROUP, "/train"))),
        ({"Fn::Join": ["-", ["a", {"Ref": "Name"}, 1, True]]}, "a-train-1-true"),
        ({"Fn::Join": ["", [{"Fn::GetAtt": "Bucket.Arn"}, "/*"]]}, Text((*ARN.parts, "/*"))),
        ({"Fn::Join": [",", {"Ref": "Zones"}]}, "a,b"),
        (
            {"Fn::Join": [",", {"Ref": "Groups"}]},
            Expression("Fn::Join", (",", Parameter("Groups", many=True))),
        ),
        ({"Fn::Split": [",", "a,b"]}, ["a", "b"]),
        ({"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::Sub": "x/${Group}/y"}]}]}, GROUP),
        ({"Fn::Select": ["1", ["a", "b"]]}, "b"),
        ({"Fn::Select": [5, ["a", "b"]]}, Expression("Fn::Select", (5, ("a", "b")))),
        ({"Fn::FindInMap": ["Sizes", "prod", "disk"]}, 500),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "disk"]}, 500),
        ({"Fn::FindInMap": ["Sizes", "other", "disk", {"DefaultValue": 1}]}, 1),
        ({"Fn::If": ["Yes", "a", "b"]}, "a"),
        ({"Fn::If": ["No", "a", "b"]}, "b"),
        ({"Fn::If": ["Either", "a", {"Ref": "AWS::NoValue"}]}, "a"),
        ({"Fn::If": ["No", "a", {"Ref": "AWS::NoValue"}]}, "absent"),
        ({"Fn::ImportValue": "vpc"}, Imported("vpc")),
        ({"Fn::ImportValue": {"Fn::Sub": "${Name}-vpc"}}, Imported("train-vpc")),
        ("{{resolve:ssm:/vpc}}", Dynamic("resolve:ssm:/vpc")),
        ("a-{{resolve:ssm:/vpc}}-b", Text(("a-", Dynamic("resolve:ssm:/vpc"), "-b"))),
        ({"Fn::GetAZs": ""}, Expression("Fn::GetAZs", "")),
        ([{"Ref": "AWS::NoValue"}, "a"], ["a"]),
        ({"A": {"Ref": "AWS::NoValue"}, "B": {"Ref": "Name"}}, {"B": "train"}),
    ],
    ids=str,
)
def test_intrinsic_functions_resolve_as_far_as_they_can(value, expected):
    assert _resolve(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"Fn::FindInMap": ["Sizes", "other", "disk"]},
        {"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "disk"]},
        {"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "disk", {"DefaultValue": 1}]},
        {"Fn::Split": [",", {"Ref": "Open"}]},
        {"Fn::Select": [0, {"Ref": "Open"}]},
        {"Fn::Cidr": ["10.0.0.0/16", 2, 8]},
        {"Fn::Transform": {"Name": "X"}},
        {"Fn::Join": "malformed"},
        {"Fn::Sub": {"Ref": "Name"}},
        {"Fn::Split": ["only"]},
        {"Fn::Select": "malformed"},
        {"Fn::If": ["Yes"]},
        {"Fn::GetAtt": "malformed"},
        {"Fn::GetAtt": ["Group", {"Ref": "Open"}]},
        {"Ref": "Nothing"},
        {"Ref": ["malformed"]},
    ],
    ids=str,
)
def test_what_nobody_can_tell_is_an_expression(value):
    assert isinstance(_resolve(value), Expression)


def test_region_and_account_are_used_where_known():
    value = {"Fn::Sub": "${AWS::Region} ${AWS::AccountId}"}
    assert _resolve(value, region="us-west-2", account="111122223333") == "us-west-2 111122223333"
    assert _resolve({"Fn::If": ["Here", 1, 2]}, region="us-west-2") == 1
    assert _resolve({"Fn::If": ["Here", 1, 2]}, region="us-east-1") == 2


def test_given_parameters_win():
    value = [{"Ref": "Open"}, {"Ref": "Zones"}, {"Ref": "Stage"}, {"Ref": "Count"}]
    given = {"Open": "x", "Zones": "c", "Stage": "dev", "Count": 3}
    assert _resolve(value, parameters=given) == ["x", ["c"], "dev", 3]


def test_a_condition_that_needs_itself_is_a_choice():
    assert _resolve({"Fn::If": ["Loop", 1, 2]}) in (1, 2)


def test_a_resource_under_a_false_condition_does_not_exist():
    resources = {"A": {"Type": "T", "Condition": "No"}, "B": {"Type": "T", "Condition": "Yes"}}
    template = Template([Document({**DOCUMENT, "Resources": resources})])
    assert [found.logical_id for found in template.of_type("T")] == ["B"]
    assert template.by_key("A") is None


@pytest.mark.parametrize(
    "body",
    [{}, {"Resources": None}, {"Resources": []}, {"Resources": {"A": None, "B": {}, "C": {"Type": 1}}}],
    ids=str,
)
def test_what_is_no_resource_is_skipped(body):
    assert list(Template([Document(body)]).of_type("T")) == []


def test_malformed_properties_count_as_none():
    template = Template([Document({"Resources": {"A": {"Type": "T", "Properties": ["x"]}}})])
    (found,) = template.of_type("T")
    assert found.get("X") is None


def _nested(inner: dict[str, Any], passed: dict[str, Any], **outer: Any) -> Template:
    body = {
        "Resources": {
            "Group": {"Type": "AWS::EC2::SecurityGroup"},
            "Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": {"Parameters": passed}},
            "Probe": {
                "Type": "Test::Probe",
                "Properties": {"Value": {"Fn::GetAtt": ["Inner", "Outputs.Name"]}},
            },
            **outer,
        }
    }
    return Template([Document(body, nested={"Inner": Document(inner)})])


@pytest.mark.parametrize(
    ("region", "partition", "worlds"),
    [
        ("us-west-2", "aws", {True}),
        ("us-gov-west-1", "aws", {False}),
        ("us-gov-west-1", "aws-us-gov", {True}),
        ("xx-nowhere-1", "aws", {True, False}),
        (None, "aws", {True, False}),
    ],
)
def test_a_known_region_decides_the_partition(region, partition, worlds):
    body = {
        "Conditions": {"C": {"Fn::Equals": [{"Ref": "AWS::Partition"}, partition]}},
        "Resources": {"P": {"Type": "Test::Probe", "Condition": "C"}},
    }
    start = World()
    found = {bool([*Template([Document(body, region=region)], world=start).of_type("Test::Probe")])}
    for world in start.neighbours():
        found.add(bool([*Template([Document(body, region=region)], world=world).of_type("Test::Probe")]))
    assert found == worlds


def test_a_dynamic_reference_in_a_parameters_value_is_one():
    declared = {
        "Arn": {"Type": "String", "Default": "{{resolve:ssm:/eks}}"},
        "Both": {"Type": "CommaDelimitedList", "Default": "{{resolve:ssm:/subnets}}"},
    }
    probe = {"Type": "Test::Probe", "Properties": {"Arn": {"Ref": "Arn"}, "Both": {"Ref": "Both"}}}
    (found,) = Template([Document({"Parameters": declared, "Resources": {"P": probe}})]).of_type(
        "Test::Probe"
    )
    assert found.get("Arn") == Dynamic("resolve:ssm:/eks")
    assert found.get("Both") == Expression("Fn::Split", (",", Dynamic("resolve:ssm:/subnets")))


def test_a_nested_stack_sees_what_its_parent_passes():
    inner = {
        "Parameters": {"GroupId": {"Type": "String"}, "List": {"Type": "CommaDelimitedList"}},
        "Resources": {
            "Rule": {
                "Type": "AWS::EC2::SecurityGroupIngress",
                "Properties": {"GroupId": {"Ref": "GroupId"}, "List": {"Ref": "List"}},
            }
        },
    }
    passed = {
        "GroupId": {"Fn::GetAtt": ["Group", "GroupId"]},
        "List": {"Fn::Join": [",", [{"Ref": "Group"}, "x"]]},
    }
    (rule,) = _nested(inner, passed).of_type("AWS::EC2::SecurityGroupIngress")
    assert rule.get("GroupId") == GROUP
    assert rule.get("List") == [GROUP, "x"]
    assert rule.key == "Inner/Rule"
    assert {found.key for found in rule.dependencies()} == {"Group"}


def test_a_parent_sees_the_outputs_of_its_nested_stack():
    inner = {
        "Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {"Name": {"Value": {"Ref": "Bucket"}}},
    }
    template = _nested(inner, {})
    (probe,) = template.of_type("Test::Probe")
    assert probe.get("Value") == Reference("Inner/Bucket", "Ref")
    assert {found.key for found in probe.dependencies()} == {"Inner", "Inner/Bucket"}


def test_a_nested_stack_begins_when_all_that_its_own_resource_names_is_there():
    inner = {"Parameters": {"P": {"Type": "String"}}, "Resources": {"Rule": {"Type": "Test::Rule"}}}
    other = {
        "Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}, "Late": {"Type": "AWS::S3::BucketPolicy"}},
        "Outputs": {"Name": {"Value": {"Ref": "Bucket"}}},
    }
    passed = {"P": {"Fn::GetAtt": ["Other", "Outputs.Name"]}}
    body = {
        "Resources": {
            "Group": {"Type": "AWS::EC2::SecurityGroup"},
            "Other": {"Type": "AWS::CloudFormation::Stack", "DependsOn": "Group"},
            "Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": {"Parameters": passed}},
        }
    }
    template = Template([Document(body, nested={"Inner": Document(inner), "Other": Document(other)})])
    (rule,) = template.of_type("Test::Rule")
    assert {found.key for found in rule.dependencies()} == {"Other", "Other/Bucket", "Other/Late"}
    (bucket,) = template.of_type("AWS::S3::Bucket")
    assert {found.key for found in bucket.dependencies()} == {"Group"}


def test_a_nested_stack_that_does_not_exist_takes_its_resources_along():
    body = {
        "Conditions": {"No": {"Fn::Equals": ["a", "b"]}},
        "Resources": {"Inner": {"Type": "AWS::CloudFormation::Stack", "Condition": "No"}},
    }
    inner = Document({"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}})
    assert list(Template([Document(body, nested={"Inner": inner})]).of_type("AWS::S3::Bucket")) == []


def test_an_import_finds_the_export_of_another_template():
    exporter = {
        "Resources": {"Group": {"Type": "AWS::EC2::SecurityGroup"}},
        "Outputs": {"Id": {"Value": {"Fn::GetAtt": ["Group", "GroupId"]}, "Export": {"Name": "group"}}},
    }
    importer = {
        "Resources": {"P": {"Type": "Test::Probe", "Properties": {"Value": {"Fn::ImportValue": "group"}}}}
    }
    template = Template([Document(exporter), Document(importer)])
    (probe,) = template.of_type("Test::Probe")
    assert template.resource(probe.get("Value"), "AWS::EC2::SecurityGroup") is not None
    twice = Template([Document(exporter), Document(exporter), Document(importer)])
    (probe,) = twice.of_type("Test::Probe")
    assert probe.get("Value") == Imported("group")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (GROUP, Reference("Group", "Ref"), True),
        (GROUP, Reference("Other", "Ref"), False),
        (GROUP, "sg-0123456789abcdef0", False),
        (GROUP, Imported("x"), False),
        (GROUP, Parameter("x"), None),
        (Parameter("x"), Parameter("x"), True),
        (Parameter("x"), Parameter("y"), None),
        (1, "1", True),
        ("a", "b", False),
        ([1], [2], False),
        ([GROUP], [1], None),
    ],
    ids=str,
)
def test_values_compare_by_what_they_refer_to(one, other, expected):
    assert same(one, other) is expected
    assert same(other, one) is expected


def test_checks_take_unresolved_values_as_unknown():
    terms = request_terms({"A": [GROUP, 1], "B": Text(("a", GROUP))})
    assert terms == {"A": [UNKNOWN, 1], "B": UNKNOWN}


def test_a_list_of_unknown_length_is_not_complete():
    assert elements(Parameter("x", many=True)) == ([], False)
    assert elements(Parameter("x")) == ([Parameter("x")], True)
    assert elements("a") == (["a"], True)
    assert elements(None) == ([], True)
