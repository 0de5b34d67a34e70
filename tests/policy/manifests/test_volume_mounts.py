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


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"subPath": "../other"}, "subPath '../other'; expected: a path within the volume"),
        ({"subPath": "/team"}, "subPath '/team'"),
        ({"subPathExpr": "a/../$(B)"}, "subPathExpr"),
        ({"subPath": "a", "subPathExpr": "$(B)"}, "subPath and subPathExpr; expected: one of the two"),
    ],
)
def test_a_part_that_the_server_refuses_fails(judge, kubeflow, part, message):
    mount = {"name": "lustre", "mountPath": "/lustre", **part}
    (finding,) = judge(ID, put(kubeflow, "container:volumeMounts/1", mount)).failures
    assert message in finding.message


@pytest.mark.parametrize("part", [{"subPath": "a/b..c"}, {"subPathExpr": "$(B)/x"}, {"subPath": ""}])
def test_a_part_of_a_volume_complies(judge, kubeflow, part):
    mount = {"name": "lustre", "mountPath": "/lustre", **part}
    assert judge(ID, put(kubeflow, "container:volumeMounts/1", mount)).outcome(ID) == "pass"
