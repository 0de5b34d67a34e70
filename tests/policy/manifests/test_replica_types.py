from __future__ import annotations

import pytest
from job_manifests import master_job, put, replicas_of

ID = "ReplicaTypes"
SPECS = "spec/pytorchReplicaSpecs"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            f"{SPECS}/worker",
            {"replicas": 1},
            "replica type 'worker'; did you mean Worker; expected: Master, Worker",
        ),
        (f"{SPECS}/Launcher", {"replicas": 1}, "replica type 'Launcher'"),
        (SPECS, {}, "no replicas"),
        (SPECS, ..., "no replicas"),
        ("replicas:replicas", 0, "0 replicas"),
        ("replicas:replicas", "three", "'three' replicas"),
        ("replicas:replicas", "3", "'3' replicas"),
        ("replicas:replicas", True, "true replicas"),
        (f"{SPECS}/Master", {"replicas": 2}, "2 masters; expected: 1"),
    ],
)
def test_replicas_that_the_operator_does_not_start_fail(judge, kubeflow, path, value, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message


@pytest.mark.parametrize("name", ["", "pods"])
def test_replicas_need_names_of_their_own(judge, hyperpod, name):
    hyperpod["spec"]["replicaSpecs"].append({**replicas_of(hyperpod), "name": name})
    failures = judge(ID, hyperpod).failures
    assert failures[-1].path == ("spec", "replicaSpecs", 1, "name")
    assert f"name '{name}'" in failures[-1].message


def test_a_count_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, "replicas:replicas", "${NODES}")).outcome(ID) == "undetermined"


def test_a_master_with_workers_complies(judge):
    assert judge(ID, master_job()).outcome(ID) == "pass"


def test_one_replica_is_the_default(judge, kubeflow):
    assert judge(ID, put(kubeflow, "replicas:replicas", ...)).outcome(ID) == "pass"


def test_more_replicas_than_the_type_holds_fail(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "replicas:replicas", 2**31)).failures
    assert "2147483648 replicas; expected: a whole number" in finding.message
