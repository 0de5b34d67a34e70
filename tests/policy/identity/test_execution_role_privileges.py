from __future__ import annotations

import pytest

ID = "ExecutionRolePrivileges"


def _allow(template, **statement):
    template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", **statement}
    )


def test_documented_actions_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ({"Action": "*", "Resource": "*"}, "allows *"),
        ({"Action": "s3:*", "Resource": {"Fn::GetAtt": "Checkpoints.Arn"}}, "allows s3:*"),
        ({"Action": ["iam:PassRole"], "Resource": "arn:aws:iam::1:role/x"}, "allows iam:PassRole"),
        ({"NotAction": "iam:*", "Resource": "*"}, "every action but those in NotAction"),
        ({"Action": "s3:PutObject", "NotResource": "arn:aws:s3:::x"}, "but those in NotResource"),
        ({"Action": "s3:PutObject", "Resource": "*"}, "allows s3:PutObject on *"),
        ({"Action": "s3:Get*", "Resource": "arn:aws:s3:::*"}, "allows s3:Get* on arn:aws:s3:::*"),
        (
            {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::*/*"},
            "allows s3:GetObject on arn:aws:s3:::*/*",
        ),
        (
            {"Action": "kms:Decrypt", "Resource": {"Fn::Sub": "arn:aws:kms:*:${AWS::AccountId}:key/*"}},
            "allows kms:Decrypt on",
        ),
        ({"Action": "sts:AssumeRole", "Resource": "*"}, "allows sts:AssumeRole on *"),
    ],
    ids=str,
)
def test_wildcards_fail(judge, template, statement, words):
    _allow(template, **statement)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("NodePolicy", ("PolicyDocument", "Statement", 3))
    assert words in finding.message


@pytest.mark.parametrize(
    "holder",
    [
        {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "NodeRole"}]}},
        {"Type": "AWS::IAM::RolePolicy", "Properties": {"RoleName": {"Ref": "NodeRole"}}},
        {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"Roles": [{"Ref": "NodeRole"}]}},
    ],
    ids=lambda holder: holder["Type"],
)
def test_every_kind_of_policy_counts(judge, template, holder):
    holder["Properties"]["PolicyDocument"] = {
        "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}
    }
    template["Resources"]["Extra"] = holder
    assert {finding.logical_id for finding in judge(ID, template).failures} == {"Extra"}


@pytest.mark.parametrize(
    "name",
    [
        {"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": ["NodeRole", "Arn"]}]}]},
        {"Fn::Join": ["", [{"Ref": "NodeRole"}]]},
    ],
    ids=str,
)
def test_a_policy_counts_however_it_spells_the_name_of_the_role(judge, template, name):
    template["Resources"]["Extra"] = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "Roles": [name],
            "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}},
        },
    }
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Extra"
    assert "allows *" in finding.message


def test_the_name_of_another_role_does_not_attach_a_policy(judge, template):
    template["Resources"]["Extra"] = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "Roles": [{"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": ["UploadRole", "Arn"]}]}]}],
            "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}},
        },
    }
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("prefix", "account"),
    [
        ("arn:aws:iam::${AWS::AccountId}:policy/", None),
        ("arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/", None),
        ("arn:aws:iam::111122223333:policy/", "111122223333"),
    ],
)
def test_a_managed_policy_counts_whose_arn_is_written_out(judge, template, prefix, account):
    template["Resources"]["Extra"] = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "ManagedPolicyName": "extra",
            "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}},
        },
    }
    arns = template["Resources"]["NodeRole"]["Properties"]["ManagedPolicyArns"]
    arns.append({"Fn::Sub": f"{prefix}extra"})
    (finding,) = judge(ID, template, account=account).failures
    assert finding.logical_id == "Extra"
    assert "allows *" in finding.message


@pytest.mark.parametrize("name", ["extra", "AmazonSageMakerClusterInstanceRolePolicy", "AdministratorAccess"])
def test_a_policy_of_the_account_is_none_of_aws(judge, template, name):
    arns = template["Resources"]["NodeRole"]["Properties"]["ManagedPolicyArns"]
    arns.append({"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:policy/" + name})
    (finding,) = judge(ID, template).findings
    assert finding.outcome == "undetermined"
    assert f"policy/{name} is not in this template" in finding.message


def test_inline_policies_count(judge, template):
    template["Resources"]["NodeRole"]["Properties"]["Policies"] = [
        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}
    ]
    (finding,) = judge(ID, template).failures
    assert finding.path == ("Policies", 0, "PolicyDocument", "Statement", 0)


@pytest.mark.parametrize("name", ["AdministratorAccess", "AmazonS3FullAccess", "PowerUserAccess"])
def test_broad_managed_policies_fail(judge, template, name):
    template["Resources"]["NodeRole"]["Properties"]["ManagedPolicyArns"].append(
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":iam::aws:policy/{name}"]]}
    )
    (finding,) = judge(ID, template).failures
    assert f"has the AWS managed policy {name}" in finding.message


