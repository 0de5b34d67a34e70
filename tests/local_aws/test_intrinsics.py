import json
from typing import Any

import pytest

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.intrinsics import NO_VALUE, Resolver

IDS = {"Vpc": "vpc-1", "Queue": "https://queue"}
ATTRIBUTES = {("Vpc", "CidrBlock"): "10.0.0.0/16", ("Nested", "Outputs.Url"): "u"}
PARAMETERS = {"Name": "trial", "Zones": ["a", "b"], "Count": "2"}
TEMPLATE = {
    "Transform": "AWS::LanguageExtensions",
    "Mappings": {"Sizes": {"large": {"memory": 64}}},
    "Conditions": {
        "Yes": {"Fn::Equals": [{"Ref": "Name"}, "trial"]},
        "No": {"Fn::Not": [{"Condition": "Yes"}]},
        "Circle": {"Fn::Or": [{"Condition": "Circle"}, {"Condition": "Yes"}]},
        "Text": "yes",
    },
}


class World:
    def pseudo(self, name: str) -> Any:
        return {"AWS::Region": "eu-west-1", "AWS::AccountId": "111122223333"}[name]

    def reference(self, logical_id: str) -> Any:
        if logical_id not in IDS:
            raise Refused(f"Unresolved resource dependencies [{logical_id}]")
        return IDS[logical_id]

    def attribute(self, logical_id: str, name: str) -> Any:
        return ATTRIBUTES[logical_id, name]

    def imported(self, name: str) -> str:
        return f"imported {name}"

    def zones(self, region: str) -> list[str]:
        return [f"{region}{letter}" for letter in "abc"]

    def parameter(self, name: str, version: str | None) -> str:
        return f"<{name} {version}>"


def resolver(**template: Any) -> Resolver:
    return Resolver(TEMPLATE | template, PARAMETERS, World())


