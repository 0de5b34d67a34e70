from __future__ import annotations

import pytest
from job_manifests import put

ID = "FinishedJobs"
TIME = "spec/runPolicy/ttlSecondsAfterFinished"
CLEAN = "spec/runPolicy/cleanPodPolicy"


@pytest.mark.parametrize(
    ("path", "value", "severity", "message"),
    [
        (TIME, ..., "advice", "no ttlSecondsAfterFinished: finished jobs stay until somebody deletes them"),
        (TIME, 0, "warning", "ttlSecondsAfterFinished 0: the job goes when it ends"),
        (TIME, "1d", "error", "ttlSecondsAfterFinished '1d'"),
        (TIME, -1, "error", "ttlSecondsAfterFinished -1"),
        (CLEAN, "All", "advice", "cleanPodPolicy All: logs go with the pods; expected: Running"),
        (CLEAN, "None", "advice", "cleanPodPolicy None: pods that still run"),
    ],
)
def test_a_kubeflow_job_that_goes_or_stays_too_long_fails(judge, kubeflow, path, value, severity, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message
    assert finding.severity == severity


@pytest.mark.parametrize(
    ("path", "value", "severity", "message"),
    [
        (TIME, ..., "warning", "ttlSecondsAfterFinished missing, which is 0"),
        (TIME, 0, "warning", "ttlSecondsAfterFinished 0"),
        (CLEAN, ..., "advice", "cleanPodPolicy missing, which is All"),
    ],
)
def test_a_hyperpod_job_goes_by_default(judge, hyperpod, path, value, severity, message):
    (finding,) = judge(ID, put(hyperpod, path, value)).failures
    assert message in finding.message
    assert finding.severity == severity


def test_a_hyperpod_job_may_stay_for_ever(judge, hyperpod):
    assert judge(ID, put(hyperpod, TIME, -1)).outcome(ID) == "pass"


def test_a_time_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, TIME, "${TTL}")).outcome(ID) == "undetermined"
