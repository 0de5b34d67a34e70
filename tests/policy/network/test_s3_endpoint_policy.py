from __future__ import annotations

import pytest

ID = "S3EndpointPolicy"


def _endpoint(template):
    return template["Resources"]["EndpointS3"]["Properties"]


def _statements(template):
    return _endpoint(template)["PolicyDocument"]["Statement"]


def test_pinned_buckets_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("condition", "resource"),
    [
        ({"StringEquals": {"s3:ResourceAccount": ["111122223333"]}}, "*"),
        ({"StringEquals": {"aws:ResourceOrgID": "o-example"}}, "*"),
        ({}, ["arn:aws:s3:::shared-data", "arn:aws:s3:::shared-data/*"]),
        ({}, {"Fn::Sub": "arn:aws:s3:::${Scripts}/*"}),
    ],
)
def test_other_ways_to_pin_comply(judge, eks_template, condition, resource):
    _statements(eks_template)[0].update(Condition=condition, Resource=resource)
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("condition", "resource", "words"),
    [
        ({}, "*", "allows *, whoever owns the bucket"),
        ({}, "arn:aws:s3:::*", "allows arn:aws:s3:::*"),
        ({}, ["arn:aws:s3:::one/*", "arn:aws:s3:::*/*"], "allows arn:aws:s3:::*/*"),
        ({"StringEquals": {"aws:PrincipalAccount": "111122223333"}}, "*", "allows *"),
        ({"StringNotEquals": {"aws:ResourceAccount": "111122223333"}}, "*", "allows *"),
        ({"StringLike": {"aws:ResourceAccount": "*"}}, "*", "allows *"),
        ({"StringEqualsIfExists": {"aws:ResourceAccount": "111122223333"}}, "*", "allows *"),
    ],
)
def test_buckets_of_strangers_fail(judge, eks_template, condition, resource, words):
    _statements(eks_template)[0].update(Condition=condition, Resource=resource)
    (finding,) = judge(ID, eks_template).failures
    assert finding.path == ("PolicyDocument", "Statement", 0)
    assert words in finding.message


def test_no_policy_fails(judge, eks_template):
    del _endpoint(eks_template)["PolicyDocument"]
    (finding,) = judge(ID, eks_template).failures
    assert "is not set: everything goes through" in finding.message


def test_exceptions_in_place_of_names_fail(judge, eks_template):
    statement = _statements(eks_template)[1]
    statement["NotResource"] = statement.pop("Resource")
    (finding,) = judge(ID, eks_template).failures
    assert "allows every bucket but some" in finding.message


def test_a_denial_complies(judge, eks_template):
    _statements(eks_template).append(
        {"Effect": "Deny", "Principal": "*", "Action": "s3:DeleteBucket", "Resource": "*"}
    )
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize("whole", [True, False])
def test_parameters_are_undetermined(judge, eks_template, whole):
    eks_template["Parameters"] = {"Bucket": {"Type": "String"}}
    if whole:
        _endpoint(eks_template)["PolicyDocument"] = {"Ref": "Bucket"}
    else:
        _statements(eks_template)[1]["Resource"] = {"Ref": "Bucket"}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_a_network_with_a_way_out_has_nothing_to_say(judge, template):
    assert judge(ID, template).verdicts == ()
