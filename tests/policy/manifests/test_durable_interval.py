from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, container_of, hyperpod_job, set_variable, tiered_job

ID = "DurableInterval"
NAME = "CHECKPOINT_S3_INTERVAL_STEPS"


@pytest.mark.parametrize(
    ("made", "message"),
    [(tiered_job, "writes to the memory tier"), (checkpointless_job, "recovers from peers")],
)
def test_a_job_without_interval_in_sight_is_undetermined(judge, made, message):
    body = made()
    set_variable(body, NAME, None)
    (finding,) = judge(ID, body).findings
    assert finding.outcome == "undetermined"
    assert message in finding.message


@pytest.mark.parametrize("value", ["0", "-1"])
def test_an_interval_that_is_none_fails(judge, value):
    body = tiered_job()
    set_variable(body, NAME, value)
    assert judge(ID, body).outcome(ID) == "fail"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--s3-interval", "200"],
        ["--s3_checkpoint_every=200"],
        ["--durable-interval-steps=200"],
        ["--s3-ckpt-freq", "200"],
    ],
)
def test_an_option_counts(judge, arguments):
    body = tiered_job()
    set_variable(body, NAME, None)
    container_of(body)["args"] += arguments
    assert judge(ID, body).outcome(ID) == "pass"


def test_writing_to_s3_switched_off_fails(judge):
    body = tiered_job()
    container_of(body)["args"].append("--save_to_s3=False")
    (finding,) = judge(ID, body).failures
    assert "no durable checkpoints in a job that writes to the memory tier" in finding.message


def test_an_interval_that_is_no_number_is_undetermined(judge):
    body = tiered_job()
    set_variable(body, NAME, "$(STEPS)")
    assert judge(ID, body).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENDPOINT", "http://ai-toolkit-gossip-headless.aws-hyperpod.svc.cluster.local:9200"),
        ("MODULE", "amzn_sagemaker_checkpointing"),
    ],
)
def test_what_shows_the_memory_tier_is_seen(judge, name, value):
    body = hyperpod_job()
    set_variable(body, name, value)
    assert judge(ID, body).outcome(ID) == "undetermined"


def test_a_mount_of_the_tiers_logs_shows_it(judge):
    body = hyperpod_job()
    container_of(body)["volumeMounts"].append(
        {"name": "lustre", "mountPath": "/var/log/sagemaker_checkpointing"}
    )
    assert judge(ID, body).outcome(ID) == "undetermined"


def test_other_jobs_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, hyperpod).verdicts == ()
