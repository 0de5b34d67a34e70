from __future__ import annotations

import pytest

ID = "PrometheusAlerts"
SERVICE = "aps.amazonaws.com"
RECORDING = """
groups:
  - name: queues
    rules:
      - {record: pending, expr: sum(kueue_pending_workloads)}
"""


@pytest.fixture
def topic_statement(template):
    return template["Resources"]["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"][1]


@pytest.fixture
def key_statement(template):
    (statement,) = template["Resources"]["TopicKey"]["Properties"]["KeyPolicy"]["Statement"]
    return statement


def _workspace(template):
    return template["Resources"]["Figures"]["Properties"]


def test_alerts_that_a_topic_carries_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


def test_no_alert_manager_fails(judge, template):
    del _workspace(template)["AlertManagerDefinition"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Figures", "warning")
    assert "is missing, so nobody hears what rules of FigureRules alert" in finding.message


@pytest.mark.parametrize(
    "definition",
    [
        "alertmanager_config: |\n  route: {receiver: a}\n  receivers: [{name: a}]\n",
        "alertmanager_config: |\n  route: {receiver: a}\n  receivers: [{name: a, sns_configs: []}]\n",
        "alertmanager_config: |\n  route: {receiver: a}\n"
        "  receivers: [{name: a}, {name: unused, sns_configs: [{topic_arn: 'arn:aws:sns:us-west-2:1:t'}]}]\n",
        "alertmanager_config: |\n  receivers: []\n",
    ],
    ids=["nothing", "none", "unused", "no route"],
)
def test_receivers_that_send_nowhere_fail(judge, template, definition):
    _workspace(template)["AlertManagerDefinition"] = definition
    (finding,) = judge(ID, template).failures
    assert "has no receiver that its routes name and that sends anywhere" in finding.message


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("Subscription", "has no subscription"),
        ("TopicPolicy", f"has no topic policy, so {SERVICE} may not publish"),
    ],
)
def test_a_topic_that_does_not_carry_alerts_fails(judge, template, broken, words):
    del template["Resources"][broken]
    assert any(words in finding.message for finding in judge(ID, template).failures)


def test_a_topic_that_does_not_admit_the_service_fails(judge, template, topic_statement):
    topic_statement["Principal"]["Service"].remove(SERVICE)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, SERVICE in finding.message) == ("TopicPolicy", True)


def test_a_key_that_does_not_admit_the_service_fails(judge, template, key_statement):
    key_statement["Principal"]["Service"].remove(SERVICE)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, SERVICE in finding.message) == ("TopicKey", True)


WORKSPACES = "arn:aws:aps:us-west-2:${AWS::AccountId}:workspace/"


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ({"Fn::Sub": f"{WORKSPACES}*"}, "pass"),
        ({"Fn::Sub": f"{WORKSPACES}${{Figures.WorkspaceId}}"}, "pass"),
        ({"Fn::GetAtt": ["Figures", "Arn"]}, "pass"),
        ({"Ref": "Figures"}, "pass"),
        ({"Fn::Sub": "arn:aws:cloudwatch:us-west-2:${AWS::AccountId}:alarm:*"}, "fail"),
        ({"Fn::ImportValue": "other-workspace"}, "fail"),
        ({"Ref": "Workspaces"}, "undetermined"),
    ],
    ids=str,
)
def test_a_topic_that_admits_some_workspaces(judge, template, topic_statement, source, outcome):
    template["Parameters"] = {"Workspaces": {"Type": "String"}}
    topic_statement["Condition"] = {"ArnLike": {"aws:SourceArn": source}}
    report = judge(ID, template, region="us-west-2")
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or f"does not let {SERVICE} sns:Publish" in report.text()


def test_rules_that_only_record_need_no_receiver(judge, template):
    del _workspace(template)["AlertManagerDefinition"]
    template["Resources"]["FigureRules"]["Properties"]["Data"] = RECORDING
    assert judge(ID, template).findings == ()


def test_a_workspace_without_rules_needs_no_receiver(judge, template):
    del _workspace(template)["AlertManagerDefinition"], template["Resources"]["FigureRules"]
    assert judge(ID, template).findings == ()


def test_rules_of_another_workspace_are_not_its_own(judge, template):
    del _workspace(template)["AlertManagerDefinition"]
    template["Resources"]["FigureRules"]["Properties"]["Workspace"] = {"Fn::ImportValue": "workspace"}
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    "topic",
    ["arn:aws:sns:us-west-2:111122223333:oncall", {"Fn::ImportValue": "topic"}, {"Ref": "OnCall"}],
    ids=str,
)
def test_a_topic_of_another_stack_complies(judge, template, topic):
    template["Parameters"] = {"OnCall": {"Type": "String"}}
    parts = _workspace(template)["AlertManagerDefinition"]["Fn::Join"][1]
    parts[1] = topic
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_receiver_of_another_kind_complies(judge, template):
    _workspace(template)["AlertManagerDefinition"] = (
        "alertmanager_config: |\n  route: {receiver: a}\n"
        "  receivers: [{name: a, pagerduty_configs: [{routing_key: b}]}]\n"
    )
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_receiver_of_a_route_within_complies(judge, template):
    _workspace(template)["AlertManagerDefinition"] = (
        "alertmanager_config: |\n  route: {receiver: nobody, routes: [{receiver: a}]}\n"
        "  receivers: [{name: nobody}, {name: a, pagerduty_configs: [{routing_key: b}]}]\n"
    )
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "definition",
    [
        {"Ref": "Definition"},
        {"Fn::Join": ["", ["alertmanager_config: |\n  route: {receiver: a}\n  ", {"Ref": "Definition"}]]},
        {"Fn::Join": ["", ["alertmanager_config: |\n  route: ", {"Ref": "Definition"}, "\n"]]},
        "no: [yaml",
        "template_files: {}",
        "&a [*a, *a]",
    ],
    ids=str,
)
def test_a_definition_that_cannot_be_read(judge, template, definition):
    template["Parameters"] = {"Definition": {"Type": "String"}}
    _workspace(template)["AlertManagerDefinition"] = definition
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "rules",
    [{"Ref": "RuleText"}, {"Fn::Join": ["", ["groups: ", {"Ref": "RuleText"}]]}, "no: [yaml", "groups: [a]"],
    ids=str,
)
def test_rules_that_cannot_be_read_may_alert(judge, template, rules):
    template["Parameters"] = {"RuleText": {"Type": "String"}}
    template["Resources"]["FigureRules"]["Properties"]["Data"] = rules
    assert judge(ID, template).outcome(ID) == "pass"
    del _workspace(template)["AlertManagerDefinition"]
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_without_a_cluster_nothing_is_judged(judge, template):
    del template["Resources"]["Cluster"], _workspace(template)["AlertManagerDefinition"]
    assert judge(ID, template).findings == ()
