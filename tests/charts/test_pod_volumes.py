"""Volumes and mounts of training pods."""

from __future__ import annotations

import pytest
from charted import training_pod

from hyperpod_charts import ClaimVolume, NodeFolderVolume, SharedMemoryVolume
from hyperpod_charts.pod_volumes import volumes_and_mounts
from hyperpod_model.faults import InvalidInputError


def test_a_claim_is_mounted():
    volumes, mounts = volumes_and_mounts([ClaimVolume(claim_name="fsx", mount_path="/fsx")])
    assert volumes == [{"name": "fsx", "persistentVolumeClaim": {"claimName": "fsx"}}]
    assert mounts == [{"name": "fsx", "mountPath": "/fsx"}]


def test_a_claim_is_read_only_in_volume_and_mount():
    volumes, mounts = volumes_and_mounts([ClaimVolume(claim_name="data", mount_path="/d", read_only=True)])
    assert volumes[0]["persistentVolumeClaim"] == {"claimName": "data", "readOnly": True}
    assert mounts == [{"name": "data", "mountPath": "/d", "readOnly": True}]


def test_shared_memory_is_memory_with_a_limit():
    volumes, mounts = volumes_and_mounts([SharedMemoryVolume(size="64Gi", mount_path="/dev/shm")])
    assert volumes == [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]
    assert mounts == [{"name": "dshm", "mountPath": "/dev/shm"}]


def test_a_folder_of_the_node_is_made_where_it_is_missing():
    volumes, mounts = volumes_and_mounts(
        [NodeFolderVolume(path="/var/logs/tier", mount_path="/var/log/tier")]
    )
    assert volumes == [
        {"name": "node-var-logs-tier", "hostPath": {"path": "/var/logs/tier", "type": "DirectoryOrCreate"}}
    ]
    assert mounts == [{"name": "node-var-logs-tier", "mountPath": "/var/log/tier"}]


def test_a_claim_in_two_places_is_one_volume():
    volumes, mounts = volumes_and_mounts(
        [ClaimVolume(claim_name="fsx", mount_path="/fsx"), ClaimVolume(claim_name="fsx", mount_path="/data")]
    )
    assert [volume["name"] for volume in volumes] == ["fsx"]
    assert [(mount["name"], mount["mountPath"]) for mount in mounts] == [("fsx", "/fsx"), ("fsx", "/data")]


@pytest.mark.parametrize(
    ("claims", "names"),
    [
        (["team.data"], ["team-data"]),
        (["dshm"], ["dshm-2"]),
        (["team.data", "team-data"], ["team-data", "team-data-2"]),
        (["a" * 49 + ".b" * 20], ["a" * 49]),
    ],
)
def test_names_of_volumes_are_labels_and_never_the_same(claims: list[str], names: list[str]):
    """A claim may have dots and 253 characters, a volume in a pod neither."""
    shared = SharedMemoryVolume(size="1Gi", mount_path="/dev/shm")
    mounted = [ClaimVolume(claim_name=claim, mount_path=f"/{i}") for i, claim in enumerate(claims)]
    volumes, mounts = volumes_and_mounts([shared, *mounted])
    assert [volume["name"] for volume in volumes] == ["dshm", *names]
    assert [mount["name"] for mount in mounts] == ["dshm", *names]


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        (ClaimVolume(claim_name="FSx", mount_path="/fsx"), r"volumes\[0\].claim_name: must be .* got 'FSx'"),
        (
            ClaimVolume(claim_name="fsx", mount_path="fsx"),
            r"volumes\[0\].mount_path: must be an absolute path",
        ),
        (
            ClaimVolume(claim_name="fsx", mount_path="/a/../b"),
            r"volumes\[0\].mount_path: must be an absolute",
        ),
        (NodeFolderVolume(path="logs", mount_path="/logs"), r"volumes\[0\].path: must be an absolute path"),
        (
            ClaimVolume(claim_name="fsx", mount_path="/dev/shm"),
            r"volumes\[0\].mount_path: '/dev/shm' is taken by shared_memory",
        ),
    ],
)
def test_a_wrong_volume_is_refused(volume: ClaimVolume, message: str):
    with pytest.raises(InvalidInputError, match=message):
        training_pod(volumes=[volume], shared_memory="1Gi")


def test_two_volumes_in_one_place_are_refused():
    volumes = [ClaimVolume(claim_name="a", mount_path="/a"), ClaimVolume(claim_name="b", mount_path="/a")]
    with pytest.raises(InvalidInputError, match=r"volumes\[1\].mount_path: '/a' is taken by volumes\[0\]"):
        training_pod(volumes=volumes)


def test_dev_shm_is_free_without_shared_memory():
    pod = training_pod(volumes=[ClaimVolume(claim_name="fsx", mount_path="/dev/shm")])
    assert len(pod.template(labels={})["spec"]["volumes"]) == 1
