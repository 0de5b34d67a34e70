from __future__ import annotations

import pytest
from job_manifests import put

ID = "Spares"


def test_spares_without_queue_fail(judge, hyperpod):
    (finding,) = judge(ID, put(hyperpod, "metadata/labels", ...)).failures
    assert "1 spares in a job without queue; expected: the label kueue.x-k8s.io/queue-name" in finding.message


def test_a_count_that_is_none_fails(judge, hyperpod):
    assert "spares 'two'" in judge(ID, put(hyperpod, "replicas:spares", "two")).failures[0].message
    assert judge(ID, put(hyperpod, "replicas:spares", -1)).outcome(ID) == "fail"


def test_spares_in_a_queue_comply(judge, hyperpod):
    assert judge(ID, hyperpod).outcome(ID) == "pass"


def test_a_count_that_is_filled_in_later_is_undetermined(judge, hyperpod):
    assert judge(ID, put(hyperpod, "replicas:spares", "${SPARES}")).outcome(ID) == "undetermined"


@pytest.mark.parametrize("value", [0, ...])
def test_without_spares_no_queue_is_needed(judge, hyperpod, value):
    put(put(hyperpod, "metadata/labels", ...), "replicas:spares", value)
    assert judge(ID, hyperpod).verdicts == ()


def test_kubeflow_knows_no_spares(judge, kubeflow):
    assert judge(ID, put(kubeflow, "replicas:spares", 2)).verdicts == ()
