from __future__ import annotations

import pytest

ID = "KeyRotation"


def _key(template, **properties):
    template["Resources"]["FlowLogKey"] = {"Type": "AWS::KMS::Key", "Properties": properties}
    del template["Resources"]["TopicKey"]


@pytest.mark.parametrize(
    ("properties", "outcome"),
    [
        ({"EnableKeyRotation": True}, "pass"),
        ({"EnableKeyRotation": "true"}, "pass"),
        ({"EnableKeyRotation": False}, "fail"),
        ({}, "fail"),
        ({"EnableKeyRotation": {"Ref": "Rotate"}}, "undetermined"),
        ({"EnableKeyRotation": {"Fn::If": ["Never", True, False]}}, "fail"),
        ({"KeySpec": "RSA_2048", "KeyUsage": "SIGN_VERIFY"}, None),
        ({"KeySpec": "HMAC_256", "KeyUsage": "GENERATE_VERIFY_MAC"}, None),
        ({"Origin": "EXTERNAL"}, None),
    ],
    ids=str,
)
def test_keys_of_the_stack(judge, template, properties, outcome):
    template["Parameters"] = {"Rotate": {"Type": "String"}}
    template["Conditions"] = {"Never": {"Fn::Equals": ["a", "b"]}}
    _key(template, **properties)
    assert judge(ID, template).outcome(ID) == outcome


def test_a_key_without_rotation_is_a_warning(judge, template):
    _key(template)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == (
        "FlowLogKey",
        ("EnableKeyRotation",),
        "warning",
    )


def test_keys_of_buckets_and_file_systems_are_left_to_their_own_rules(judge, template):
    template["Resources"]["Key"]["Properties"]["EnableKeyRotation"] = False
    assert judge(ID, template).findings == ()


def test_keys_without_cluster_are_left_alone(judge, template):
    _key(template)
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()
