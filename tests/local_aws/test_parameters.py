from typing import Any

import pytest

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.parameters import given_values, resolved_values


def value(text: str) -> list[dict[str, Any]]:
    return [{"ParameterKey": "P", "ParameterValue": text}]


PREVIOUS = [{"ParameterKey": "P", "UsePreviousValue": True}]

GIVEN = [
    ({"Type": "String"}, value("a"), {}, "a"),
    ({"Type": "String", "Default": "d"}, [], {}, "d"),
    ({"Type": "String", "Default": "d"}, value(""), {}, ""),
    ({"Type": "String", "Default": "d"}, PREVIOUS, {"P": "p"}, "p"),
    ({"Type": "String", "Default": "d"}, [], {"P": "p"}, "d"),
    ({"Type": "Number", "Default": 5}, [], {}, "5"),
    ({"Type": "String", "Default": False, "AllowedValues": [True, False]}, [], {}, "false"),
    ({"Type": "CommaDelimitedList", "AllowedValues": ["a", "b"]}, value("a,b"), {}, "a,b"),
    ({"Type": "String", "AllowedPattern": "[a-z]+"}, value("abc"), {}, "abc"),
    ({"Type": "String", "MinLength": 1, "MaxLength": "3"}, value("abc"), {}, "abc"),
    ({"Type": "Number", "MinValue": 1, "MaxValue": 3}, value("1.5"), {}, "1.5"),
]


@pytest.mark.parametrize(("declared", "requested", "previous", "expected"), GIVEN)
def test_values(declared: Any, requested: Any, previous: dict[str, str], expected: str) -> None:
    assert given_values({"P": declared}, requested, previous) == {"P": expected}


REFUSED = [
    ({"Type": "String"}, [], r"Parameters: \[P\] must have values"),
    ({"Type": "String"}, PREVIOUS, "parameter key P. Cannot specify usePreviousValue"),
    ({"Type": "Number"}, value("two"), "'P' must be a number, got 'two'"),
    (
        {"Type": "String", "AllowedValues": ["a"]},
        value("b"),
        r"'P' must be one of AllowedValues: \[a\], got 'b'",
    ),
    ({"Type": "CommaDelimitedList", "AllowedValues": ["a"]}, value("a,b"), "got 'b'"),
    ({"Type": "String", "AllowedPattern": "[a-z]+"}, value("a1"), r"'P' must match pattern .*, got 'a1'"),
    ({"Type": "String", "MinLength": 2}, value("a"), "beyond its MinLength or MaxLength: 'a'"),
    ({"Type": "String", "MaxLength": 2}, value("abc"), "beyond its MinLength or MaxLength: 'abc'"),
    ({"Type": "Number", "MinValue": 2}, value("1"), "beyond its MinValue or MaxValue: '1'"),
    ({"Type": "Number", "MaxValue": 2}, value("3"), "beyond its MinValue or MaxValue: '3'"),
]


@pytest.mark.parametrize(("declared", "requested", "message"), REFUSED)
def test_what_is_not_allowed_is_refused(declared: Any, requested: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        given_values({"P": declared}, requested, {})


def test_a_parameter_that_the_template_has_not_is_refused() -> None:
    with pytest.raises(Refused, match=r"Parameters: \[P\] do not exist in the template"):
        given_values({}, value("a"), {})


RESOLVED = [
    ("String", "a,b", "a,b"),
    ("Number", "5", "5"),
    ("CommaDelimitedList", "a, b", ["a", "b"]),
    ("CommaDelimitedList", "", []),
    ("List<Number>", "1,2", ["1", "2"]),
    ("AWS::SSM::Parameter::Name", "/a", "/a"),
    ("AWS::SSM::Parameter::Value<String>", "/a", "value of /a"),
    ("AWS::SSM::Parameter::Value<List<String>>", "/a,b", ["value of /a", "b"]),
]


@pytest.mark.parametrize(("type_name", "given", "expected"), RESOLVED)
def test_types(type_name: str, given: str, expected: Any) -> None:
    found = resolved_values({"P": {"Type": type_name}}, {"P": given}, lambda name: f"value of {name}")

    assert found == {"P": expected}


@pytest.mark.parametrize(
    "type_name", ["AWS::EC2::VPC::Id", "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>"]
)
def test_a_type_the_double_does_not_know_is_refused(type_name: str) -> None:
    with pytest.raises(Refused, match=r"parameter type AWS::EC2::.* is not covered"):
        resolved_values({"P": {"Type": type_name}}, {"P": "a"}, lambda name: name)
