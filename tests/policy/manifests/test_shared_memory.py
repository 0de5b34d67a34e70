from __future__ import annotations

import pytest
from job_manifests import put, set_resource

ID = "SharedMemory"
VOLUME = "pod:volumes/0"


@pytest.mark.parametrize(
    ("path", "value", "severity", "message"),
    [
        ("container:volumeMounts/0", ..., "error", "nothing at /dev/shm, which leaves 64 MiB"),
        (f"{VOLUME}/emptyDir/medium", ..., "error", "medium '', which is the node's disk"),
        (f"{VOLUME}/emptyDir/medium", "memory", "error", "medium 'memory', which is the node's disk"),
        (f"{VOLUME}/emptyDir/sizeLimit", ..., "warning", "no sizeLimit"),
        (f"{VOLUME}/emptyDir/sizeLimit", "lots", "error", "sizeLimit 'lots'; expected: a quantity"),
        (
            f"{VOLUME}/emptyDir/sizeLimit",
            "1400Gi",
            "error",
            "1400Gi of shared memory within '1400Gi' of memory",
        ),
        (
            VOLUME,
            {"name": "shared-memory", "persistentVolumeClaim": {}},
            "error",
            "a volume that is no emptyDir",
        ),
        (
            VOLUME,
            {"name": "shared-memory", "hostPath": {"path": "/dev/shm"}},
            "warning",
            "the node's own shared memory",
        ),
    ],
)
def test_shared_memory_that_does_not_do_fails(judge, kubeflow, path, value, severity, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message
    assert finding.severity == severity


def test_a_size_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, f"{VOLUME}/emptyDir/sizeLimit", "${SHM}")).outcome(ID) == "undetermined"


def test_a_pod_with_the_hosts_shared_memory_is_another_rules_matter(judge, kubeflow):
    put(put(kubeflow, "container:volumeMounts/0", ...), "pod:hostIPC", True)
    assert judge(ID, kubeflow).verdicts == ()


def test_pods_without_accelerators_need_none(judge, kubeflow):
    set_resource(kubeflow, "nvidia.com/gpu", None)
    assert judge(ID, put(kubeflow, "container:volumeMounts/0", ...)).verdicts == ()


def test_shared_memory_that_cannot_be_written_fails(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "container:volumeMounts/0/readOnly", True)).failures
    assert "/dev/shm mounted read-only" in finding.message
