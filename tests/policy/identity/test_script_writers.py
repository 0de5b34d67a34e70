from __future__ import annotations

import pytest

ID = "ScriptWriters"


@pytest.fixture
def unlocked(template):
    """The template without the denials of the script bucket, so that the role's policies decide."""
    template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"][1:] = []
    return template


def _allow(template, **statement):
    template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", **statement}
    )


WRITE = {"Action": "s3:PutObject", "Resource": {"Fn::Sub": "${Scripts.Arn}/*"}}


def test_a_locked_bucket_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_lock_holds_whatever_identity_policies_say(judge, template):
    _allow(template, Action="*", Resource="*")
    assert judge(ID, template).findings == ()


def test_a_role_without_grant_complies(judge, unlocked):
    assert judge(ID, unlocked).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("statement", "action"),
    [
        (WRITE, "s3:PutObject"),
        ({"Action": "s3:*", "Resource": "*"}, "s3:AbortMultipartUpload"),
        ({"Action": "s3:DeleteObject", "Resource": {"Fn::Sub": "${Scripts.Arn}/abc/*"}}, "s3:DeleteObject"),
        ({"Action": "s3:PutBucketPolicy", "Resource": {"Fn::GetAtt": "Scripts.Arn"}}, "s3:PutBucketPolicy"),
        ({"NotAction": "s3:GetObject", "Resource": "arn:aws:s3:::*"}, "s3:AbortMultipartUpload"),
        ({"Action": "s3:PutObject", "NotResource": "arn:aws:s3:::other/*"}, "s3:PutObject"),
        (
            {**WRITE, "Condition": {"StringEquals": {"s3:ResourceAccount": {"Ref": "AWS::AccountId"}}}},
            "s3:Put",
        ),
    ],
    ids=str,
)
def test_a_grant_without_lock_fails(judge, unlocked, statement, action):
    _allow(unlocked, **statement)
    (finding,) = judge(ID, unlocked).failures
    assert (finding.logical_id, finding.path[:2]) == ("NodePolicy", ("PolicyDocument", "Statement"))
    assert f"lets NodeRole {action}" in finding.message


def test_a_role_that_is_a_listed_writer_fails(judge, template):
    _allow(template, **WRITE)
    denial = template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"][2]
    denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"].append({"Fn::GetAtt": "NodeRole.Arn"})
    (finding,) = judge(ID, template).failures
    assert "lets NodeRole s3:PutObject on lifecycle script bucket Scripts" in finding.message


def test_a_bucket_policy_that_allows_fails(judge, unlocked):
    unlocked["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Principal": {"AWS": {"Fn::GetAtt": "NodeRole.Arn"}}, **WRITE}
    )
    (finding,) = judge(ID, unlocked).failures
    assert finding.logical_id == "ScriptsPolicy"


def test_a_denial_in_the_roles_own_policy_complies(judge, unlocked):
    _allow(unlocked, **WRITE)
    _allow(unlocked, Effect="Deny", Action="s3:Put*", Resource={"Fn::Sub": "${Scripts.Arn}/*"})
    assert judge(ID, unlocked).findings == ()


def test_an_imported_role_without_lock_is_undetermined(judge, unlocked):
    for group in unlocked["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::ImportValue": "role"}
    report = judge(ID, unlocked)
    assert report.outcome(ID) == "undetermined"
    assert "role import role, whose policies are not in this template, is not denied writes" in report.text()


