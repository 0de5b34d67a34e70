"""Namespace, service account, volumes, claims, classes, budgets and queue labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from charted import NUMBER_TOKEN, TOKEN, object_of, objects_of
from constructs import Construct

from hyperpod_charts import (
    DynamicLustreVolume,
    LustreVolume,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    ServiceAccount,
    StorageClass,
    member_labels,
    queue_labels,
    team_namespace,
)
from hyperpod_model.faults import InvalidInputError

ROLE = "arn:aws:iam::111122223333:role/trainer"
FILE_SYSTEM = {
    "file_system_id": "fs-0123456789abcdef0",
    "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mount_name": "abcdefgh",
    "storage_capacity_gib": 4800,
}
NEW_FILE_SYSTEM = {
    "subnet_id": "subnet-0123456789abcdef0",
    "security_group_ids": ["sg-0123456789abcdef0", "sg-0123456789abcdef1"],
    "storage_capacity_gib": 4800,
    "throughput_mbps_per_tib": 250,
}


def maker(construct: Callable[..., Any], **base: Any) -> Callable[..., Callable[[Construct], Any]]:
    def make(**changes: Any) -> Callable[[Construct], Any]:
        return lambda chart: construct(chart, "Made", **(base | changes))

    return make


namespace = maker(Namespace, name="training")
service_account = maker(ServiceAccount, name="trainer", namespace="training")
budget = maker(
    PodDisruptionBudget,
    name="llama",
    namespace="training",
    pod_labels=member_labels("llama"),
    min_available=2,
)
volume = maker(
    PersistentVolume,
    name="data",
    driver="fsx.csi.aws.com",
    volume_handle="fs-1",
    volume_attributes={"a": "b"},
    capacity_gib=1200,
)
claim = maker(
    PersistentVolumeClaim, name="data", namespace="training", storage_gib=1200, storage_class_name=""
)
storage_class = maker(StorageClass, name="lustre", provisioner="fsx.csi.aws.com", parameters={"a": "b"})
lustre = maker(LustreVolume, claim_name="fsx", namespace="training", **FILE_SYSTEM)
dynamic = maker(DynamicLustreVolume, claim_name="scratch", namespace="training", **NEW_FILE_SYSTEM)


def test_a_namespace_lets_pods_have_no_rights_on_nodes():
    made = object_of(namespace(labels={"team": "a"}))
    assert (made["apiVersion"], made["kind"]) == ("v1", "Namespace")
    assert made["metadata"] == {
        "name": "training",
        "labels": {"team": "a", "pod-security.kubernetes.io/enforce": "baseline"},
    }


def test_a_namespace_is_loosened_by_name():
    made = object_of(namespace(pod_security="privileged"))
    assert made["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


def test_a_service_account_gets_no_token_for_kubernetes():
    made = object_of(service_account())
    assert (made["apiVersion"], made["kind"]) == ("v1", "ServiceAccount")
    assert made["automountServiceAccountToken"] is False
    assert made["metadata"] == {"name": "trainer", "namespace": "training"}


def test_a_service_account_with_a_token():
    made = object_of(service_account(automount_service_account_token=True))
    assert made["automountServiceAccountToken"] is True


@pytest.mark.parametrize("role", [ROLE, f"arn:aws:iam::{TOKEN}:role/trainer"])
def test_a_service_account_has_its_role_as_an_annotation(role: str):
    made = object_of(service_account(role_arn=role, annotations={"note": "x"}))
    assert made["metadata"]["annotations"] == {"note": "x", "eks.amazonaws.com/role-arn": role}


def test_a_budget_counts_pods_that_stay():
    made = object_of(budget())
    assert (made["apiVersion"], made["kind"]) == ("policy/v1", "PodDisruptionBudget")
    assert made["spec"] == {"minAvailable": 2, "selector": {"matchLabels": member_labels("llama")}}


def test_a_volume_is_never_deleted_and_of_no_class():
    made = object_of(volume(mount_options=["flock"], claim_name="data", claim_namespace="training"))
    assert (made["apiVersion"], made["kind"]) == ("v1", "PersistentVolume")
    assert made["metadata"] == {"name": "data"}
    assert made["spec"] == {
        "capacity": {"storage": "1200Gi"},
        "volumeMode": "Filesystem",
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "mountOptions": ["flock"],
        "claimRef": {"namespace": "training", "name": "data"},
        "csi": {
            "driver": "fsx.csi.aws.com",
            "volumeHandle": "fs-1",
            "volumeAttributes": {"a": "b"},
        },
    }


def test_a_volume_for_any_claim():
    assert "claimRef" not in object_of(volume())["spec"]


def test_a_claim_of_no_class_says_so():
    """Left out, the cluster's default class would make a disk."""
    made = object_of(claim(volume_name="data"))
    assert (made["apiVersion"], made["kind"]) == ("v1", "PersistentVolumeClaim")
    assert made["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "volumeName": "data",
        "resources": {"requests": {"storage": "1200Gi"}},
    }


