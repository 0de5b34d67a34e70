from __future__ import annotations

import pytest
from job_manifests import put

ID = "GracePeriod"
MEMBER = "pod:terminationGracePeriodSeconds"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (..., "no terminationGracePeriodSeconds"),
        (30, "terminationGracePeriodSeconds 30; expected: more than the usual 30 s"),
        (0, "terminationGracePeriodSeconds 0"),
        (True, "terminationGracePeriodSeconds true"),
    ],
)
def test_no_time_for_a_checkpoint_fails(judge, kubeflow, value, message):
    (finding,) = judge(ID, put(kubeflow, MEMBER, value)).failures
    assert message in finding.message


@pytest.mark.parametrize("value", [31, 120, 3600])
def test_time_for_a_checkpoint_complies(judge, hyperpod, value):
    assert judge(ID, put(hyperpod, MEMBER, value)).outcome(ID) == "pass"


def test_a_time_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, MEMBER, "${GRACE}")).outcome(ID) == "undetermined"
