"""What a namespace needs before jobs come is taken by a server."""

from __future__ import annotations

from typing import Any

import pytest
from cdk8s import App, Chart
from kubernetes_schemas import needs_crds, refusals

from hyperpod_charts import DynamicLustreVolume, LustreFileSystemReference, PlatformChart

pytestmark = needs_crds

FILE_SYSTEM = LustreFileSystemReference(
    file_system_id="fs-0123456789abcdef0",
    dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    mount_name="abcdefgh",
    storage_capacity_gib=4800,
)
ROLE = "arn:aws:iam::111122223333:role/trainer"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"create_namespace": False},
        {"service_account_name": "trainer", "role_arn": ROLE, "file_system": FILE_SYSTEM},
        {"file_system": FILE_SYSTEM, "claim_name": "shared", "pod_security": "privileged"},
    ],
    ids=str,
)
def test_a_platform_is_taken(options: dict[str, Any]):
    made = PlatformChart(App(), "Platform", namespace="hyperpod-training", **options).to_json()
    assert made
    assert {body["kind"]: found for body in made if (found := refusals(body))} == {}


@pytest.mark.parametrize("throughput", [250, None])
def test_a_file_system_that_the_driver_makes_is_taken(throughput: int | None):
    chart = Chart(App(), "Platform")
    DynamicLustreVolume(
        chart,
        "FileSystem",
        claim_name="scratch",
        namespace="hyperpod-training",
        subnet_id="subnet-0123456789abcdef0",
        security_group_ids=["sg-0123456789abcdef0"],
        storage_capacity_gib=1200,
        throughput_mbps_per_tib=throughput,
        deployment_type="PERSISTENT_2" if throughput else "SCRATCH_2",
    )
    made = chart.to_json()
    assert {body["kind"] for body in made} == {"StorageClass", "PersistentVolumeClaim"}
    assert {body["kind"]: found for body in made if (found := refusals(body))} == {}
