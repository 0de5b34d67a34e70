from __future__ import annotations

import pytest

ID = "EventTargets"


def _rule(template):
    return template["Resources"]["HealthRule"]["Properties"]


@pytest.mark.parametrize("change", [{}, {"State": "ENABLED"}], ids=str)
def test_a_rule_that_leads_somewhere_complies(judge, template, change):
    _rule(template).update(change)
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"State": "DISABLED"}, ("State",), "is DISABLED, so nobody hears"),
        ({"Targets": []}, ("Targets",), "names no target"),
        ({"Targets": None}, ("Targets",), "names no target"),
    ],
    ids=str,
)
def test_a_rule_that_leads_nowhere_fails(judge, template, change, path, words):
    _rule(template).update(change)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("HealthRule", path, "warning")
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        {"State": "DISABLED", "EventPattern": {"detail-type": ["EC2 Instance State-change Notification"]}},
        {"State": "DISABLED", "EventPattern": None, "ScheduleExpression": "rate(1 day)"},
    ],
    ids=str,
)
def test_other_rules_are_their_owners_matter(judge, template, change):
    _rule(template).update(change)
    assert judge(ID, template).findings == ()


def test_what_deployment_alone_can_tell(judge, template):
    _rule(template)["State"] = {"Fn::ImportValue": "state"}
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_without_a_cluster_nothing_is_judged(judge, template):
    del template["Resources"]["Cluster"]
    _rule(template)["State"] = "DISABLED"
    assert judge(ID, template).findings == ()
