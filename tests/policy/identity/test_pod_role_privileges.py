from __future__ import annotations

import pytest

ID = "PodRolePrivileges"


def _allow(template, **statement):
    statements = template["Resources"]["PodRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    statements.append({"Effect": "Allow", **statement})


def test_named_buckets_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ({"Action": "*", "Resource": "*"}, "allows *"),
        ({"Action": "s3:*", "Resource": {"Fn::GetAtt": "Checkpoints.Arn"}}, "allows s3:*"),
        ({"Action": "iam:PassRole", "Resource": "arn:aws:iam::1:role/x"}, "pods that change or pass roles"),
        ({"NotAction": "iam:*", "Resource": "*"}, "every action but those in NotAction"),
        ({"Action": "s3:PutObject", "NotResource": "arn:aws:s3:::x"}, "but those in NotResource"),
        (
            {"Action": "secretsmanager:GetSecretValue", "Resource": "*"},
            "allows secretsmanager:GetSecretValue on *",
        ),
        ({"Action": "aps:RemoteWrite", "Resource": "*"}, "allows aps:RemoteWrite on *"),
        (
            {"Action": "aps:RemoteWrite", "Resource": "arn:aws:aps:us-west-2:111122223333:workspace/*"},
            "allows aps:RemoteWrite on arn:aws:aps:us-west-2:111122223333:workspace/*",
        ),
    ],
    ids=str,
)
def test_wildcards_fail(judge, eks_template, statement, words):
    _allow(eks_template, **statement)
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.severity) == ("PodRole", "error")
    assert words in finding.message


@pytest.mark.parametrize("name", ["AdministratorAccess", "AmazonFSxFullAccess"])
def test_broad_managed_policies_fail(judge, eks_template, name):
    eks_template["Resources"]["TokenRole"]["Properties"]["ManagedPolicyArns"] = [
        f"arn:aws:iam::aws:policy/{name}"
    ]
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.path) == ("TokenRole", ("ManagedPolicyArns", 0))


@pytest.mark.parametrize("name", ["AmazonPrometheusRemoteWriteAccess", "AmazonPrometheusQueryAccess"])
def test_managed_policies_for_every_workspace_are_a_warning(judge, eks_template, name):
    eks_template["Resources"]["TokenRole"]["Properties"]["ManagedPolicyArns"] = [
        {"Fn::Sub": f"arn:${{AWS::Partition}}:iam::aws:policy/{name}"}
    ]
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.severity) == ("TokenRole", "warning")
    assert f"has the AWS managed policy {name}, for every workspace" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        {
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "Training"}},
        },
        {"Action": "aps:RemoteWrite", "Resource": {"Fn::GetAtt": ["Workspace", "Arn"]}},
        {"Action": "aps:RemoteWrite", "Resource": "arn:aws:aps:us-west-2:111122223333:workspace/ws-1"},
        {"Action": ["fsx:DescribeFileSystems", "sts:GetCallerIdentity"], "Resource": "*"},
        {"Action": "kms:Decrypt", "Resource": {"Fn::GetAtt": ["Key", "Arn"]}},
        {"Effect": "Deny", "Action": "*", "Resource": "*"},
    ],
    ids=str,
)
def test_narrow_grants_comply(judge, eks_template, statement):
    _allow(eks_template, **statement)
    assert judge(ID, eks_template).findings == ()


def test_an_imported_policy_is_undetermined(judge, eks_template):
    eks_template["Resources"]["PodRole"]["Properties"]["ManagedPolicyArns"] = [{"Fn::ImportValue": "policy"}]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_actions_from_a_parameter_are_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Action": {"Type": "String"}}
    _allow(eks_template, Action={"Ref": "Action"}, Resource={"Fn::GetAtt": ["Key", "Arn"]})
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_roles_that_no_pod_takes_are_left_alone(judge, template, eks_template):
    assert judge(ID, template).verdicts == ()
    eks_template["Resources"]["UploadRole"]["Properties"]["Policies"] = [
        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}
    ]
    assert judge(ID, eks_template).findings == ()


def test_figures_for_every_namespace_are_advice(judge, eks_template):
    """AWS's own guides ask for no more than this, so that nobody need mend it."""
    _allow(eks_template, Action="cloudwatch:PutMetricData", Resource="*")
    (finding,) = judge(ID, eks_template).findings
    assert (finding.severity, finding.allowed) == ("advice", "a condition on cloudwatch:namespace")
    assert "may fake what alarms of others look at" in finding.message
