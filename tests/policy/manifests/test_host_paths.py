from __future__ import annotations

import pytest
from job_manifests import put

ID = "HostPaths"


def _with(body, path):
    return put(body, "pod:volumes/2", {"name": "node", "hostPath": {"path": path}})


@pytest.mark.parametrize(
    ("path", "severity", "message"),
    [
        ("/", "error", "volume 'node' is '/' of the node"),
        ("/etc/", "error", "'/etc/' of the node"),
        ("/run/containerd/containerd.sock", "error", "containerd.sock' of the node"),
        ("//etc", "error", "'//etc' of the node"),
        ("/opt/../etc/", "error", "of the node"),
        ("/tmp/..", "error", "of the node"),
        ("/" + "root/.ssh", "error", "of the node"),
        ("/etc/kubernetes/pki", "error", "of the node"),
        ("/var/lib/kubelet/pods", "error", "of the node"),
        ("/var/log", "error", "of the node"),
        ("/proc/1/root", "error", "of the node"),
        ("/usr/local/bin", "error", "of the node"),
        ("/dev", "error", "of the node"),
        ("/opt/cni/bin", "error", "of the node"),
        ("/dev/infiniband", "advice", "of the node"),
        ("/mnt/k8s-disks/0", "advice", "of the node"),
        ("/variety", "advice", "of the node"),
        ("/opt/dlami/nvme", "advice", "'/opt/dlami/nvme' of the node"),
        ("/var/log/sagemaker_checkpointing", "advice", "expected: /var/logs/sagemaker_checkpointing"),
        (None, "advice", "is None of the node"),
    ],
)
def test_a_directory_of_the_node_fails(judge, kubeflow, path, severity, message):
    (finding,) = judge(ID, _with(kubeflow, path)).failures
    assert message in finding.message
    assert finding.severity == severity


@pytest.mark.parametrize("path", ["/var/logs/sagemaker_checkpointing", "/dev/shm"])
def test_what_is_made_for_pods_complies(judge, kubeflow, path):
    assert judge(ID, _with(kubeflow, path)).outcome(ID) == "pass"


def test_a_directory_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, _with(kubeflow, "${SCRATCH}")).outcome(ID) == "undetermined"