def test_a_role_of_others_with_lock_complies(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = "arn:aws:iam::111122223333:role/Nodes"
    assert judge(ID, template).outcome(ID) == "pass"


def test_an_imported_role_that_may_be_an_administrator_is_undetermined(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::ImportValue": "role"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "arn", ["arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy", {"Fn::ImportValue": "policy"}], ids=str
)
def test_a_policy_that_is_not_at_hand_is_undetermined(judge, unlocked, arn):
    unlocked["Resources"]["NodeRole"]["Properties"]["ManagedPolicyArns"].append(arn)
    assert judge(ID, unlocked).outcome(ID) == "undetermined"


def test_a_grant_through_intrinsics_fails(judge, unlocked):
    unlocked["Resources"]["Scripts"]["Properties"]["BucketName"] = {
        "Fn::Sub": "sagemaker-scripts-${AWS::AccountId}"
    }
    resource = {"Fn::Join": ["", ["arn:aws:s3:::sagemaker-scripts-", {"Ref": "AWS::AccountId"}, "/*"]]}
    _allow(unlocked, Action="s3:PutObject", Resource=resource)
    assert judge(ID, unlocked).outcome(ID) == "fail"


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": "s3:PutObject", "Resource": {"Fn::Sub": "${Checkpoints.Arn}/*"}},
        {"Action": "s3:PutObject", "Resource": {"Fn::GetAtt": "Scripts.Arn"}},
        {"Action": "s3:GetObject", "Resource": {"Fn::Sub": "${Scripts.Arn}/*"}},
        {"Action": "s3:Put*", "Resource": "arn:aws:s3:::some-other-bucket/*"},
    ],
    ids=str,
)
def test_other_grants_are_left_alone(judge, unlocked, statement):
    _allow(unlocked, **statement)
    assert judge(ID, unlocked).findings == ()


def test_scripts_elsewhere_are_left_alone(judge, unlocked):
    for group in unlocked["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["LifeCycleConfig"]["SourceS3Uri"] = "s3://sagemaker-shared-scripts/abc"
    assert judge(ID, unlocked).verdicts == ()


def test_each_script_bucket_of_an_unknown_role_is_named(judge, template):
    resources = template["Resources"]
    resources["Other"] = {"Type": "AWS::S3::Bucket"}
    resources["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"] = []
    groups = resources["Cluster"]["Properties"]["InstanceGroups"]
    for group in groups:
        group["ExecutionRole"] = "arn:aws:iam::111122223333:role/Nodes"
    groups[1]["LifeCycleConfig"] = {"SourceS3Uri": {"Fn::Sub": "s3://${Other}/x"}, "OnCreate": "a.sh"}
    messages = " ".join(finding.message for finding in judge(ID, template).findings)
    assert "is not denied writes to lifecycle script bucket Scripts" in messages
    assert "is not denied writes to lifecycle script bucket Other" in messages


def _bound(template, *statements):
    template["Resources"]["Boundary"] = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {"PolicyDocument": {"Statement": list(statements)}},
    }
    template["Resources"]["NodeRole"]["Properties"]["PermissionsBoundary"] = {"Ref": "Boundary"}


@pytest.mark.parametrize(
    ("statements", "outcome"),
    [
        ([{"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}], "pass"),
        ([{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}], "fail"),
        (
            [
                {"Effect": "Allow", "Action": "*", "Resource": "*"},
                {"Effect": "Deny", "Action": "s3:Put*", "Resource": "*"},
            ],
            "pass",
        ),
    ],
    ids=str,
)
def test_a_permissions_boundary_counts(judge, unlocked, statements, outcome):
    _allow(unlocked, **WRITE)
    _bound(unlocked, *statements)
    assert judge(ID, unlocked).outcome(ID) == outcome


@pytest.mark.parametrize(
    ("boundary", "outcome"),
    [
        ("arn:aws:iam::aws:policy/AdministratorAccess", "fail"),
        ({"Fn::ImportValue": "boundary"}, "undetermined"),
    ],
    ids=str,
)
def test_a_permissions_boundary_of_elsewhere(judge, unlocked, boundary, outcome):
    _allow(unlocked, **WRITE)
    unlocked["Resources"]["NodeRole"]["Properties"]["PermissionsBoundary"] = boundary
    assert judge(ID, unlocked).outcome(ID) == outcome


def test_a_writer_listed_by_its_id_fails(judge, template):
    _allow(template, **WRITE)
    denial = template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"][2]
    denial["Condition"] = {"StringNotLike": {"aws:userId": [{"Fn::Sub": "${NodeRole.RoleId}:*"}]}}
    (finding,) = judge(ID, template).failures
    assert "lets NodeRole s3:PutObject on lifecycle script bucket Scripts" in finding.message
    denial["Condition"] = {"StringNotLike": {"aws:userId": [{"Fn::Sub": "${UploadRole.RoleId}:*"}]}}
    assert judge(ID, template).outcome(ID) == "pass"


def _function(template, role="UploadRole"):
    resources = template["Resources"]
    resources["UploadRole"]["Properties"]["Policies"] = [
        {
            "PolicyName": "p",
            "PolicyDocument": {
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": "s3:PutObject",
                        "Resource": {"Fn::Sub": "${Scripts.Arn}/*"},
                    }
                ]
            },
        }
    ]
    resources["UploadFunction"] = {
        "Type": "AWS::Lambda::Function",
        "Properties": {"Role": {"Fn::GetAtt": [role, "Arn"]}},
    }
    resources["Upload"]["Properties"]["ServiceToken"] = {"Fn::GetAtt": ["UploadFunction", "Arn"]}


def _let_nodes(template, action, function="UploadFunction"):
    template["Parameters"] = {"Function": {"Type": "String"}}
    resource = function if isinstance(function, dict) else {"Fn::GetAtt": [function, "Arn"]}
    template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Action": action, "Resource": resource}
    )


@pytest.mark.parametrize(
    ("action", "does"),
    [
        ("lambda:UpdateFunctionCode", "changes"),
        ("lambda:Update*", "changes"),
        ("lambda:AddPermission", "changes"),
        ("lambda:InvokeFunction", "tells what to do"),
    ],
)
def test_nodes_get_at_the_scripts_through_the_function_that_writes_them(judge, template, action, does):
    _function(template)
    _let_nodes(template, action)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("NodePolicy", ("PolicyDocument", "Statement", 3))
    assert f"on UploadFunction: who {does} that function writes lifecycle script bucket" in finding.message


@pytest.mark.parametrize(
    ("action", "function"),
    [
        ("lambda:GetFunction", "UploadFunction"),
        ("lambda:UpdateFunctionCode", "BackupFunction"),
        ("lambda:UpdateFunctionCode", {"Ref": "Function"}),
    ],
    ids=str,
)
def test_what_does_not_get_there_is_left_alone(judge, template, action, function):
    _function(template)
    _let_nodes(template, action, function)
    assert judge(ID, template).failures == ()


def test_a_function_that_writes_no_scripts_may_be_changed(judge, template):
    _function(template, role="BackupRole")
    _let_nodes(template, "lambda:UpdateFunctionCode")
    assert judge(ID, template).findings == ()


def test_a_function_that_writes_by_its_own_mind_may_be_called(judge, template):
    _function(template)
    del template["Resources"]["Upload"]["Properties"]["ServiceToken"]
    _let_nodes(template, "lambda:InvokeFunction")
    assert judge(ID, template).findings == ()
