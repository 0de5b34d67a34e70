import json
from collections.abc import Iterator
from typing import Any

import pytest
from fake_account import fake_types, of_things, thing

from aws_double.cloudformation.errors import InsufficientCapabilities, Refused
from aws_double.cloudformation.template import Template
from aws_double.resource import TYPES


@pytest.fixture(autouse=True)
def _fake_types() -> Iterator[None]:
    with fake_types():
        for name in ("AWS::IAM::Role", "AWS::IAM::Policy"):
            TYPES[name] = TYPES["Fake::Thing"]
        yield


SHORT_FORMS = """
AWSTemplateFormatVersion: 2010-09-09
Resources:
  A:
    Type: Fake::Thing
    Properties:
      Name: !Sub "${AWS::StackName}-a"
      Text: !Join ["", [!Ref B, !GetAtt B.Id]]
      Needs:
        - !If [Wanted, {Version: 2012-10-17}, !Ref AWS::NoValue]
  B:
    Type: Fake::Thing
    Condition: Wanted
Conditions:
  Wanted: !Not [!Condition Other]
  Other: !Equals [a, b]
"""


def test_yaml_with_short_forms_and_dates() -> None:
    found = Template(SHORT_FORMS)

    assert found.body["AWSTemplateFormatVersion"] == "2010-09-09"
    assert found.resources["A"]["Properties"] == {
        "Name": {"Fn::Sub": "${AWS::StackName}-a"},
        "Text": {"Fn::Join": ["", [{"Ref": "B"}, {"Fn::GetAtt": "B.Id"}]]},
        "Needs": [{"Fn::If": ["Wanted", {"Version": "2012-10-17"}, {"Ref": "AWS::NoValue"}]}],
    }
    assert found.section("Conditions")["Wanted"] == {"Fn::Not": [{"Condition": "Other"}]}
    assert found.source == SHORT_FORMS


REFUSED = [
    ("[1, 2]", "unsupported structure"),
    ("{", "Template format error"),
    ("Resources: [", "Template format error"),
    ("Resources: {}", "At least one Resources member must be defined"),
    (of_things("A") | {"Resource": {}}, r"Invalid template property or properties \[Resource\]"),
    (of_things("A") | {"Transform": "AWS::Serverless"}, "transform AWS::Serverless is not covered"),
    (of_things(A={"Properties": {}}), r"\[/Resources/A\] has no Type"),
    (of_things(A=thing("a", CreationPolicy={})), "resource attribute CreationPolicy of A is not covered"),
    (of_things(A=thing("a", DeletionPolicy="Keep")), "Unrecognized DeletionPolicy Keep for resource A"),
    (of_things(A=thing("a", DependsOn=["B"])), r"Unresolved resource dependencies \[B\]"),
    (of_things(A=thing("a", "AWS::Unheard::Of")), r"Unrecognized resource types: \[AWS::Unheard::Of\]"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[one[1] for one in REFUSED])
def test_what_the_double_does_not_know_is_refused(given: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        Template(given if isinstance(given, str) else json.dumps(given))


ROLE = {"Type": "AWS::IAM::Role", "Properties": {}}
NAMED = {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "a"}}
POLICY = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "a"}}
CAPABILITIES = [
    (of_things("A"), []),
    (of_things(A=ROLE), ["CAPABILITY_IAM"]),
    (of_things(A=POLICY), ["CAPABILITY_IAM"]),
    (of_things(A=NAMED, B=ROLE), ["CAPABILITY_NAMED_IAM"]),
    (of_things("A") | {"Transform": ["AWS::LanguageExtensions"]}, ["CAPABILITY_AUTO_EXPAND"]),
]


@pytest.mark.parametrize(("given", "needed"), CAPABILITIES)
def test_capabilities(given: dict[str, Any], needed: list[str]) -> None:
    template = Template(json.dumps(given))

    assert template.capabilities() == needed
    template.check_capabilities(needed)
    if needed:
        with pytest.raises(InsufficientCapabilities, match=rf"Requires capabilities : \[{needed[0]}\]"):
            template.check_capabilities([])


def test_the_greater_capability_includes_the_lesser() -> None:
    Template(json.dumps(of_things(A=ROLE))).check_capabilities(["CAPABILITY_NAMED_IAM"])

    with pytest.raises(InsufficientCapabilities):
        Template(json.dumps(of_things(A=NAMED))).check_capabilities(["CAPABILITY_IAM"])
