"""A job may hold values that exist only at deployment, where nothing else follows from them."""

from __future__ import annotations

from typing import Any

import pytest
from plain_jobs import SPOTLESS
from pydantic import ValidationError

from hyperpod_model.job_spec import JobSpec

TOKEN = "${Token[TOKEN.42]}"


@pytest.mark.parametrize(
    "change",
    [
        {"image": TOKEN},
        {"image": f"{TOKEN}.dkr.ecr.us-west-2.amazonaws.com/train:1.0.0"},
        {"service_account": TOKEN},
        {"script_args": ["--bucket", TOKEN]},
        {"script": None, "command": ["torchrun", "/a.py", f"--bucket={TOKEN}"]},
        {"environment": {"BUCKET": TOKEN}},
        {"checkpoint": {"s3_uri": f"s3://{TOKEN}/a", "s3_interval_steps": 10}},
        {"persistent_volume_claims": [{"claim_name": TOKEN, "mount_path": "/fsx"}]},
        {"labels": {"stack": TOKEN}},
        {"node_selector": {"pool": TOKEN}},
    ],
)
def test_a_token_passes_and_stays(change: dict[str, Any]):
    job = JobSpec.model_validate(SPOTLESS | change)
    assert TOKEN in job.model_dump_json()
    assert not [fault for fault in job.faults() if fault.severity == "error"]


@pytest.mark.parametrize("field", ["name", "namespace", "team", "instance_type"])
def test_what_others_follow_from_must_be_known(field: str):
    with pytest.raises(ValidationError, match=rf"{field}: must be .* got '\$\{{Token"):
        JobSpec.model_validate(SPOTLESS | {field: TOKEN})


def test_a_token_beside_a_fault_hides_it_not():
    with pytest.raises(ValidationError, match="service_account: must be"):
        JobSpec.model_validate(SPOTLESS | {"image": TOKEN, "service_account": "Trainer"})
