from __future__ import annotations

import pytest

ID = "BucketOwnerPins"
OBJECTS = "arn:aws:s3:::our-data/*"


def _allow(template, **statement):
    template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": OBJECTS, **statement}
    )


def _pin(operator, key, value):
    return {"Condition": {operator: {key: value}}}


def test_buckets_of_the_template_comply(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


@pytest.mark.parametrize(
    "statement",
    [
        {},
        {"Action": "s3:PutObject"},
        {"Action": "s3:*"},
        {"Resource": ["arn:aws:s3:::our-data", OBJECTS]},
        {"Resource": "arn:aws:s3:::our-*/*"},
        {"Resource": {"Fn::Sub": "arn:${AWS::Partition}:s3:::our-${AWS::AccountId}-${AWS::Region}/*"}},
        _pin("StringLike", "s3:ResourceAccount", "*"),
        _pin("StringNotEquals", "s3:ResourceAccount", "444455556666"),
        _pin("StringEqualsIfExists", "aws:PrincipalAccount", {"Ref": "AWS::AccountId"}),
        _pin("StringEquals", "s3:prefix", "x"),
    ],
    ids=str,
)
def test_a_name_without_owner_is_a_warning(judge, template, statement):
    _allow(template, **statement)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("NodePolicy", "warning")
    assert finding.path == ("PolicyDocument", "Statement", 3)
    assert "whoever owns it" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        _pin("StringEquals", "s3:ResourceAccount", {"Ref": "AWS::AccountId"}),
        _pin("StringEquals", "aws:ResourceAccount", "444455556666"),
        _pin("StringEquals", "aws:ResourceAccount", "${aws:PrincipalAccount}"),
        _pin("StringEquals", "aws:ResourceOrgID", "o-1234567890"),
        _pin("StringLike", "s3:ResourceAccount", ["111122223333", "444455556666"]),
        {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::our-data"},
        {"Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:us-west-2:111122223333:table/x"},
        {"Effect": "Deny"},
        {"Resource": "*"},
    ],
    ids=str,
)
def test_what_needs_no_pin_or_has_one(judge, template, statement):
    _allow(template, **statement)
    assert judge(ID, template).findings == ()


def test_a_denial_of_other_accounts_pins_everything(judge, template):
    _allow(template)
    _allow(
        template,
        Effect="Deny",
        Action="s3:*",
        Resource="*",
        Condition={"StringNotEquals": {"aws:ResourceAccount": "${aws:PrincipalAccount}"}},
    )
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("properties", "outcome"),
    [
        ({"BucketName": "our-checkpoints"}, "fail"),
        ({"BucketName": "ckpt-111122223333-us-west-2-an", "BucketNamespace": "account-regional"}, "pass"),
        ({"BucketName": {"Ref": "Name"}}, "undetermined"),
    ],
    ids=str,
)
def test_a_bucket_of_the_template_with_a_name_that_can_be_claimed(judge, template, properties, outcome):
    template["Parameters"] = {"Name": {"Type": "String"}}
    template["Resources"]["Checkpoints"]["Properties"].update(properties)
    assert judge(ID, template).outcome(ID) == outcome


def test_an_imported_bucket_is_undetermined(judge, template):
    _allow(template, Resource={"Fn::Sub": ["arn:aws:s3:::${Name}/*", {"Name": {"Fn::ImportValue": "name"}}]})
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_roles_of_pods_count(judge, eks_template):
    eks_template["Resources"]["PodRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Action": "s3:PutObject", "Resource": OBJECTS}
    )
    (finding,) = judge(ID, eks_template).failures
    assert finding.logical_id == "PodRole"


def test_other_roles_are_left_alone(judge, template):
    template["Resources"]["UploadRole"]["Properties"]["Policies"] = [
        {
            "PolicyDocument": {
                "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": OBJECTS}]
            }
        }
    ]
    assert judge(ID, template).findings == ()
