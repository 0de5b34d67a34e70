from __future__ import annotations

import pytest

ID = "BucketConfiguration"


def _denial(template, bucket="Scripts"):
    return template["Resources"][f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"][1]


def test_listed_administrators_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("bucket", ["Scripts", "Checkpoints"])
def test_no_denial_fails(judge, template, bucket):
    del template["Resources"][f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"][1]
    (finding,) = judge(ID, template).failures
    assert f"bucket {bucket} leaves to whoever has them in an identity policy" in finding.message


@pytest.mark.parametrize(
    ("pattern", "action"),
    [
        ("s3:PutBucket*", "s3:PutBucketAcl"),
        ("s3:DeleteBucket*", "s3:DeleteBucket"),
        ("s3:Put*Configuration", "s3:PutEncryptionConfiguration"),
        ("s3:TagResource", "s3:TagResource"),
    ],
)
def test_each_missing_action_fails(judge, template, pattern, action):
    _denial(template)["Action"].remove(pattern)
    (finding,) = judge(ID, template).failures
    assert action in finding.found


@pytest.mark.parametrize(
    "changes",
    [
        {"Resource": {"Fn::Sub": "${Scripts.Arn}/*"}},
        {"Condition": {"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/*"}}},
        {"Condition": {"Bool": {"aws:MultiFactorAuthPresent": "false"}}},
    ],
    ids=str,
)
def test_a_weaker_denial_fails(judge, template, changes):
    _denial(template).update(changes)
    assert judge(ID, template).outcome(ID) == "fail"


def test_administrators_from_a_parameter_are_undetermined(judge, template):
    template["Parameters"] = {"Administrator": {"Type": "String"}}
    _denial(template)["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] = {"Ref": "Administrator"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_administrators_from_a_parameter_with_default_count(judge, template):
    template["Parameters"] = {
        "Administrator": {"Type": "String", "Default": "arn:aws:iam::111122223333:role/Administrator"}
    }
    _denial(template)["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] = {"Ref": "Administrator"}
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "changes",
    [
        {"Action": "s3:*"},
        {"Resource": [{"Fn::GetAtt": "Scripts.Arn"}, {"Fn::Sub": "${Scripts.Arn}/*"}]},
        {"Condition": {"StringNotEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:role/Admin"}}},
    ],
    ids=str,
)
def test_other_spellings_comply(judge, template, changes):
    _denial(template).update(changes)
    assert judge(ID, template).findings == ()


def test_other_buckets_are_left_alone(judge, template):
    verdicts = judge(ID, template).verdicts
    assert {verdict.logical_id for verdict in verdicts} == {"ScriptsPolicy", "CheckpointsPolicy"}