def test_an_imported_policy_is_undetermined(judge, template):
    arns = template["Resources"]["NodeRole"]["Properties"]["ManagedPolicyArns"]
    arns.append({"Fn::ImportValue": "policy"})
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "policy import policy is not in this template" in report.text()


def test_an_imported_role_is_undetermined(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::ImportValue": "role"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_resource_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Bucket": {"Type": "String"}}
    _allow(template, Action="s3:GetObject", Resource={"Ref": "Bucket"})
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": ["ec2:DescribeVpcs", "ecr:GetAuthorizationToken"], "Resource": "*"},
        {
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "Training"}},
        },
        {"Action": "s3:GetObject*", "Resource": {"Fn::Sub": "${Scripts.Arn}/*"}},
        {"Action": "ec2:CreateTags", "Resource": "arn:aws:ec2:*:*:network-interface/*"},
        {"Action": "kms:Decrypt", "Resource": {"Fn::GetAtt": ["Key", "Arn"]}},
        {"Effect": "Deny", "Action": "*", "Resource": "*"},
    ],
    ids=str,
)
def test_narrow_grants_comply(judge, template, statement):
    _allow(template, **statement)
    assert judge(ID, template).findings == ()


def test_other_roles_are_left_alone(judge, template):
    template["Resources"]["UploadRole"]["Properties"]["Policies"] = [
        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}
    ]
    assert judge(ID, template).findings == ()


GRANT = {"Action": "kms:CreateGrant", "Resource": {"Fn::GetAtt": ["Key", "Arn"]}}


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ({}, "fail"),
        ({"StringLike": {"kms:ViaService": "ec2.*"}}, "fail"),
        ({"Bool": {"kms:GrantIsForAWSResource": "false"}}, "fail"),
        ({"Bool": {"kms:GrantIsForAWSResource": "true"}}, "pass"),
        ({"BoolIfExists": {"kms:GrantIsForAWSResource": "true"}}, "fail"),
        ({"StringEquals": {"kms:GranteePrincipal": {"Fn::GetAtt": ["NodeRole", "Arn"]}}}, "pass"),
    ],
    ids=str,
)
def test_key_grants_are_for_services(judge, template, condition, outcome):
    _allow(template, **GRANT, Condition=condition)
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "nodes may hand the key to anybody" in report.text()


@pytest.mark.parametrize(
    ("action", "severity", "words"),
    [
        ("i*:PassRole", "error", "allows i*:PassRole"),
        ("iam:Pass*", "error", "can become anybody"),
        ("iam:GetRole", "error", "allows iam:GetRole on *"),
        ("ec2:DescribeInstanceT*", None, ""),
        ("sts:GetCallerIdentity", None, ""),
        ("ec2:Describe*", "error", "allows ec2:Describe* on *"),
        ("kms:CreateKey", "warning", "change something and take no scope"),
        ("nonsense:Do", "error", "allows nonsense:Do on *"),
    ],
)
def test_what_takes_no_scope_is_allowed_on_everything(judge, template, action, severity, words):
    _allow(template, Action=action, Resource="*")
    failures = judge(ID, template).failures
    assert [finding.severity for finding in failures] == ([] if severity is None else [severity])
    assert all(words in finding.message for finding in failures)


def test_reading_one_role_is_no_way_to_another(judge, template):
    _allow(template, Action="iam:GetRole", Resource={"Fn::GetAtt": ["NodeRole", "Arn"]})
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("action", "resource", "fails"),
    [
        ("sagemaker:DeleteCluster", "arn:aws:sagemaker:us-west-2:${AWS::AccountId}:cluster/*", True),
        ("sagemaker:*Cluster", "arn:aws:sagemaker:*:*:cluster/*", True),
        ("lambda:UpdateFunctionCode", "arn:aws:lambda:us-west-2:${AWS::AccountId}:function:*", True),
        ("cloudformation:UpdateStack", "arn:aws:cloudformation:us-west-2:${AWS::AccountId}:stack/*", True),
        ("sagemaker:DescribeCluster", "arn:aws:sagemaker:us-west-2:${AWS::AccountId}:cluster/*", False),
        ("lambda:UpdateFunctionCode", "arn:aws:lambda:us-west-2:${AWS::AccountId}:function:jobs-*", False),
    ],
)
def test_what_changes_clusters_functions_and_stacks_names_them(judge, template, action, resource, fails):
    _allow(template, Action=action, Resource={"Fn::Sub": resource})
    failures = judge(ID, template).failures
    assert len(failures) == fails
    assert all(f"allows {action} on arn:aws:" in finding.message for finding in failures)


def test_figures_for_every_namespace_are_advice(judge, template):
    """AWS's own guides ask for no more than this, so that nobody need mend it."""
    _allow(template, Action="cloudwatch:PutMetricData", Resource="*")
    (finding,) = judge(ID, template).findings
    assert (finding.severity, finding.allowed) == ("advice", "a condition on cloudwatch:namespace")
    assert "may fake what alarms of others look at" in finding.message
