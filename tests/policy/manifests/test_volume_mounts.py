from __future__ import annotations

import pytest
from job_manifests import put

ID = "VolumeMounts"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("container:volumeMounts/1/name", "lustres", "mounts volume 'lustres'; did you mean lustre"),
        ("pod:volumes", ..., "a volume of the pod, which has none"),
        ("container:volumeMounts/1/mountPath", "lustre", "mount path 'lustre'; expected: an absolute path"),
        ("container:volumeMounts/1/mountPath", ..., "mount path None"),
        ("pod:volumes/1/persistentVolumeClaim", {"claimName": ""}, "a claim without name"),
    ],
)
def test_a_mount_of_nothing_fails(judge, kubeflow, path, value, message):
    assert message in judge(ID, put(kubeflow, path, value)).failures[0].message


def test_init_containers_count(judge, kubeflow):
    put(kubeflow, "pod:initContainers", [{"name": "a", "volumeMounts": [{"name": "x", "mountPath": "/x"}]}])
    (finding,) = judge(ID, kubeflow).failures
    assert finding.path[-4:] == (0, "volumeMounts", 0, "name")


def test_a_name_that_is_filled_in_later_complies(judge, kubeflow):
    assert judge(ID, put(kubeflow, "container:volumeMounts/1/name", "${CLAIM}")).outcome(ID) == "pass"
