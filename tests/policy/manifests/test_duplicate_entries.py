from __future__ import annotations

import pytest
from job_manifests import container_of, pod_spec, put

ID = "DuplicateEntries"


@pytest.mark.parametrize(
    ("path", "entry", "message"),
    [
        (
            "container:env/3",
            {"name": "FI_PROVIDER", "value": "tcp"},
            "variable 'FI_PROVIDER' again, first at position 0",
        ),
        (
            "container:volumeMounts/2",
            {"name": "lustre", "mountPath": "/dev/shm"},
            "mount at '/dev/shm' again",
        ),
        ("pod:volumes/2", {"name": "lustre", "emptyDir": {}}, "volume 'lustre' again"),
        ("pod:containers/1", {"name": "pytorch"}, "container 'pytorch' again"),
    ],
)
def test_an_entry_twice_fails(judge, kubeflow, path, entry, message):
    (finding,) = judge(ID, put(kubeflow, path, entry)).failures
    assert message in finding.message


@pytest.mark.parametrize(
    ("ports", "count"),
    [
        ([{"containerPort": 8080}, {"containerPort": 8080, "protocol": "TCP"}], 1),
        ([{"containerPort": 8080}, {"containerPort": 8080, "protocol": "UDP"}], 0),
        ([{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}], 1),
        ([{"containerPort": 80}, {"containerPort": 81}, {}], 0),
    ],
)
def test_ports_are_told_apart_by_number_and_protocol(judge, kubeflow, ports, count):
    assert len(judge(ID, put(kubeflow, "container:ports", ports)).failures) == count


def test_two_containers_may_have_the_same_variables(judge, kubeflow):
    pod_spec(kubeflow)["containers"].append({**container_of(kubeflow), "name": "second"})
    assert judge(ID, kubeflow).outcome(ID) == "pass"