RESOLVED = [
    ("text", "text"),
    (7, 7),
    (True, True),
    (None, None),
    ({"Ref": "Vpc"}, "vpc-1"),
    ({"Ref": "Name"}, "trial"),
    ({"Ref": "AWS::Region"}, "eu-west-1"),
    ({"A": [{"Ref": "AWS::NoValue"}, 1], "B": {"Ref": "AWS::NoValue"}}, {"A": [1]}),
    ({"Fn::GetAtt": ["Vpc", "CidrBlock"]}, "10.0.0.0/16"),
    ({"Fn::GetAtt": "Vpc.CidrBlock"}, "10.0.0.0/16"),
    ({"Fn::GetAtt": ["Nested", "Outputs.Url"]}, "u"),
    ({"Fn::GetAtt": "Nested.Outputs.Url"}, "u"),
    ({"Fn::Sub": "${Vpc}/${Vpc.CidrBlock}/${AWS::Region}/${!Kept}"}, "vpc-1/10.0.0.0/16/eu-west-1/${Kept}"),
    ({"Fn::Sub": ["${Vpc}-${X}", {"X": {"Ref": "Count"}, "Vpc": 3}]}, "3-2"),
    ({"Fn::Join": ["-", ["a", {"Ref": "Name"}, 3, True]]}, "a-trial-3-true"),
    ({"Fn::Join": [",", {"Ref": "Zones"}]}, "a,b"),
    ({"Fn::Join": ["", ["a", {"Ref": "AWS::NoValue"}]]}, "a"),
    ({"Fn::Split": ["/", "a/b/"]}, ["a", "b", ""]),
    ({"Fn::Select": ["1", {"Fn::Split": ["/", "a/b"]}]}, "b"),
    ({"Fn::Select": [0, {"Fn::GetAZs": ""}]}, "eu-west-1a"),
    ({"Fn::GetAZs": "us-west-2"}, ["us-west-2a", "us-west-2b", "us-west-2c"]),
    ({"Fn::Base64": {"Ref": "Name"}}, "dHJpYWw="),
    ({"Fn::Cidr": ["10.0.0.0/16", 2, "12"]}, ["10.0.0.0/20", "10.0.16.0/20"]),
    ({"Fn::Cidr": [{"Fn::GetAtt": "Vpc.CidrBlock"}, 1]}, ["10.0.0.0/24"]),
    ({"Fn::Cidr": ["2001:db8::/56", 1, 64]}, ["2001:db8::/64"]),
    ({"Fn::FindInMap": ["Sizes", "large", "memory"]}, 64),
    ({"Fn::FindInMap": ["Sizes", "small", "memory", {"DefaultValue": 8}]}, 8),
    ({"Fn::If": ["Yes", "a", {"Ref": "Nowhere"}]}, "a"),
    ({"A": {"Fn::If": ["No", "a", {"Ref": "AWS::NoValue"}]}}, {}),
    ({"Fn::ImportValue": {"Fn::Sub": "${Name}-vpc"}}, "imported trial-vpc"),
    ({"Fn::Equals": [True, "true"]}, True),
    ({"Fn::Equals": ["a", "b"]}, False),
    ({"Fn::Equals": [{"Ref": "Zones"}, ["a", "b"]]}, True),
    ({"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]}, False),
    ({"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]}, True),
    ({"Fn::Contains": [["1", "2"], {"Ref": "Count"}]}, True),
    ({"Fn::Contains": [["1"], {"Ref": "Count"}]}, False),
    ({"Fn::EachMemberEquals": [["1", "1"], "1"]}, True),
    ({"Fn::EachMemberEquals": [["1", "2"], "1"]}, False),
    ({"Fn::EachMemberIn": [{"Ref": "Zones"}, ["a", "b", "c"]]}, True),
    ({"Fn::EachMemberIn": [{"Ref": "Zones"}, ["a"]]}, False),
    ({"Fn::Length": {"Ref": "Zones"}}, 2),
    ({"Fn::ToJsonString": {"a": {"Ref": "Count"}}}, '{"a":"2"}'),
    ("{{resolve:ssm:/a/b}}!", "</a/b None>!"),
    ({"Fn::Join": ["", ["{{resolve:ssm:/", "a:3}}"]]}, "</a 3>"),
    # Keys that only look like functions.
    ({"Condition": {"Bool": {"a": "true"}}}, {"Condition": {"Bool": {"a": "true"}}}),
    ({"Effect": "Allow", "Condition": {}}, {"Effect": "Allow", "Condition": {}}),
]


@pytest.mark.parametrize(("given", "expected"), RESOLVED, ids=lambda value: json.dumps(value)[:60])
def test_a_value_resolves(given: Any, expected: Any) -> None:
    found = resolver().value(given)

    assert found == expected
    assert type(found) is type(expected)


def test_no_value_alone_stays_for_the_caller_to_drop() -> None:
    assert resolver().value({"Ref": "AWS::NoValue"}) is NO_VALUE


REFUSED = [
    ({"Fn::Transform": {"Name": "AWS::Include"}}, "Fn::Transform is not covered"),
    ({"Fn::ForEach::Each": []}, "Fn::ForEach::Each is not covered"),
    ({"Ref": "AWS::Unheard"}, "AWS::Unheard is not covered"),
    ({"Ref": ["Vpc"]}, "Ref takes a name"),
    ({"Ref": "Nowhere"}, "Nowhere"),
    ({"Ref": "Vpc", "Other": 1}, "stands beside other keys: Ref, Other"),
    ({"Fn::GetAtt": "Vpc"}, "takes a logical id and an attribute"),
    ({"Fn::Join": [",", "text"]}, "Fn::Join takes a list, got 'text'"),
    ({"Fn::Join": [","]}, "list of 2 arguments"),
    ({"Fn::Select": [2, ["a", "b"]]}, "nonexistent value at index 2"),
    ({"Fn::Select": [-1, ["a", "b"]]}, "nonexistent value at index -1"),
    ({"Fn::Split": [",", ["a"]]}, "Fn::Split takes text"),
    ({"Fn::Sub": "${Nowhere}"}, "Nowhere"),
    ({"Fn::Cidr": ["10.0.0.0/24", 3, 7]}, "cannot make 3 blocks"),
    ({"Fn::Cidr": ["10.0.0.0/24", 1, 12]}, "cannot make 1 blocks"),
    ({"Fn::Cidr": "10.0.0.0/24"}, "takes a block, a count"),
    ({"Fn::FindInMap": ["Sizes", "small", "memory"]}, "mapping for Sizes::small::memory"),
    ({"Fn::If": ["Unheard", 1, 2]}, "unresolved condition dependency Unheard"),
    ({"Fn::If": ["Circle", 1, 2]}, "circular conditions Circle, Circle"),
    ({"Fn::If": ["Text", 1, 2]}, "condition Text takes conditions, got 'yes'"),
    ({"Fn::Not": ["text"]}, "takes conditions, got 'text'"),
    ({"Fn::Base64": {"a": 1}}, "takes text"),
    ("{{resolve:secretsmanager:secret}}", "dynamic reference to secretsmanager is not covered"),
    ("{{resolve:ssm-secure:/a:1}}", "dynamic reference to ssm-secure is not covered"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=lambda value: json.dumps(value)[:60])
def test_what_does_not_resolve_is_refused(given: Any, message: str) -> None:
    with pytest.raises(Refused, match=message.replace("[", r"\[")):
        resolver().value(given)


@pytest.mark.parametrize("given", [{"Fn::Length": ["a"]}, {"Fn::ToJsonString": {}}])
def test_language_extensions_need_their_transform(given: Any) -> None:
    with pytest.raises(Refused, match="needs the transform AWS::LanguageExtensions"):
        resolver(Transform=[]).value(given)

    resolver(Transform=["AWS::LanguageExtensions"]).value(given)


REFERENCES = [
    ("Vpc", set()),
    ({"Ref": "Vpc"}, {"Vpc"}),
    ([{"Ref": "A"}, {"x": {"Fn::GetAtt": ["B", "Id"]}}], {"A", "B"}),
    ({"Fn::GetAtt": ["B", {"Ref": "C"}]}, {"B", "C"}),
    ({"Fn::GetAtt": "B.Id"}, {"B"}),
    ({"Fn::Sub": "${A}${B.Id}${!C}"}, {"A", "B"}),
    ({"Fn::Sub": ["${A}${X}", {"X": {"Ref": "B"}}]}, {"A", "B"}),
    ({"Fn::Join": ["", [{"Ref": "A"}, "B"]]}, {"A"}),
    ({"Fn::If": ["Yes", {"Ref": "A"}, {"Ref": "B"}]}, {"A"}),
    ({"Fn::If": ["No", {"Ref": "A"}, {"Ref": "B"}]}, {"B"}),
]


def _in_order(value: object) -> str:
    return str(sorted(value) if isinstance(value, set) else value)[:60]


@pytest.mark.parametrize(("given", "expected"), REFERENCES, ids=_in_order)
def test_references_are_found(given: Any, expected: set[str]) -> None:
    assert resolver().references(given) == expected