def test_a_class_keeps_volumes():
    made = object_of(storage_class(mount_options=["flock"]))
    assert (made["apiVersion"], made["kind"]) == ("storage.k8s.io/v1", "StorageClass")
    assert (made["provisioner"], made["parameters"]) == ("fsx.csi.aws.com", {"a": "b"})
    assert (made["mountOptions"], made["reclaimPolicy"]) == (["flock"], "Retain")


def test_a_class_that_deletes_volumes_says_so():
    assert object_of(storage_class(reclaim_policy="Delete"))["reclaimPolicy"] == "Delete"


def test_a_file_system_that_exists():
    made = {found["kind"]: found for found in objects_of(lustre())}
    assert made.keys() == {"PersistentVolume", "PersistentVolumeClaim"}
    assert made["PersistentVolume"]["spec"]["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": "fs-0123456789abcdef0",
        "volumeAttributes": {
            "dnsname": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
            "mountname": "abcdefgh",
        },
    }
    assert made["PersistentVolume"]["spec"]["mountOptions"] == ["flock"]


def test_volume_and_claim_name_each_other():
    made = {found["kind"]: found for found in objects_of(lustre())}
    claimed, bound = made["PersistentVolumeClaim"], made["PersistentVolume"]
    assert claimed["spec"]["volumeName"] == bound["metadata"]["name"] == "training-fsx"
    assert bound["spec"]["claimRef"] == {"namespace": "training", "name": "fsx"}
    assert claimed["metadata"] == {"name": "fsx", "namespace": "training"}


def test_a_file_system_can_grow():
    """Kubernetes refuses another size for the claim, and takes one for the volume."""
    small, large = (
        {found["kind"]: found for found in objects_of(lustre(storage_capacity_gib=size))}
        for size in (1200, 4800)
    )
    assert small["PersistentVolumeClaim"] == large["PersistentVolumeClaim"]
    assert large["PersistentVolume"]["spec"]["capacity"] == {"storage": "4800Gi"}


def test_two_namespaces_share_a_file_system():
    names = {
        found["metadata"]["name"]
        for namespace in ("a", "b")
        for found in objects_of(lustre(namespace=namespace))
        if found["kind"] == "PersistentVolume"
    }
    assert names == {"a-fsx", "b-fsx"}


def test_a_file_system_that_the_same_deployment_makes():
    made = objects_of(
        lustre(file_system_id=TOKEN, dns_name=f"{TOKEN}.fsx.us-west-2.amazonaws.com", mount_name=TOKEN)
    )
    assert made[0]["spec"]["csi"]["volumeHandle"] == TOKEN


def test_a_file_system_that_is_made_for_a_claim():
    made = {found["kind"]: found for found in objects_of(dynamic(backup_retention_days=7, kms_key_id="k"))}
    assert made["StorageClass"]["parameters"] == {
        "subnetId": "subnet-0123456789abcdef0",
        "securityGroupIds": "sg-0123456789abcdef0,sg-0123456789abcdef1",
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": "250",
        "dataCompressionType": "LZ4",
        "automaticBackupRetentionDays": "7",
        "kmsKeyId": "k",
        "fileSystemTypeVersion": "2.15",
    }
    assert made["StorageClass"]["metadata"] == {"name": "training-scratch"}
    assert made["PersistentVolumeClaim"]["spec"]["storageClassName"] == "training-scratch"


