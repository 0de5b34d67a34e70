"""The sample that most tutorials copy: workers only, with the rendezvous in torchrun's options."""

from __future__ import annotations

import json

import pytest
from job_manifests import container_of, put

from hyperpod_policy.manifests import manifests_of
from hyperpod_policy.review_sources import review_manifests, review_sources
from hyperpod_policy.sources import load

HEALTH = "sagemaker.amazonaws.com~node-health-status"
TYPE = "node.kubernetes.io~instance-type"
RESUME = "sagemaker.amazonaws.com~enable-job-auto-resume"
RETRIES = "sagemaker.amazonaws.com~job-max-retry-count"
LAYER = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "podAffinityTerm": {"topologyKey": "topology.k8s.aws/network-node-layer-3"}}
    ]
}

FAULTS = {
    "CommandVariables": (
        "error",
        "MASTER_ADDR and MASTER_PORT, which the operator sets only in a job with a",
    ),
    "ImagePins": ("error", "which is no image's name, and whose tag latest moves"),
    "ElasticOptions": ("warning", "--nnodes=4 beside elasticPolicy, and it wins"),
    "RendezvousId": ("warning", "no rdzvId"),
    "InstanceTypeSelector": ("warning", "pods may land on ml.p5.48xlarge, ml.p5e.48xlarge"),
    "NodeHealthSelector": ("warning", "no selector for healthy nodes"),
    "AutoResume": ("warning", "no annotation"),
    "RetryCap": ("warning", "no backoffLimit"),
    "NodeCapacity": ("undetermined", "100 CPUs on ml.p5.48xlarge, which fit only with two threads a core"),
    "HugePages": ("advice", "no hugepages-2Mi beside 32 EFA interfaces"),
    "FinishedJobs": ("advice", "no ttlSecondsAfterFinished"),
    "PodTopology": ("advice", "pods may be anywhere in the network"),
}


def _sample():
    amounts = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32, "memory": "640Gi", "cpu": "100"}
    container = {
        "name": "pytorch",
        "image": "<ACCOUNT>.dkr.ecr.eu-west-1.amazonaws.com/resnet:latest",
        "command": [
            "torchrun",
            "--nnodes=4",
            "--nproc_per_node=8",
            "--rdzv_backend=c10d",
            "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)",
            "/opt/resnet/main.py",
        ],
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        "env": [
            {"name": "NCCL_DEBUG", "value": "WARN"},
            {"name": "FI_EFA_USE_DEVICE_RDMA", "value": "1"},
            {"name": "FI_PROVIDER", "value": "efa"},
        ],
        "volumeMounts": [
            {"name": "data", "mountPath": "/data"},
            {"name": "shm", "mountPath": "/dev/shm"},
        ],
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "resnet", "namespace": "kubeflow"},
        "spec": {
            "elasticPolicy": {"rdzvBackend": "c10d", "minReplicas": 4, "maxReplicas": 4},
            "pytorchReplicaSpecs": {
                "Worker": {
                    "replicas": 4,
                    "restartPolicy": "OnFailure",
                    "template": {
                        "spec": {
                            "terminationGracePeriodSeconds": 90,
                            "containers": [container],
                            "volumes": [
                                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                                {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "320Gi"}},
                            ],
                            "tolerations": [
                                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
                            ],
                        }
                    },
                }
            },
        },
    }


def _reviewed(body):
    return review_manifests(list(manifests_of(body)))


def _mended():
    body = _sample()
    put(body, f"metadata/annotations/{RESUME}", "true")
    put(body, f"metadata/annotations/{RETRIES}", "10")
    put(body, "spec/elasticPolicy/rdzvId", "resnet")
    put(body, "spec/nprocPerNode", "8")
    put(body, "spec/runPolicy", {"backoffLimit": 40, "ttlSecondsAfterFinished": 86400})
    put(body, f"pod:nodeSelector/{TYPE}", "ml.p5.48xlarge")
    put(body, f"pod:nodeSelector/{HEALTH}", "Schedulable")
    put(body, "pod:affinity/podAffinity", LAYER)
    put(body, "container:image", "444455556666.dkr.ecr.eu-west-1.amazonaws.com/resnet:1.0.0")
    put(body, "container:command", ["torchrun", "/opt/resnet/main.py"])
    for kind in ("limits", "requests"):
        put(body, f"container:resources/{kind}/cpu", "88")
        put(body, f"container:resources/{kind}/hugepages-2Mi", "5120Mi")
    return body


def test_each_of_its_faults_is_named_and_nothing_else():
    found = _reviewed(_sample()).findings
    assert {finding.rule_id for finding in found} == set(FAULTS)


@pytest.mark.parametrize("rule_id", FAULTS)
def test_a_fault_is_said_in_words(rule_id):
    label, message = FAULTS[rule_id]
    findings = [finding for finding in _reviewed(_sample()).findings if finding.rule_id == rule_id]
    assert findings[0].label == label
    assert message in findings[0].message


def test_every_option_that_wins_over_the_policy_is_named():
    findings = [
        finding.found for finding in _reviewed(_sample()).findings if finding.rule_id == "ElasticOptions"
    ]
    assert [found.partition("=")[0] for found in findings] == [
        "--nnodes",
        "--rdzv_endpoint",
        "--rdzv_backend",
    ]


def test_its_advice_to_make_it_elastic_does_not_work():
    body = put(_sample(), "spec/elasticPolicy/minReplicas", 2)
    (finding, *_) = (found for found in _reviewed(body).findings if found.rule_id == "ElasticOptions")
    assert finding.label == "error"
    assert "the job is not elastic at all" in finding.message


def test_the_mended_sample_raises_nothing():
    assert [finding.text() for finding in _reviewed(_mended()).findings] == []


@pytest.mark.parametrize(
    ("efa", "rule_id"),
    [(1, "EfaRequests"), (None, "EfaProvider")],
)
def test_one_interface_for_every_type_and_none_are_named(efa, rule_id):
    body = _mended()
    for amounts in container_of(body)["resources"].values():
        del amounts["vpc.amazonaws.com/efa"]
        if efa is not None:
            amounts["vpc.amazonaws.com/efa"] = efa
    assert rule_id in {finding.rule_id for finding in _reviewed(body).failures}


def test_on_a_type_without_rdma_its_flag_is_named():
    body = put(_mended(), f"pod:nodeSelector/{TYPE}", "ml.g5.48xlarge")
    assert "DeviceRdma" in {finding.rule_id for finding in _reviewed(body).failures}


def test_findings_carry_lines(tmp_path):
    file = tmp_path / "job.json"
    file.write_text(json.dumps(_sample(), indent=1), encoding="utf-8")
    lines = file.read_text(encoding="utf-8").splitlines()
    (finding,) = (
        found for found in review_sources(load([file])).findings if found.rule_id == "CommandVariables"
    )
    assert "MASTER_ADDR" in lines[finding.line - 1]
