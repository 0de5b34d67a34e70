from __future__ import annotations

import pytest

ID = "AlarmWindow"


def _alarm(template):
    return template["Resources"]["Alarm"]["Properties"]


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        (
            {"Period": 600, "EvaluationPeriods": 145},
            "EvaluationPeriods",
            "is 145, of 600 seconds each: 87000",
        ),
        ({"Period": "3600", "EvaluationPeriods": "169"}, "EvaluationPeriods", "at most 168 such periods"),
        ({"Period": 90, "EvaluationPeriods": 1}, "Period", "10, 20, 30 or a multiple of 60"),
        ({"Period": 0, "EvaluationPeriods": 1}, "Period", "is 0 seconds"),
        ({"EvaluationPeriods": 3, "DatapointsToAlarm": 4}, "DatapointsToAlarm", "is 4, of 3 periods"),
    ],
    ids=str,
)
def test_what_cloudwatch_refuses_fails(judge, template, change, path, words):
    _alarm(template).update(change)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Alarm", (path,), "error")
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        {"Period": 600, "EvaluationPeriods": 144, "DatapointsToAlarm": 144},
        {"Period": 3600, "EvaluationPeriods": 168},
        {"Period": 86400, "EvaluationPeriods": 7},
        {"Period": 10, "EvaluationPeriods": 1},
        {"Period": {"Fn::ImportValue": "period"}, "EvaluationPeriods": 9999},
        {"Period": 600, "EvaluationPeriods": {"Fn::ImportValue": "count"}, "DatapointsToAlarm": 9999},
        {"Metrics": [{"Id": "a", "Expression": "1"}], "EvaluationPeriods": 3},
    ],
    ids=str,
)
def test_what_it_takes_or_deployment_tells_complies(judge, template, change):
    _alarm(template).update(change)
    assert judge(ID, template).outcome(ID) == "pass"


def test_without_a_cluster_nothing_is_judged(judge, template):
    del template["Resources"]["Cluster"]
    _alarm(template).update(Period=1, EvaluationPeriods=1)
    assert judge(ID, template).findings == ()
