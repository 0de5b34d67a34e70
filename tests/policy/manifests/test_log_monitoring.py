from __future__ import annotations

import pytest
from job_manifests import put

ID = "LogMonitoring"
ENTRY = "spec/runPolicy/logMonitoringConfiguration/1"


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("name", ..., "no name"),
        ("name", "hang", "name 'hang' again"),
        ("logPattern", ..., "no logPattern"),
        ("logPattern", "(open", "pattern '(open': missing )"),
        ("logPattern", "no group", "a threshold for a pattern without a group"),
        ("operator", "<", "operator '<'; expected: gt, gteq, lt, lteq, eq"),
        ("operator", "LT", "operator 'LT'; did you mean lt"),
        ("operator", ..., "metricThreshold without operator"),
        ("metricThreshold", ..., "operator without metricThreshold"),
    ],
)
def test_a_rule_that_cannot_match_fails(judge, hyperpod, member, value, message):
    failures = judge(ID, put(hyperpod, f"{ENTRY}/{member}", value)).failures
    assert message in failures[0].message
    assert failures[0].severity == "error"


def test_a_rule_that_never_speaks_fails(judge, hyperpod):
    put(hyperpod, ENTRY, {"name": "loss", "logPattern": "loss nan"})
    assert "which never says anything" in judge(ID, hyperpod).failures[0].message


@pytest.mark.parametrize("value", [..., [], None])
def test_an_unwatched_log_is_worth_a_thought(judge, hyperpod, value):
    (finding,) = judge(ID, put(hyperpod, "spec/runPolicy/logMonitoringConfiguration", value)).failures
    assert finding.severity == "advice"


@pytest.mark.parametrize("member", ["logPattern", "stopPattern"])
def test_a_pattern_for_the_middle_of_a_line_is_warned_of(judge, hyperpod, member):
    (finding,) = judge(ID, put(hyperpod, f"{ENTRY}/{member}", "tokens ([0-9]+)")).failures
    assert "which only matches where a line begins so; expected: .* before it, or ^" in finding.message
    assert finding.severity == "warning"
    assert finding.path[-1] == member


@pytest.mark.parametrize("pattern", ["^tokens ([0-9]+)", r"\[tokens\] ([0-9]+)", "(.*) tokens"])
def test_a_pattern_that_says_how_lines_begin_complies(judge, hyperpod, pattern):
    assert judge(ID, put(hyperpod, f"{ENTRY}/logPattern", pattern)).outcome(ID) == "pass"


def test_a_member_in_doubt_is_undetermined(judge, hyperpod):
    put(hyperpod, ENTRY, {"name": "loss", "logPattern": ".*loss nan", "faultOnMatch": True})
    (finding,) = judge(ID, hyperpod).findings
    assert finding.outcome == "undetermined"
    assert finding.path[-1] == "faultOnMatch"


def test_kubeflow_watches_no_log(judge, kubeflow):
    assert judge(ID, kubeflow).verdicts == ()
