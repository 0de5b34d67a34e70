from __future__ import annotations

import pytest

ID = "ExecutionRoleTrust"


def _statement(template):
    return template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]


def test_sagemaker_alone_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("principal", "words"),
    [
        ({"Service": ["sagemaker.amazonaws.com", "ec2.amazonaws.com"]}, "trusts Service ec2.amazonaws.com"),
        ({"AWS": "*"}, "trusts everybody"),
        ("*", "trusts everybody"),
        ({"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}, "trusts AWS arn:aws:iam::"),
        ({"Federated": "accounts.google.com"}, "trusts Federated accounts.google.com"),
    ],
    ids=str,
)
def test_every_further_principal_fails(judge, template, principal, words):
    _statement(template)["Principal"] = principal
    (finding,) = judge(ID, template).failures
    assert finding.path == ("AssumeRolePolicyDocument", "Statement", 0)
    assert words in finding.message


def test_not_principal_fails(judge, template):
    statement = _statement(template)
    del statement["Principal"]
    statement["NotPrincipal"] = {"AWS": "arn:aws:iam::111122223333:role/Old"}
    (finding,) = judge(ID, template).failures
    assert "trusts everybody but those in NotPrincipal" in finding.message


def test_a_role_that_sagemaker_cannot_take_fails(judge, template):
    template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"] = []
    (finding,) = judge(ID, template).failures
    assert "does not trust sagemaker.amazonaws.com" in finding.message


@pytest.mark.parametrize("key", ["aws:SourceArn", "aws:SourceAccount"])
def test_an_undocumented_condition_is_a_warning(judge, template, key):
    _statement(template)["Condition"] = {"StringEquals": {key: "111122223333"}}
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "which HyperPod is not documented to send" in finding.message


def test_an_imported_role_is_undetermined(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = "arn:aws:iam::111122223333:role/Nodes"
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "role arn:aws:iam::111122223333:role/Nodes is not in this template" in report.text()


def test_a_principal_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Service": {"Type": "String"}}
    _statement(template)["Principal"] = {"Service": {"Ref": "Service"}}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_service_from_a_join_complies(judge, template):
    _statement(template)["Principal"] = {"Service": {"Fn::Join": [".", ["sagemaker", "amazonaws.com"]]}}
    assert judge(ID, template).findings == ()


def test_a_denial_complies(judge, template):
    statements = template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    statements.append({"Effect": "Deny", "Principal": "*", "Action": "sts:TagSession"})
    assert judge(ID, template).findings == ()


def test_other_roles_are_left_alone(judge, template):
    assert {verdict.logical_id for verdict in judge(ID, template).verdicts} == {"NodeRole"}


def test_a_role_known_by_its_name_counts(judge, template):
    template["Resources"]["NodeRole"]["Properties"]["RoleName"] = "nodes"
    _statement(template)["Principal"] = "*"
    arn = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/nodes"}
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = arn
    assert judge(ID, template).outcome(ID) == "fail"


@pytest.mark.parametrize("partition", ["aws", "${AWS::Partition}"])
@pytest.mark.parametrize("region", ["us-west-2", None])
def test_a_role_that_is_named_by_text_is_found(judge, template, partition, region):
    resources = template["Resources"]
    resources["NodeRole"]["Properties"]["RoleName"] = "nodes"
    resources["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = "*"
    for group in resources["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::Sub": f"arn:{partition}:iam::${{AWS::AccountId}}:role/nodes"}
    (finding,) = judge(ID, template, region=region).findings
    assert finding.logical_id == "NodeRole"
    assert "trusts everybody" in finding.message


@pytest.mark.parametrize("name", [None, "nodes"])
@pytest.mark.parametrize("path", [None, "/training/"])
def test_a_role_whose_arn_is_put_together_of_its_reference_is_found(judge, template, name, path):
    role = template["Resources"]["NodeRole"]["Properties"]
    role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = "*"
    role.update({key: value for key, value in (("RoleName", name), ("Path", path)) if value is not None})
    arn = f"arn:aws:iam::${{AWS::AccountId}}:role{'/' if path is None else path}${{NodeRole}}"
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::Sub": arn}
    (finding,) = judge(ID, template).findings
    assert finding.logical_id == "NodeRole"
    assert "trusts everybody" in finding.message


def test_a_role_of_another_account_is_not_taken_for_its_namesake(judge, template):
    resources = template["Resources"]
    resources["NodeRole"]["Properties"]["RoleName"] = "nodes"
    for group in resources["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = "arn:aws:iam::999999999999:role/nodes"
    report = judge(ID, template, account="111122223333")
    assert report.outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        ("sts:AssumeRole", "pass"),
        ("sts:*", "pass"),
        ("sts:TagSession", "fail"),
        ({"Ref": "AWS::NoValue"}, "fail"),
    ],
    ids=str,
)
def test_the_trust_must_let_the_service_assume_the_role(judge, template, action, outcome):
    document = template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]
    document["Statement"][0]["Action"] = action
    assert judge(ID, template).outcome(ID) == outcome
