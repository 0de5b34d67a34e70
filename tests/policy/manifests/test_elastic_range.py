from __future__ import annotations

import pytest
from job_manifests import elastic_hyperpod_job, put

ID = "ElasticRange"
POLICY = "spec/elasticPolicy"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("minReplicas", 5, "minReplicas 5 over maxReplicas 3"),
        ("minReplicas", 0, "minReplicas 0; expected: a whole number, 1 or more"),
        ("maxReplicas", "3", "maxReplicas '3'"),
        ("maxReplicas", ..., "one of minReplicas and maxReplicas"),
    ],
)
def test_an_impossible_range_fails(judge, kubeflow, path, value, message):
    assert message in judge(ID, put(kubeflow, f"{POLICY}/{path}", value)).failures[0].message


@pytest.mark.parametrize("count", [2, 4])
def test_replicas_outside_the_range_fail(judge, kubeflow, count):
    (finding,) = judge(ID, put(kubeflow, "replicas:replicas", count)).failures
    assert f"{count} replicas; expected: from minReplicas 3 to maxReplicas 3" in finding.message


@pytest.mark.parametrize(
    ("path", "value", "severity", "message"),
    [
        ("replicaDiscreteValues", [2, 4], "error", "both of replicaIncrementStep and replicaDiscreteValues"),
        ("replicaIncrementStep", ..., "error", "neither of"),
        ("replicaIncrementStep", 3, "warning", "steps of 3 from 2, which never come to 6"),
        ("replicaIncrementStep", 0, "error", "steps of 0"),
        ("maxReplicas", ..., "error", "maxReplicas missing"),
    ],
)
def test_steps_are_said_once_and_reach_the_end(judge, path, value, severity, message):
    failures = judge(ID, put(elastic_hyperpod_job(), f"{POLICY}/{path}", value)).failures
    assert message in failures[0].message
    assert failures[0].severity == severity


def test_discrete_sizes_lie_in_the_range(judge):
    body = put(elastic_hyperpod_job(), f"{POLICY}/replicaIncrementStep", ...)
    assert judge(ID, put(body, f"{POLICY}/replicaDiscreteValues", [2, 4, 6])).outcome(ID) == "pass"
    (finding,) = judge(ID, put(body, f"{POLICY}/replicaDiscreteValues", [1, 4, 8, "x"])).failures
    assert "sizes 1, 8, x" in finding.message


def test_a_size_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, f"{POLICY}/maxReplicas", "${MOST}")).outcome(ID) == "undetermined"


def test_a_job_of_one_size_is_left_alone(judge, hyperpod):
    assert judge(ID, hyperpod).verdicts == ()


def test_a_policy_without_sizes_takes_those_of_the_workers(judge, kubeflow):
    put(put(kubeflow, f"{POLICY}/maxReplicas", ...), f"{POLICY}/minReplicas", ...)
    assert judge(ID, kubeflow).outcome(ID) == "pass"
