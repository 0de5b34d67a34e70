from __future__ import annotations

import pytest

ID = "RoleTrust"
OWN = "111122223333"
OTHER = "444455556666"


def _trust(template, role="BackupRole"):
    return template["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]


def test_services_that_need_the_role_comply(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Principal": "*"}, "trusts everybody"),
        ({"Principal": {"AWS": "*"}}, "trusts everybody"),
        ({"Principal": {"AWS": OTHER}}, f"trusts {OTHER}, of another account"),
        (
            {"Principal": {"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}},
            "whoever has sts:AssumeRole",
        ),
        ({"Principal": {"AWS": {"Fn::GetAtt": "NodeRole.Arn"}}}, "though only lambda.amazonaws.com needs it"),
        (
            {"Principal": {"Service": ["lambda.amazonaws.com", "ec2.amazonaws.com"]}},
            "trusts ec2.amazonaws.com",
        ),
        (
            {"Principal": {"Federated": "cognito-identity.amazonaws.com"}, "Action": "sts:*"},
            "trusts Federated",
        ),
    ],
    ids=str,
)
def test_whom_a_role_of_a_function_trusts(judge, template, changes, words):
    _trust(template).update(changes)
    (finding,) = judge(ID, template, account=OWN).failures
    assert (finding.logical_id, finding.severity) == ("BackupRole", "warning")
    assert words in finding.message


def test_not_principal_fails(judge, template):
    del _trust(template)["Principal"]
    _trust(template)["NotPrincipal"] = {"AWS": OTHER}
    (finding,) = judge(ID, template).failures
    assert "everybody but those in NotPrincipal" in finding.message


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ({}, "fail"),
        ({"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}, "pass"),
        ({"StringEqualsIfExists": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}, "fail"),
        (
            {"ArnLike": {"aws:SourceArn": {"Fn::Sub": "arn:aws:ec2:*:${AWS::AccountId}:vpc-flow-log/*"}}},
            "pass",
        ),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:ec2:*:*:vpc-flow-log/*"}}, "fail"),
        ({"StringEquals": {"aws:SourceAccount": {"Ref": "Owner"}}}, "pass"),
    ],
    ids=str,
)
def test_flow_logs_of_other_accounts(judge, template, condition, outcome):
    template["Parameters"] = {"Owner": {"Type": "String"}}
    _trust(template, "FlowLogRole")["Condition"] = condition
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "on whosever behalf it comes" in report.text()


@pytest.fixture
def grafana(template):
    """The compliant template with a workspace of Grafana, whose role only Grafana takes for the account."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "grafana.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
    }
    template["Resources"]["GrafanaRole"] = {
        "Type": "AWS::IAM::Role",
        "Properties": {"AssumeRolePolicyDocument": {"Statement": [statement]}},
    }
    template["Resources"]["Grafana"] = {
        "Type": "AWS::Grafana::Workspace",
        "Properties": {"RoleArn": {"Fn::GetAtt": ["GrafanaRole", "Arn"]}},
    }
    return template


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
        {"ArnLike": {"aws:SourceArn": {"Fn::Sub": "arn:aws:grafana:*:${AWS::AccountId}:/workspaces/*"}}},
        {"StringEquals": {"aws:SourceAccount": {"Ref": "Owner"}}},
    ],
    ids=["account", "workspaces", "parameter"],
)
def test_grafana_for_the_account_complies(judge, grafana, condition):
    grafana["Parameters"] = {"Owner": {"Type": "String"}}
    _trust(grafana, "GrafanaRole")["Condition"] = condition
    assert judge(ID, grafana).findings == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Condition": {}}, "trusts grafana.amazonaws.com on whosever behalf it comes"),
        ({"Principal": {"AWS": "*"}}, "trusts everybody"),
        (
            {"Principal": {"Service": ["grafana.amazonaws.com", "ec2.amazonaws.com"]}},
            "trusts ec2.amazonaws.com, which nothing in the template uses it for",
        ),
        (
            {"Principal": {"AWS": {"Fn::GetAtt": "NodeRole.Arn"}}},
            "though only grafana.amazonaws.com needs it",
        ),
    ],
    ids=str,
)
def test_whom_the_role_of_grafana_trusts(judge, grafana, changes, words):
    _trust(grafana, "GrafanaRole").update(changes)
    (finding,) = judge(ID, grafana, account=OWN).failures
    assert (finding.logical_id, finding.severity) == ("GrafanaRole", "warning")
    assert words in finding.message


@pytest.mark.parametrize(
    ("principal", "condition", "outcome"),
    [
        ({"AWS": OTHER}, {}, "fail"),
        ({"AWS": OTHER}, {"StringEquals": {"sts:ExternalId": "x"}}, "pass"),
        ({"AWS": OWN}, {}, "pass"),
        ({"Service": "ec2.amazonaws.com"}, {}, "pass"),
        ({"Federated": "accounts.google.com"}, {}, "pass"),
        ({"AWS": {"Ref": "Owner"}}, {}, "pass"),
    ],
    ids=str,
)
def test_a_role_that_nothing_shown_uses(judge, template, principal, condition, outcome):
    template["Parameters"] = {"Owner": {"Type": "String"}}
    statement = {
        "Effect": "Allow",
        "Principal": principal,
        "Action": "sts:AssumeRole",
        "Condition": condition,
    }
    template["Resources"]["UploadRole"]["Properties"] = {
        "AssumeRolePolicyDocument": {"Statement": [statement]}
    }
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(
    "changes",
    [
        {"Effect": "Deny", "Principal": "*"},
        {"Principal": {"AWS": OTHER}, "Action": "sts:TagSession"},
        {"Principal": {"Service": {"Fn::Sub": "lambda.${AWS::URLSuffix}"}}},
    ],
    ids=str,
)
def test_what_must_not_fire(judge, template, changes):
    _trust(template).update(changes)
    assert judge(ID, template, account=OWN).findings == ()


def test_roles_of_nodes_and_pods_have_rules_of_their_own(judge, eks_template):
    for name in ("NodeRole", "PodRole"):
        _trust(eks_template, name)["Principal"] = "*"
    assert judge(ID, eks_template).findings == ()
