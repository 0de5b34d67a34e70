from __future__ import annotations

import pytest

ID = "TopicAccess"
OTHER = "444455556666"
OF_ACCOUNT = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def _policy(template):
    return template["Resources"]["TopicPolicy"]["Properties"]["PolicyDocument"]


@pytest.fixture
def split(template):
    """Each service by itself, with the conditions that it meets."""
    _policy(template)["Statement"] = [
        _allow("events.amazonaws.com"),
        _allow("cloudwatch.amazonaws.com", OF_ACCOUNT),
        _allow("budgets.amazonaws.com", OF_ACCOUNT),
    ]
    return template


def _allow(service, condition=None, **more):
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sns:Publish",
        "Resource": "*",
        **more,
    }
    return statement if condition is None else {**statement, "Condition": condition}


def test_services_that_come_for_the_account_comply(judge, split):
    assert judge(ID, split).outcome(ID) == "pass"


def test_a_service_that_may_come_for_others_fails(judge, split):
    _policy(split)["Statement"][1].pop("Condition")
    (finding,) = judge(ID, split).failures
    assert (finding.logical_id, finding.severity) == ("TopicPolicy", "warning")
    assert "admits service cloudwatch.amazonaws.com, on whosever behalf it comes" in finding.message


@pytest.mark.parametrize("action", ["*", "sns:*"])
def test_a_service_that_may_change_the_topic_fails(judge, split, action):
    _policy(split)["Statement"][0]["Action"] = action
    (finding,) = judge(ID, split).failures
    assert "lets service events.amazonaws.com do more than publish" in finding.message


@pytest.mark.parametrize(
    ("principal", "words"),
    [
        ("*", "admits everybody"),
        ({"AWS": "*"}, "admits everybody"),
    ],
    ids=str,
)
def test_strangers_fail(judge, split, principal, words):
    _policy(split)["Statement"][0] = _allow("-", Principal=principal)
    (finding,) = judge(ID, split).failures
    assert words in finding.message


def test_another_account_fails(judge, split):
    _policy(split)["Statement"].append(_allow("-", Principal={"AWS": f"arn:aws:iam::{OTHER}:root"}))
    (finding,) = judge(ID, split, account="111122223333").failures
    assert f"{OTHER}:root, of another account" in finding.message


def test_everybody_but_some_fails(judge, split):
    statement = _allow("-", NotPrincipal={"AWS": "arn:aws:iam::444455556666:root"})
    del statement["Principal"]
    _policy(split)["Statement"].append(statement)
    (finding,) = judge(ID, split).failures
    assert "everybody but those in NotPrincipal" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        _allow("-", OF_ACCOUNT, Principal={"AWS": "*"}),
        _allow("-", {"StringEquals": {"AWS:SourceOwner": {"Ref": "AWS::AccountId"}}}, Principal={"AWS": "*"}),
        _allow("-", Principal={"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}),
        {"Effect": "Deny", "Principal": "*", "Action": "sns:Publish", "Resource": "*"},
    ],
    ids=["account", "default policy", "root", "denial"],
)
def test_the_account_itself_complies(judge, split, statement):
    _policy(split)["Statement"].append(statement)
    assert judge(ID, split).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "statement",
    [
        _allow("-", Principal={"AWS": f"arn:aws:iam::{OTHER}:root"}),
        _allow("cloudwatch.amazonaws.com", {"StringEquals": {"aws:SourceAccount": OTHER}}),
    ],
    ids=["principal", "account"],
)
def test_what_deployment_alone_can_tell(judge, split, statement):
    _policy(split)["Statement"].append(statement)
    report = judge(ID, split)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_without_a_cluster_nothing_is_judged(judge, split):
    del split["Resources"]["Cluster"]
    _policy(split)["Statement"][0] = _allow("-", Principal="*")
    assert judge(ID, split).findings == ()


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ({"StringEquals": {"AWS:SourceOwner": {"Ref": "AWS::AccountId"}}}, "pass"),
        ({"StringEquals": {"aws:PrincipalOrgID": "o-abc"}}, "pass"),
        ({"ArnLike": {"aws:PrincipalArn": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/*"}}}, "pass"),
        ({"StringLike": {"aws:PrincipalAccount": "*"}}, "fail"),
        ({"Null": {"aws:PrincipalOrgID": "false"}}, "fail"),
        ({"StringEqualsIfExists": {"aws:PrincipalOrgID": "o-abc"}}, "fail"),
        ({"ForAllValues:StringEquals": {"aws:PrincipalOrgID": "o-abc"}}, "fail"),
        ({"StringNotEquals": {"AWS:SourceOwner": {"Ref": "AWS::AccountId"}}}, "fail"),
        ({"StringEquals": {"AWS:SourceOwner": {"Ref": "Team"}}}, "undetermined"),
    ],
    ids=str,
)
def test_everybody_of_an_account_is_known_by_the_condition(judge, template, condition, outcome):
    template["Parameters"] = {"Team": {"Type": "String"}}
    template["Resources"]["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "sns:Publish",
            "Resource": "*",
            "Condition": condition,
        }
    )
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert all("admits everybody" in finding.message for finding in report.findings)


def test_another_account_is_no_owner(judge, template):
    template["Resources"]["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "sns:Publish",
            "Resource": "*",
            "Condition": {"StringEquals": {"AWS:SourceOwner": "444455556666"}},
        }
    )
    (finding,) = judge(ID, template, account="111122223333").failures
    assert "admits everybody" in finding.message
