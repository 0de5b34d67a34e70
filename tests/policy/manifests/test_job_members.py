from __future__ import annotations

import pytest
from job_manifests import put

ID = "JobMembers"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "spec/pytorchReplicaSpec",
            "pytorchReplicaSpec, which nobody reads; did you mean pytorchReplicaSpecs",
        ),
        ("spec/runPolicy/backOffLimits", "did you mean backoffLimit"),
        ("spec/runPolicy/restartPolicy", "restartPolicy, which nobody reads"),
        ("spec/elasticPolicy/rdzvID", "did you mean rdzvId"),
        ("replicas:spares", "spares, which nobody reads"),
        ("pod:nodeselector", "did you mean nodeSelector"),
        ("container:volumeMount", "did you mean volumeMounts"),
    ],
)
def test_a_member_that_nobody_reads_fails(judge, kubeflow, path, message):
    (finding,) = judge(ID, put(kubeflow, path, 5)).failures
    assert message in finding.message
    assert finding.path[-1] == path.replace(":", "/").split("/")[-1]
    assert finding.severity == "error"


@pytest.mark.parametrize(
    "path",
    [
        "spec/runPolicy/backoffLimit",
        "spec/runPolicy/restartPolicy/evalPeriod",
        "spec/runPolicy/logMonitoringConfiguration/0/pattern",
        "spec/elasticPolicy/rdzvId",
        "replicas:restartPolicy",
    ],
)
def test_members_of_the_other_operator_fail(judge, hyperpod, path):
    assert judge(ID, put(hyperpod, path, "x")).outcome(ID) == "fail"


def test_what_a_newer_kubernetes_may_read_is_a_warning(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "pod:quantumEntanglement", True)).failures
    assert finding.severity == "warning"


def test_known_members_comply(judge, kubeflow, hyperpod):
    put(kubeflow, "spec/runPolicy/schedulingPolicy", {"queue": "a"})
    put(hyperpod, "spec/runPolicy/suspend", True)
    assert judge(ID, kubeflow, hyperpod).findings == ()
