"""Policies that a template writes as JSON text."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from hyperpod_policy import review
from hyperpod_policy.documents import Document
from hyperpod_policy.template import Template
from hyperpod_policy.values import Reference
from hyperpod_policy.written_json import with_policies_read

DOCUMENTS = ("AssumeRolePolicyDocument", "PolicyDocument", "KeyPolicy")


def _as_text(document: dict[str, Any]) -> dict[str, Any]:
    """Write a policy as the text that `Fn::Sub` makes of it."""
    variables: dict[str, Any] = {}

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            if len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::")):
                name = f"Value{len(variables)}"
                variables[name] = value
                return f"${{{name}}}"
            return {key: marked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [marked(item) for item in value]
        return value.replace("${", "${!") if isinstance(value, str) else value

    return {"Fn::Sub": [json.dumps(marked(document)), variables]}


def _with_text(template: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(template)
    for resource in found["Resources"].values():
        properties = resource.get("Properties", {})
        for holder in (properties, *properties.get("Policies", ())):
            for name in DOCUMENTS:
                if name in holder and "Fn::Join" not in holder[name]:  # text already
                    holder[name] = _as_text(holder[name])
    return found


def _answers(report):
    return {(found.rule_id, found.logical_id, found.path, found.outcome) for found in report.verdicts}


@pytest.mark.parametrize("orchestrator", ["template", "eks_template"])
def test_the_answers_are_those_for_the_same_policies_as_mappings(request, orchestrator):
    template = request.getfixturevalue(orchestrator)
    written = _with_text(template)
    assert sum("Fn::Sub" in str(found) for found in written["Resources"].values()) > 5
    assert _answers(review(written)) == _answers(review(template))


def test_a_weak_policy_in_text_is_seen(judge, eks_template):
    trust = eks_template["Resources"]["TokenRole"]["Properties"]["AssumeRolePolicyDocument"]
    del trust["Statement"][0]["Condition"]
    findings = judge("ServiceAccountTrust", _with_text(eks_template)).failures
    assert {finding.logical_id for finding in findings} == {"TokenRole"}
    assert ["takes tokens whatever their" in finding.message for finding in findings] == [True, True]


def test_unresolved_parts_of_a_text_are_kept():
    written = {
        "Fn::Sub": '{"Statement": [{"Resource": "${Bucket}", "Condition": {"x": {"${Bucket}:y": 1}}}]}'
    }
    body = {
        "Resources": {
            "Bucket": {"Type": "AWS::S3::Bucket"},
            "Policy": {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": written}},
        }
    }
    (policy,) = Template([Document(body)]).of_type("AWS::IAM::Policy")
    statement = ("PolicyDocument", "Statement", 0)
    assert policy.get(*statement, "Resource") == Reference("Bucket", "Ref")
    assert policy.get(*statement, "Condition", "x") == {"<Bucket>:y": 1}


@pytest.mark.parametrize("text", ["no JSON", '"text"', "[]", '{"Statement": ', "{" * 9_000])
def test_other_text_stays_as_it_is(text):
    properties = {"PolicyDocument": text, "Policies": [{"PolicyDocument": text}, text]}
    assert with_policies_read(properties) == properties
