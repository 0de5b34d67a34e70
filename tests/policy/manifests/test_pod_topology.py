from __future__ import annotations

import pytest
from job_manifests import pod_spec, put, set_resource

ID = "PodTopology"
ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def test_pods_anywhere_are_worth_a_thought(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "pod:affinity", ...)).failures
    assert finding.severity == "advice"
    assert "expected: affinity by topology.k8s.aws/network-node-layer-3" in finding.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("pod:topologySpreadConstraints", [{"topologyKey": ZONE, "maxSkew": 1}]),
        ("pod:affinity/podAntiAffinity", {REQUIRED: [{"topologyKey": ZONE}]}),
    ],
)
def test_pods_in_several_zones_fail(judge, kubeflow, path, value):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert finding.severity == "error"
    assert "pods are spread over Availability Zones" in finding.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("replicas:template/metadata/annotations", {"kueue.x-k8s.io/podset-preferred-topology": "a"}),
        ("pod:affinity", {"podAffinity": {REQUIRED: [{"topologyKey": "topology.k8s.aws/ultraserver-id"}]}}),
        (f"pod:nodeSelector/{ZONE.replace('/', '~')}", "us-east-2a"),
    ],
)
def test_pods_near_each_other_comply(judge, kubeflow, path, value):
    assert judge(ID, put(put(kubeflow, "pod:affinity", {}), path, value)).outcome(ID) == "pass"


def test_pods_apart_by_host_comply(judge, kubeflow):
    spread = {REQUIRED: [{"topologyKey": "kubernetes.io/hostname"}]}
    assert judge(ID, put(kubeflow, "pod:affinity/podAntiAffinity", spread)).outcome(ID) == "pass"


def test_one_pod_or_no_efa_is_left_alone(judge, kubeflow, hyperpod):
    put(put(kubeflow, "replicas:replicas", 1), "spec/elasticPolicy", ...)
    set_resource(hyperpod, "vpc.amazonaws.com/efa", None)
    del pod_spec(hyperpod)["affinity"]
    assert judge(ID, kubeflow, hyperpod).verdicts == ()
