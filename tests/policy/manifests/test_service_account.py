from __future__ import annotations

import pytest
from job_manifests import put, set_variable, tiered_job

ID = "JobServiceAccount"
MEMBER = "pod:serviceAccountName"


@pytest.mark.parametrize("value", ["default", "", ...])
def test_anybodys_account_fails(judge, value):
    (finding,) = judge(ID, put(tiered_job(), MEMBER, value)).failures
    assert "service account default in a job that names a bucket" in finding.message


def test_the_memory_tier_writes_to_s3_too(judge):
    body = put(tiered_job(), MEMBER, ...)
    set_variable(body, "CHECKPOINTS", None)
    assert "in a job that writes to the memory tier" in judge(ID, body).failures[0].message


@pytest.mark.parametrize("member", ["serviceAccountName", "serviceAccount"])
def test_an_account_of_its_own_complies(judge, member):
    body = put(put(tiered_job(), MEMBER, ...), f"pod:{member}", "trainer")
    assert judge(ID, body).outcome(ID) == "pass"


def test_an_account_that_is_filled_in_later_is_undetermined(judge):
    assert judge(ID, put(tiered_job(), MEMBER, "${ACCOUNT}")).outcome(ID) == "undetermined"


def test_a_job_without_a_bucket_may_have_any(judge, kubeflow):
    assert judge(ID, put(kubeflow, MEMBER, ...)).verdicts == ()


def test_a_bucket_that_an_init_container_names_counts(judge, kubeflow):
    put(kubeflow, "pod:serviceAccountName", ...)
    init = {"name": "fetch", "image": "a.b/c:1", "command": ["aws", "s3", "sync", "s3://data/x", "/data"]}
    (finding,) = judge(ID, put(kubeflow, "pod:initContainers", [init])).failures
    assert "service account default in a job that names a bucket" in finding.message
