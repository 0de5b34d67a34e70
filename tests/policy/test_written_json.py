from __future__ import annotations

import pytest

from hyperpod_policy import Document
from hyperpod_policy.template import Template
from hyperpod_policy.values import Pseudo, Reference, Text
from hyperpod_policy.written_json import written_json

ISSUER = Reference("Eks", "OpenIdConnectIssuerUrl")
REGION = Pseudo("AWS::Region")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        (Text(('{"', ISSUER, ':aud": "x"}')), {str(Text((ISSUER, ":aud"))): "x"}),
        (Text(('{"a": "', ISSUER, '"}')), {"a": ISSUER}),
        (Text(('["x', ISSUER, "y", REGION, '"]')), [Text(("x", ISSUER, "y", REGION))]),
        (Text(('{"a": ', ISSUER, "}")), None),
        (ISSUER, None),
        ("no JSON", None),
        (None, None),
        ("[" * 6000 + "]" * 6000, None),
        ("[" * 2000 + "]" * 2000, None),
    ],
)
def test_json_is_decoded_around_what_is_unresolved(text, expected):
    assert written_json(text) == expected


@pytest.mark.parametrize("kind", ["Custom::AWSCDKCfnJson", "Custom::Other"])
def test_a_condition_made_at_deployment_is_read_wherever_it_stands(kind):
    body = {
        "Resources": {
            "Json": {
                "Type": kind,
                "Properties": {
                    "Value": {
                        "Fn::Join": ["", ['{"', {"Ref": "AWS::Partition"}, ':Key": "', {"Ref": "B"}, '"}']]
                    }
                },
            },
            "B": {"Type": "AWS::S3::Bucket"},
            "Policy": {
                "Type": "AWS::S3::BucketPolicy",
                "Properties": {"Condition": {"StringEquals": {"Fn::GetAtt": ["Json", "Value"]}}},
            },
        }
    }
    (policy,) = Template([Document(body)]).of_type("AWS::S3::BucketPolicy")
    found = policy.get("Condition", "StringEquals")
    if kind == "Custom::Other":
        assert found == Reference("Json", "Value")
    else:
        assert found == {"<${AWS::Partition}>:Key": Reference("B", "Ref")}
