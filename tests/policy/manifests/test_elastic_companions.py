from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, elastic_hyperpod_job, put, tiered_job

ID = "ElasticCompanions"
POLICY = {"minReplicas": 2, "maxReplicas": 4, "replicaIncrementStep": 2}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (checkpointless_job, "checkpointless in a job with elasticPolicy"),
        (tiered_job, "tiered checkpointing in a job with elasticPolicy"),
    ],
)
def test_what_does_not_go_with_it_fails(judge, made, message):
    (finding,) = judge(ID, put(made(), "spec/elasticPolicy", dict(POLICY))).failures
    assert message in finding.message


@pytest.mark.parametrize(
    ("label", "value"), [("karpenter.sh~capacity-type", "spot"), ("eks.amazonaws.com~capacityType", "SPOT")]
)
def test_spot_nodes_fail(judge, label, value):
    (finding,) = judge(ID, put(elastic_hyperpod_job(), f"pod:nodeSelector/{label}", value)).failures
    assert "spot in a job with elasticPolicy" in finding.message


def test_on_demand_nodes_comply(judge):
    body = put(elastic_hyperpod_job(), "pod:nodeSelector/karpenter.sh~capacity-type", "on-demand")
    assert judge(ID, body).outcome(ID) == "pass"


def test_without_a_policy_nothing_is_said(judge, kubeflow):
    assert judge(ID, kubeflow, checkpointless_job(), tiered_job()).verdicts == ()
