from __future__ import annotations

import pytest
from job_manifests import put, set_variable

ID = "MonitoredOutput"
RULES = "spec/runPolicy/logMonitoringConfiguration"
BARE = ["hyperpodrun", "--shutdown-signal=SIGTERM", "/a.py", "--tee=3"]


@pytest.mark.parametrize(
    "command",
    [
        BARE,
        ["hyperpodrun", "--tee=2", "/a.py"],
        ["hyperpodrun", "-r", "1:3", "/a.py"],
        ["hyperpodrun", "--tee=3", "--log-dir=/dev/null", "/a.py"],
        ["bash", "-c", "exec hyperpodrun /a.py"],
        ["python", "-m", "hyperpod_elastic_agent.run", "/a.py"],
    ],
    ids=" ".join,
)
def test_a_log_that_nobody_keeps_fails(judge, hyperpod, command):
    (finding,) = judge(ID, put(hyperpod, "container:command", command)).failures
    assert "expectedStartCutOffInSeconds faults a healthy job again and again" in finding.message
    assert "expected: --tee=0:1" in finding.message
    assert finding.severity == "error"
    assert finding.path[-1] == "command"


def test_without_a_start_time_the_rules_are_only_mute(judge, hyperpod):
    put(hyperpod, f"{RULES}/0/expectedStartCutOffInSeconds", ...)
    (finding,) = judge(ID, put(hyperpod, "container:command", BARE)).failures
    assert "so that no rule says anything" in finding.message


@pytest.mark.parametrize(
    "command",
    [
        ["hyperpodrun", "--tee=0:1", "/a.py"],
        ["hyperpodrun", "-t3", "/a.py"],
        ["hyperpodrun", "--redirect=3", "--tee=3", "--log_dir=/tmp/hyperpod", "/a.py"],
        ["bash", "-c", "exec hyperpodrun --tee 1 /a.py"],
        ["env", "PET_TEE=3", "hyperpodrun", "/a.py"],
    ],
    ids=" ".join,
)
def test_a_log_that_is_kept_complies(judge, hyperpod, command):
    assert judge(ID, put(hyperpod, "container:command", command)).outcome(ID) == "pass"


@pytest.mark.parametrize(("name", "value"), [("PET_TEE", "3"), ("PET_REDIRECTS", "0:1")])
def test_a_variable_keeps_it_as_well(judge, hyperpod, name, value):
    set_variable(put(hyperpod, "container:command", BARE), name, value)
    assert judge(ID, hyperpod).outcome(ID) == "pass"


def test_a_variable_that_keeps_nothing_fails(judge, hyperpod):
    set_variable(put(hyperpod, "container:command", BARE), "PET_TEE", "2")
    assert judge(ID, hyperpod).failures


@pytest.mark.parametrize(
    "command",
    [
        ["hyperpodrun", "$(AGENT_OPTIONS)", "/a.py"],
        ["hyperpodrun", "--tee=$(TEE)", "/a.py"],
        ["bash", "-c", 'exec hyperpodrun "$@"', "pod", "--tee=3", "/a.py"],
    ],
    ids=" ".join,
)
def test_options_that_are_elsewhere_are_undetermined(judge, hyperpod, command):
    report = judge(ID, put(hyperpod, "container:command", command))
    assert report.outcome(ID) == "undetermined"


def test_variables_that_are_elsewhere_are_undetermined(judge, hyperpod):
    put(hyperpod, "container:command", BARE)
    put(hyperpod, "container:envFrom", [{"configMapRef": {"name": "launcher"}}])
    assert judge(ID, hyperpod).outcome(ID) == "undetermined"


@pytest.mark.parametrize("rules", [..., [], None])
def test_a_log_without_rules_may_go_where_it_likes(judge, hyperpod, rules):
    put(hyperpod, "container:command", BARE)
    assert judge(ID, put(hyperpod, RULES, rules)).verdicts == ()


@pytest.mark.parametrize("command", [["/start.sh"], ["torchrun", "/a.py"]])
def test_other_launchers_are_left_to_their_own_rule(judge, kubeflow, hyperpod, command):
    assert judge(ID, kubeflow, put(hyperpod, "container:command", command)).verdicts == ()
