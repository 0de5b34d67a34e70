from __future__ import annotations

import pytest

ID = "FigureAlarms"
NAMED = [{"Name": "ClusterName", "Value": "training"}]


@pytest.fixture
def watched(template):
    """An alarm on a fleet without a running job."""
    del template["Resources"]["IdleAlarm"]
    template["Resources"]["Cluster"]["Properties"]["ClusterName"] = "training"
    _alarm(template).update(
        Namespace="/aws/sagemaker/Clusters",
        MetricName="RunningJobs",
        Dimensions=[dict(one) for one in NAMED],
        Statistic="Maximum",
        Period=3600,
        EvaluationPeriods=4,
        ComparisonOperator="LessThanThreshold",
        Threshold=1,
    )
    return template


def _alarm(template):
    return template["Resources"]["Alarm"]["Properties"]


def test_an_alarm_on_what_is_put_complies(judge, watched):
    assert judge(ID, watched).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        (
            {"Namespace": "aws/sagemaker/clusters"},
            ("Namespace",),
            "is aws/sagemaker/clusters, which is another",
        ),
        ({"Dimensions": None}, ("Dimensions",), "are missing, with which no RunningJobs is put"),
        (
            {"Dimensions": [{"Name": "Cluster", "Value": "training"}]},
            ("Dimensions",),
            "are Cluster, with which",
        ),
        (
            {"Dimensions": [*NAMED, {"Name": "Partition", "Value": "dev"}]},
            ("Dimensions",),
            "are ClusterName, Partition, with which",
        ),
        (
            {"Dimensions": [{"Name": "ClusterName", "Value": {"Ref": "Cluster"}}]},
            ("Dimensions", 0, "Value"),
            "is the ARN of Cluster, where its name belongs",
        ),
        (
            {"Dimensions": [{"Name": "ClusterName", "Value": "trainign"}]},
            ("Dimensions", 0, "Value"),
            "is trainign, and no cluster here has that name: training",
        ),
        ({"Threshold": 0}, ("Threshold",), "is 0, which a figure of 0 or more never passes"),
        (
            {"Threshold": "-1", "ComparisonOperator": "LessThanOrEqualToThreshold"},
            ("Threshold",),
            "never passes",
        ),
        (
            {"Threshold": 0, "ComparisonOperator": "GreaterThanOrEqualToThreshold"},
            ("Threshold",),
            "always passes (GreaterThanOrEqualToThreshold)",
        ),
    ],
    ids=str,
)
def test_an_alarm_on_what_nobody_puts_fails(judge, watched, change, path, words):
    _alarm(watched).update(change)
    (finding,) = judge(ID, watched).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Alarm", path, "warning")
    assert words in finding.message
    assert "which is not what Ref returns" in finding.fix


@pytest.mark.parametrize(
    "change",
    [
        {"Dimensions": [{"Name": "Queue", "Value": "dev"}, *NAMED]},
        {"Threshold": 0, "ComparisonOperator": "LessThanOrEqualToThreshold"},
        {"Threshold": 0, "ComparisonOperator": "GreaterThanThreshold", "MetricName": "PendingJobs"},
        {"Threshold": 0, "Statistic": "SampleCount"},
        {"Threshold": {"Fn::ImportValue": "limit"}},
        {"Period": 60, "EvaluationPeriods": 240, "TreatMissingData": "missing"},
        {"Period": 600, "EvaluationPeriods": 24, "TreatMissingData": "breaching"},
        {"Period": 300, "EvaluationPeriods": 2, "DatapointsToAlarm": 1, "TreatMissingData": "notBreaching"},
    ],
    ids=str,
)
def test_other_alarms_comply(judge, watched, change):
    _alarm(watched).update(change)
    assert judge(ID, watched).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "change",
    [
        {"Namespace": "Research", "Dimensions": None, "Threshold": 0},
        {"MetricName": "GpuHours", "Dimensions": None, "Threshold": 0},
        {"Namespace": {"Fn::ImportValue": "namespace"}},
    ],
    ids=str,
)
def test_other_metrics_are_their_owners_matter(judge, watched, change):
    _alarm(watched).update(change)
    report = judge(ID, watched)
    assert (report.findings, report.outcome(ID)) == ((), None)


@pytest.mark.parametrize(
    "change",
    [
        {"Dimensions": [{"Name": "ClusterName", "Value": {"Fn::ImportValue": "name"}}]},
        {"Dimensions": [{"Name": {"Fn::ImportValue": "dimension"}, "Value": "training"}]},
        {"Dimensions": {"Fn::ImportValue": "dimensions"}},
    ],
    ids=str,
)
def test_what_deployment_alone_can_tell_is_undetermined(judge, watched, change):
    _alarm(watched).update(change)
    assert judge(ID, watched).failures == ()
    assert judge(ID, watched).outcome(ID) == "undetermined"


def test_a_cluster_with_a_name_of_cloudformation_is_undetermined(judge, watched):
    del watched["Resources"]["Cluster"]["Properties"]["ClusterName"]
    assert judge(ID, watched).failures == ()
    assert judge(ID, watched).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("treated", "words"),
    [("notBreaching", "so that it never begins"), ("breaching", "so that it is always on")],
)
def test_periods_between_two_checks_are_undetermined(judge, watched, treated, words):
    """Whoever puts figures each minute has them in each period."""
    change = {"EvaluationPeriods": 120, "DatapointsToAlarm": 60} if treated == "breaching" else {}
    _alarm(watched).update(Period=60, TreatMissingData=treated, **change)
    (finding,) = judge(ID, watched).findings
    assert (finding.outcome, finding.path) == ("undetermined", ("Period",))
    assert words in finding.message


def test_metrics_of_an_expression_are_judged(judge, watched):
    alarm = _alarm(watched)
    metric = {name: alarm.pop(name) for name in ("Namespace", "MetricName")}
    for name in ("Dimensions", "Statistic", "Period"):
        del alarm[name]
    alarm["Metrics"] = [
        {"Id": "idle", "Expression": "running < 1"},
        {"Id": "running", "MetricStat": {"Metric": metric, "Period": 600, "Stat": "Maximum"}},
    ]
    (finding,) = judge(ID, watched).failures
    assert finding.path == ("Metrics", 1, "MetricStat", "Metric", "Dimensions")
    metric["Dimensions"] = NAMED
    assert judge(ID, watched).outcome(ID) == "pass"
