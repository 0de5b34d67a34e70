from __future__ import annotations

import pytest
from job_manifests import put

ID = "AgentShutdown"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no --shutdown-signal; expected: --shutdown-signal=SIGTERM"),
        (["--shutdown-signal=SIGKILL"], "--shutdown-signal SIGKILL"),
        (["--shutdown-signal=SIGTERM"], "15 s from SIGTERM to SIGKILL in a pod with a grace period of 180 s"),
        (["--shutdown-signal", "SIGTERM", "--shutdown-timeout", "180"], "180 s from SIGTERM"),
    ],
)
def test_an_agent_that_does_not_wait_fails(judge, hyperpod, options, message):
    (finding,) = judge(ID, put(hyperpod, "container:command", ["hyperpodrun", *options])).failures
    assert message in finding.message
    assert finding.severity == "warning"


@pytest.mark.parametrize("seconds", ["170", "60", "$GRACE"])
def test_an_agent_that_waits_complies(judge, hyperpod, seconds):
    command = ["hyperpodrun", "--shutdown-signal=SIGTERM", f"--shutdown-timeout={seconds}"]
    assert judge(ID, put(hyperpod, "container:command", command)).outcome(ID) == "pass"


def test_other_launchers_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, put(hyperpod, "container:command", ["bash", "a.sh"])).verdicts == ()
