from __future__ import annotations

import pytest

ID = "KeyDeletion"


def _key(template):
    return template["Resources"]["Key"]["Properties"]


def test_keys_with_defaults_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("days", "outcome"),
    [(7, "fail"), ("13", "fail"), (14, "pass"), (30, "pass"), ({"Ref": "Days"}, "undetermined")],
    ids=str,
)
def test_the_time_to_call_it_off(judge, template, days, outcome):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    _key(template)["PendingWindowInDays"] = days
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert outcome != "fail" or [finding.severity for finding in report.failures] == ["warning"]


@pytest.mark.parametrize(
    ("enabled", "outcome"),
    [(False, "fail"), ("false", "fail"), (True, "pass"), ({"Ref": "On"}, "undetermined")],
    ids=str,
)
def test_a_key_that_nobody_can_use(judge, template, enabled, outcome):
    template["Parameters"] = {"On": {"Type": "String"}}
    _key(template)["Enabled"] = enabled
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    for finding in report.failures:
        assert finding.severity == "error"
        assert "nobody can use the key of" in finding.message


def test_a_template_without_cluster_is_left_alone(judge, template):
    _key(template)["Enabled"] = False
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()
