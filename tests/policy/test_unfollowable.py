"""Templates within all limits whose values go through more steps, or grow larger, than anybody can follow."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hyperpod_policy import Document, compare, review
from hyperpod_policy.template import Template
from hyperpod_policy.values import Expression, Imported, Reference, is_bomb

SECONDS = 20
"""Far more than any of them takes, and less than one of them would take by powers of two."""


def _cluster(name: Any, **more: Any) -> dict[str, Any]:
    return {
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"ClusterName": name}, **more},
    }


def _exports(value: Any) -> dict[str, Any]:
    return {
        "Outputs": {f"O{n}": {"Export": {"Name": f"e{n}"}, "Value": value(f"e{n + 1}")} for n in range(60)},
        "Resources": _cluster({"Fn::ImportValue": "e0"}),
    }


def _imported(name: str) -> dict[str, Any]:
    return {"Fn::ImportValue": name}


def _nested_sub(levels: int) -> Any:
    value: Any = "xxxxxxxxxx"
    for _ in range(levels):
        value = {"Fn::Sub": ["${A}${A}${A}", {"A": value}]}
    return value


TEMPLATES = {
    "conditions that need conditions": {
        "Conditions": {f"C{n}": {"Fn::Not": [{"Condition": f"C{n + 1}"}]} for n in range(900)},
        "Resources": _cluster("x", Condition="C0"),
    },
    "attributes that echo attributes": {
        "Resources": {
            **_cluster({"Fn::GetAtt": ["S0", "CidrBlock"]}),
            **{
                f"S{n}": {
                    "Type": "AWS::EC2::Subnet",
                    "Properties": {"CidrBlock": {"Fn::GetAtt": [f"S{n + 1}", "CidrBlock"]}},
                }
                for n in range(300)
            },
        }
    },
    "text tripled": {"Resources": _cluster(_nested_sub(24))},
    "exports tripled": _exports(lambda name: {"Fn::Join": ["", [_imported(name)] * 3]}),
    "expressions tripled": _exports(lambda name: {"Fn::Unknown": [_imported(name)] * 3}),
    "exports within exports": _exports(lambda name: [_imported(name)]),
    "a map that needs itself": {
        "Mappings": {"M": {"a": {"b": {"Fn::FindInMap": ["M", "a", "b"]}}}},
        "Resources": _cluster({"Fn::FindInMap": ["M", "a", "b"]}),
    },
    "an export that needs itself": {
        "Outputs": {"O": {"Export": {"Name": "e"}, "Value": _imported("e")}},
        "Resources": _cluster(_imported("e")),
    },
    "an attribute that needs itself": {
        "Resources": {
            **_cluster({"Fn::GetAtt": ["S", "CidrBlock"]}),
            "S": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"CidrBlock": {"Fn::GetAtt": ["S", "CidrBlock"]}},
            },
        }
    },
    "JSON that needs itself": {
        "Resources": {
            **_cluster({"Fn::GetAtt": ["J", "Value"]}),
            "J": {
                "Type": "Custom::AWSCDKCfnJson",
                "Properties": {"Value": {"Fn::Join": ["", ['["', {"Fn::GetAtt": ["J", "Value"]}, '"]']]}},
            },
        }
    },
    "deep JSON": {
        "Resources": {
            **_cluster({"Fn::GetAtt": ["J", "Value"]}),
            "J": {"Type": "Custom::AWSCDKCfnJson", "Properties": {"Value": "[" * 3000 + "]" * 3000}},
        }
    },
    "many parameters": {
        "Parameters": {f"P{n}": {"Type": "String", "AllowedValues": ["a", "b", "c"]} for n in range(60)},
        "Resources": _cluster({"Fn::Join": ["", [{"Ref": f"P{n}"} for n in range(200)]]}),
    },
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_review_and_a_comparison_end(name):
    body = TEMPLATES[name]
    start = time.process_time()
    assert review(body).verdicts
    compare(body, body)
    assert time.process_time() - start < SECONDS


def test_nested_stacks_with_properties_of_another_shape_are_reviewed():
    inner = Document({"Parameters": {"P": {"Type": "String"}}, "Resources": _cluster({"Ref": "P"})})
    for properties in ([], "x", {"Parameters": []}, None):
        stack = {"Type": "AWS::CloudFormation::Stack", "Properties": properties}
        outer = Document({"Resources": {"Inner": stack}}, nested={"Inner": inner})
        assert review(outer).verdicts


def test_what_cannot_be_followed_is_unknown():
    (cluster,) = Template([Document(TEMPLATES["an export that needs itself"])]).of_type(
        "AWS::SageMaker::Cluster"
    )
    assert cluster.get("ClusterName") == Imported("e")
    (cluster,) = Template([Document(TEMPLATES["an attribute that needs itself"])]).of_type(
        "AWS::SageMaker::Cluster"
    )
    assert cluster.get("ClusterName") == Reference("S", "CidrBlock")
    (cluster,) = Template([Document(TEMPLATES["text tripled"])]).of_type("AWS::SageMaker::Cluster")
    assert isinstance(cluster.get("ClusterName"), Expression)


def test_a_bomb_is_told_from_what_is_only_large():
    deep: Any = "x"
    for _ in range(90):
        deep = [deep]
    wide = ["x"] * 19_000
    assert not is_bomb(deep)
    assert not is_bomb(wide)
    for _ in range(20):
        deep = [deep]
    assert is_bomb(deep)
    assert is_bomb([wide, wide])
