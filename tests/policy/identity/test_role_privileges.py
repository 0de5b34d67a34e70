from __future__ import annotations

import pytest

ID = "RolePrivileges"


def _policies(template):
    (policy,) = template["Resources"]["BackupRole"]["Properties"]["Policies"]
    return policy["PolicyDocument"]["Statement"]


def _allow(template, **statement):
    _policies(template).append({"Effect": "Allow", "Resource": "*", **statement})


def test_roles_for_one_task_comply(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ({"Action": "*"}, "allows *"),
        ({"Action": ["s3:*", "fsx:CreateBackup"]}, "allows s3:*"),
        ({"Action": "iam:PassRole"}, "can become anybody"),
        ({"Action": "lambda:UpdateFunctionCode"}, "allows lambda:UpdateFunctionCode on *"),
        ({"Action": "sts:AssumeRole"}, "allows sts:AssumeRole on *"),
        ({"Action": "secretsmanager:GetSecretValue"}, "allows secretsmanager:GetSecretValue on *"),
        ({"Action": "aps:*"}, "allows aps:*"),
        ({"Action": "aps:QueryMetrics"}, "allows aps:QueryMetrics on *"),
        (
            {
                "Action": "aps:QueryMetrics",
                "Resource": {"Fn::Sub": "arn:aws:aps:*:${AWS::AccountId}:workspace/*"},
            },
            "allows aps:QueryMetrics on arn:aws:aps:*",
        ),
        ({"NotAction": "iam:*"}, "allows every action but those in NotAction"),
        ({"Action": "kms:CreateGrant"}, "may hand the key to anybody"),
        (
            {"Action": "kms:CreateGrant", "Condition": {"StringLikeIfExists": {"kms:ViaService": "fsx.*"}}},
            "may hand the key to anybody",
        ),
        (
            {"Action": "kms:CreateGrant", "Condition": {"StringLike": {"kms:ViaService": "*"}}},
            "may hand the key to anybody",
        ),
    ],
    ids=str,
)
def test_what_opens_other_locks_is_a_warning(judge, template, statement, words):
    _allow(template, **statement)
    found = [finding for finding in judge(ID, template).failures if words in finding.message]
    assert [(finding.logical_id, finding.severity) for finding in found] == [("BackupRole", "warning")]


@pytest.mark.parametrize("name", ["AdministratorAccess", "AmazonS3FullAccess"])
def test_managed_policies_for_administrators_fail(judge, template, name):
    arn = {"Fn::Sub": f"arn:${{AWS::Partition}}:iam::aws:policy/{name}"}
    template["Resources"]["UploadRole"]["Properties"]["ManagedPolicyArns"] = [arn]
    (finding,) = judge(ID, template).failures
    assert f"has the AWS managed policy {name}" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": ["logs:CreateLogStream", "logs:PutLogEvents", "ec2:CreateNetworkInterface"]},
        {"Action": "ec2:DescribeSecurityGroups"},
        {"Action": "aps:ListWorkspaces"},
        {"Action": "aps:QueryMetrics", "Resource": "arn:aws:aps:us-west-2:111122223333:workspace/ws-1"},
        {"Action": "s3:PutObject", "Resource": {"Fn::Sub": "${Scripts.Arn}/*"}},
        {
            "Action": "kms:CreateGrant",
            "Resource": {"Fn::GetAtt": "Key.Arn"},
            "Condition": {"StringLike": {"kms:ViaService": "fsx.us-west-2.*"}},
        },
        {"Effect": "Deny", "Action": "*"},
        {"Action": "s3:GetObject", "Resource": {"Ref": "Somewhere"}},
    ],
    ids=str,
)
def test_what_must_not_fire(judge, template, statement):
    template["Parameters"] = {"Somewhere": {"Type": "String"}}
    _allow(template, **statement)
    assert judge(ID, template).findings == ()


def test_policies_that_the_template_does_not_show_say_nothing(judge, template):
    role = template["Resources"]["UploadRole"]["Properties"]
    role["ManagedPolicyArns"] = [{"Fn::ImportValue": "policy"}]
    assert judge(ID, template).findings == ()


def test_roles_of_nodes_and_pods_have_rules_of_their_own(judge, eks_template):
    everything = [{"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}]
    for name in ("NodeRole", "PodRole", "TokenRole"):
        eks_template["Resources"][name]["Properties"]["Policies"] = everything
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("service", "action", "fails"),
    [
        ("hyperpod.sagemaker.amazonaws.com", "sagemaker:BatchAddClusterNodes", False),
        ("hyperpod.sagemaker.amazonaws.com", "sagemaker:BatchDeleteClusterNodes", False),
        ("hyperpod.sagemaker.amazonaws.com", "sagemaker:UpdateCluster", True),
        ("lambda.amazonaws.com", "sagemaker:BatchDeleteClusterNodes", True),
        ("lambda.amazonaws.com", "sagemaker:DescribeCluster", False),
    ],
)
def test_who_may_change_every_cluster(judge, template, service, action, fails):
    resource = {"Fn::Sub": "arn:aws:sagemaker:us-west-2:${AWS::AccountId}:cluster/*"}
    template["Resources"]["BackupRole"]["Properties"]["AssumeRolePolicyDocument"] = {
        "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}]
    }
    _allow(template, Action=action, Resource=resource)
    failures = judge(ID, template).failures
    assert len(failures) == fails
    assert all(f"allows {action} on arn:aws:sagemaker" in finding.message for finding in failures)


@pytest.mark.parametrize(
    "condition",
    [
        None,
        {"StringNotEquals": {"cloudwatch:namespace": "Training"}},
        {"StringEqualsIfExists": {"cloudwatch:namespace": "Training"}},
        {"ForAllValues:StringEquals": {"cloudwatch:namespace": "Training"}},
        {"StringLike": {"cloudwatch:namespace": "*"}},
        {"Null": {"cloudwatch:namespace": "false"}},
        {"StringEquals": {"aws:RequestedRegion": "us-west-2"}},
    ],
    ids=str,
)
def test_figures_for_every_namespace_fail(judge, template, condition):
    _allow(template, Action="cloudwatch:PutMetricData", **({"Condition": condition} if condition else {}))
    (finding,) = judge(ID, template).failures
    assert (finding.severity, finding.logical_id) == ("warning", "BackupRole")
    assert (
        "allows cloudwatch:PutMetricData into every namespace: those who take it may fake" in finding.message
    )


@pytest.mark.parametrize(
    "namespace", ["Training", ["Training/*", "Costs"], {"Fn::ImportValue": "namespace"}], ids=str
)
def test_figures_for_a_namespace_comply(judge, template, namespace):
    condition = {"StringLike": {"cloudwatch:namespace": namespace}}
    _allow(template, Action="cloudwatch:PutMetricData", Condition=condition)
    assert judge(ID, template).findings == ()
