from __future__ import annotations

import pytest

ID = "ObjectPermissions"
BUCKET = {"Fn::GetAtt": ["Scripts", "Arn"]}
OBJECTS = {"Fn::Join": ["", [BUCKET, "/*"]]}


def _allow(template, action, resource, role="NodePolicy"):
    properties = template["Resources"][role]["Properties"]
    document = (
        properties["Policies"][0]["PolicyDocument"]
        if "Policies" in properties
        else properties["PolicyDocument"]
    )
    document["Statement"].append({"Effect": "Allow", "Action": action, "Resource": resource})


def test_grants_on_objects_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "resource",
    [BUCKET, "arn:aws:s3:::training-data", {"Fn::Sub": "arn:${AWS::Partition}:s3:::${Scripts}"}],
    ids=str,
)
def test_a_bucket_alone_fails(judge, template, resource):
    _allow(template, ["s3:GetObject", "s3:ListBucket"], resource)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "NodePolicy"
    assert "allows s3:GetObject on " in finding.message
    assert "followed by /*" in finding.message


def test_a_role_of_pods_is_judged_too(judge, eks_template):
    _allow(eks_template, "s3:PutObject", BUCKET, role="PodRole")
    assert judge(ID, eks_template).outcome(ID) == "fail"


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        (["s3:GetObject", "s3:ListBucket"], [BUCKET, OBJECTS]),
        ("s3:ListBucket", BUCKET),
        ("s3:GetObject", "arn:aws:s3:::data-*"),
        ("s3:GetObject", "*"),
        ("s3:*", BUCKET),
    ],
)
def test_other_statements_comply(judge, template, action, resource):
    _allow(template, action, resource)
    assert judge(ID, template).findings == ()


def test_a_resource_from_a_parameter_complies(judge, template):
    template["Parameters"] = {"Where": {"Type": "String"}}
    _allow(template, "s3:GetObject", {"Ref": "Where"})
    _allow(template, "s3:GetObject", {"Fn::Sub": "arn:aws:s3:::${Where}"})
    assert judge(ID, template).findings == ()


def test_a_denial_complies(judge, template):
    statements = template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements.append({"Effect": "Deny", "Action": "s3:GetObject", "Resource": BUCKET})
    assert judge(ID, template).findings == ()
