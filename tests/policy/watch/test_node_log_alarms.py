from __future__ import annotations

import pytest

ID = "NodeLogAlarms"


@pytest.fixture
def watched(template):
    """A filter on what the health agent detects, with its alarm."""
    _alarm(template)["TreatMissingData"] = "notBreaching"
    return template


def _alarm(template):
    return template["Resources"]["Alarm"]["Properties"]


def _filter(template):
    return template["Resources"]["Detections"]["Properties"]


def test_an_alarm_at_the_first_line_complies(judge, watched):
    assert judge(ID, watched).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "change",
    [
        {"ComparisonOperator": "GreaterThanThreshold", "Threshold": 0},
        {"Threshold": 0.5},
        {"Threshold": "1"},
        {"TreatMissingData": "missing"},
    ],
    ids=str,
)
def test_other_ways_of_the_same_comply(judge, watched, change):
    _alarm(watched).update(change)
    assert judge(ID, watched).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"Threshold": 2}, "Threshold", "is passed at 2 lines, so that the first is told to nobody"),
        ({"ComparisonOperator": "GreaterThanThreshold"}, "Threshold", "is passed at 2 lines"),
        ({"Threshold": 0}, "Threshold", "is passed by no line at all"),
        ({"ComparisonOperator": "LessThanThreshold"}, "ComparisonOperator", "no alarm at many lines"),
        ({"TreatMissingData": "breaching"}, "TreatMissingData", "which keeps it on without any"),
        ({"TreatMissingData": "ignore"}, "TreatMissingData", "which keeps it on after one line"),
        ({"MetricName": "Others"}, "MetricName", "which no filter of this template counts in Training"),
    ],
    ids=str,
)
def test_an_alarm_that_does_not_tell_of_the_first_line_fails(judge, watched, change, path, words):
    _alarm(watched).update(change)
    (finding,) = judge(ID, watched).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Alarm", (path,), "warning")
    assert words in finding.message


@pytest.mark.parametrize("group", ["/aws/sagemaker/Clusters/training/abcdefgh1234", "elsewhere"])
def test_a_pattern_that_never_matches_fails(judge, watched, group):
    _filter(watched).update(LogGroupName=group, FilterPattern='{ $.details.reason = "XidHardwareFailure" }')
    (finding,) = judge(ID, watched).failures
    assert finding.logical_id == "Detections"
    assert "asks for $.details...., which no line has: the key is 'details: '" in finding.message


def test_logs_of_the_custom_resource_are_those_of_nodes(judge, watched):
    watched["Resources"]["Kept"] = {"Type": "Custom::NodeLogGroup", "Properties": {"ServiceToken": "x"}}
    _filter(watched).update(LogGroupName={"Ref": "Kept"}, FilterPattern='"FAILED in step"')
    _alarm(watched)["Threshold"] = 3
    assert judge(ID, watched).outcome(ID) == "fail"


def test_filters_on_other_logs_are_their_owners_matter(judge, watched):
    _filter(watched).update(LogGroupName="/jobs", FilterPattern='"loss is nan"')
    _alarm(watched)["Threshold"] = 100
    assert judge(ID, watched).findings == ()


def test_alarms_on_other_metrics_are_their_owners_matter(judge, watched):
    _alarm(watched).update(Namespace="AWS/FSx", Threshold=100)
    assert judge(ID, watched).outcome(ID) == "pass"
    assert len(judge(ID, watched).findings) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"Threshold": {"Fn::ImportValue": "lines"}},
        {"ComparisonOperator": {"Fn::ImportValue": "operator"}},
        {"TreatMissingData": {"Fn::ImportValue": "silence"}},
    ],
    ids=str,
)
def test_what_deployment_alone_can_tell(judge, watched, change):
    _alarm(watched).update(change)
    report = judge(ID, watched)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_without_a_cluster_nothing_is_judged(judge, watched):
    del watched["Resources"]["Cluster"]
    _alarm(watched)["Threshold"] = 100
    assert judge(ID, watched).findings == ()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"EvaluationPeriods": 3}, "EvaluationPeriods"),
        ({"EvaluationPeriods": 5, "DatapointsToAlarm": "2"}, "DatapointsToAlarm"),
    ],
    ids=str,
)
def test_lines_in_many_periods_fail(judge, watched, change, path):
    _alarm(watched).update(change)
    (finding,) = judge(ID, watched).failures
    assert (finding.logical_id, finding.path) == ("Alarm", (path,))
    assert "so that the first is told to nobody" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        {"EvaluationPeriods": 1},
        {"EvaluationPeriods": 5, "DatapointsToAlarm": 1},
        {"EvaluationPeriods": 3, "TreatMissingData": "missing"},
        {"EvaluationPeriods": {"Fn::ImportValue": "periods"}},
    ],
    ids=str,
)
def test_a_line_in_one_period_complies(judge, watched, change):
    _alarm(watched).update(change)
    assert judge(ID, watched).outcome(ID) == "pass"
