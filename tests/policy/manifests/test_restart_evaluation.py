from __future__ import annotations

import pytest
from job_manifests import put

ID = "RestartEvaluation"
POLICY = "spec/runPolicy/restartPolicy"


@pytest.mark.parametrize(
    ("path", "value", "severity", "message"),
    [
        (POLICY, ..., "warning", "no restartPolicy; expected: a restartPolicy with evalPeriodSeconds"),
        (f"{POLICY}/evalPeriodSeconds", ..., "error", "no evalPeriodSeconds"),
        (
            f"{POLICY}/evalPeriodSeconds",
            0,
            "error",
            "evalPeriodSeconds 0; expected: a whole number, 1 or more",
        ),
        (f"{POLICY}/evalPeriodSeconds", "1h", "error", "evalPeriodSeconds '1h'"),
        (f"{POLICY}/maxFullJobRestarts", -1, "error", "maxFullJobRestarts -1"),
    ],
)
def test_restarts_without_period_fail(judge, hyperpod, path, value, severity, message):
    (finding,) = judge(ID, put(hyperpod, path, value)).failures
    assert message in finding.message
    assert finding.severity == severity


def test_limits_are_not_required(judge, hyperpod):
    assert judge(ID, put(hyperpod, POLICY, {"evalPeriodSeconds": 60})).outcome(ID) == "pass"


def test_a_period_that_is_filled_in_later_is_undetermined(judge, hyperpod):
    assert judge(ID, put(hyperpod, f"{POLICY}/evalPeriodSeconds", "${N}")).outcome(ID) == "undetermined"


def test_kubeflow_has_no_such_policy(judge, kubeflow):
    assert judge(ID, kubeflow).verdicts == ()