def test_a_scratch_file_system_has_neither_throughput_nor_backups():
    made = objects_of(
        dynamic(deployment_type="SCRATCH_2", throughput_mbps_per_tib=None, reclaim_policy="Delete")
    )
    (found,) = (made for made in made if made["kind"] == "StorageClass")
    assert found["reclaimPolicy"] == "Delete"
    assert not found["parameters"].keys() & {"perUnitStorageThroughput", "automaticBackupRetentionDays"}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (namespace(name="Training"), "Namespace 'Training': name: must be .* got 'Training'"),
        (namespace(pod_security="strict"), "pod_security: must be one of privileged, .* got 'strict'"),
        (service_account(name="Trainer"), "ServiceAccount 'Trainer': name: must be"),
        (service_account(role_arn="trainer"), "role_arn: must be the ARN of a role, got 'trainer'"),
        (budget(pod_labels={}), "pod_labels: is empty"),
        (budget(min_available=0), "min_available: .* at least 1, got 0"),
        (volume(capacity_gib=0), "capacity_gib: .* at least 1, got 0"),
        (volume(capacity_gib=NUMBER_TOKEN), "capacity_gib: must be known before deployment, got a token"),
        (volume(claim_name="A"), "claim_name: must be .* got 'A'"),
        (claim(storage_gib=0), "storage_gib: .* at least 1, got 0"),
        (claim(storage_class_name="A"), "storage_class_name: must be .* got 'A'"),
        (claim(volume_name="A"), "volume_name: must be .* got 'A'"),
        (storage_class(reclaim_policy="Keep"), "reclaim_policy: must be one of Retain, Delete, got 'Keep'"),
        (lustre(dns_name="fsx"), "dns_name: must be fs-<id>.fsx.<region>.<suffix>, got 'fsx'"),
        (
            lustre(file_system_id="fs-0123456789abcdef1"),
            "dns_name: must be that of the file system 'fs-0123456789abcdef1', got 'fs-0123456789abcdef0.",
        ),
        (lustre(mount_name="a b"), "mount_name: must be up to 8 letters"),
        (lustre(namespace="A"), "namespace: must be .* got 'A'"),
        (dynamic(subnet_id="subnet"), "subnet_id: must be .* got 'subnet'"),
        (dynamic(security_group_ids=[]), r"security_group_ids: must be a list of one or more, got \[\]"),
        (dynamic(security_group_ids="sg-0123456789abcdef0"), "security_group_ids: must be a list"),
        (dynamic(security_group_ids=["sg"]), r"security_group_ids\[0\]: must be .* got 'sg'"),
        (dynamic(storage_capacity_gib=1000), "storage_capacity_gib: must be 1200 or a multiple of 2400"),
        (dynamic(throughput_mbps_per_tib=None), "throughput_mbps_per_tib: must be one of 125"),
    ],
)
def test_what_is_wrong_is_refused(build: Callable[[Construct], Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        objects_of(build)


def test_queue_labels():
    assert queue_labels(team="research") == {"kueue.x-k8s.io/queue-name": "hyperpod-ns-research-localqueue"}
    assert queue_labels(team="research", priority_class="training") == {
        "kueue.x-k8s.io/queue-name": "hyperpod-ns-research-localqueue",
        "kueue.x-k8s.io/priority-class": "training-priority",
    }
    assert team_namespace("research") == "hyperpod-ns-research"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"team": None}, "queue labels: team: is required, got None"),
        ({"team": "Research"}, "queue labels: team: must be .* got 'Research'"),
        ({"team": "a", "priority_class": "b c"}, "priority_class: must be .* got 'b c'"),
    ],
)
def test_wrong_queue_labels_are_refused(names: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        queue_labels(**names)
