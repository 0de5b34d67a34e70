from __future__ import annotations

import pytest
from job_manifests import put

ID = "RetryCap"
RETRIES = "metadata/annotations/sagemaker.amazonaws.com~job-max-retry-count"
BACKOFF = "spec/runPolicy/backoffLimit"


@pytest.mark.parametrize(
    ("path", "value", "severity", "message"),
    [
        (RETRIES, ..., "warning", "no sagemaker.amazonaws.com/job-max-retry-count"),
        (RETRIES, "many", "error", "job-max-retry-count 'many'"),
        (RETRIES, "-1", "error", "job-max-retry-count '-1'"),
        (BACKOFF, ..., "warning", "no backoffLimit; expected: backoffLimit of 1 or more"),
        (BACKOFF, 0, "warning", "backoffLimit 0: the first failure ends the job"),
        (BACKOFF, -2, "error", "backoffLimit -2"),
        (BACKOFF, True, "error", "backoffLimit true"),
    ],
)
def test_no_cap_of_retries_fails(judge, kubeflow, path, value, severity, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message
    assert finding.severity == severity


def test_without_auto_resume_its_cap_is_not_needed(judge, kubeflow):
    assert judge(ID, put(kubeflow, "metadata/annotations", ...)).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("value", "outcome"), [(..., "fail"), (0, "fail"), (5, "pass"), ("${N}", "undetermined")]
)
def test_hyperpods_operator_has_a_cap_of_its_own(judge, hyperpod, value, outcome):
    assert judge(ID, put(hyperpod, "spec/runPolicy/jobMaxRetryCount", value)).outcome(ID) == outcome


@pytest.mark.parametrize(("value", "outcome"), [(40, "pass"), ("${N}", "undetermined")])
def test_a_limit_of_restarts_that_is_there_is_no_finding(judge, kubeflow, value, outcome):
    assert judge(ID, put(kubeflow, BACKOFF, value)).outcome(ID) == outcome
