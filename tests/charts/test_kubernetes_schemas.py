"""The stand-in for an API server refuses what a server refuses, and takes what it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from job_manifests import (
    Body,
    checkpointless_job,
    elastic_hyperpod_job,
    hyperpod_job,
    kubeflow_job,
    master_job,
    network_policy,
    put,
    tiered_job,
)
from kubernetes_schemas import needs_crds, refusals, supported_versions

pytestmark = needs_crds

JOBS = (kubeflow_job, master_job, hyperpod_job, elastic_hyperpod_job, tiered_job)
OPERATORS = pytest.mark.parametrize("make", [kubeflow_job, hyperpod_job])


@pytest.mark.parametrize("make", JOBS, ids=lambda make: make.__name__)
def test_good_jobs_are_taken(make: Callable[[], Body]):
    assert refusals(make()) == []


def test_all_listed_versions_of_kubernetes_are_asked():
    assert {"1.30", "1.33", "1.35"} <= set(supported_versions())
    found = refusals(put(network_policy(), "spec/podSelecter", {}))
    for version in supported_versions():
        assert any(f"Kubernetes {version}" in fault for fault in found), found


# Where a server checks by a schema alone.
SCHEMA = [
    ("spec/nprocPerNode", 8, "is not of type 'string'"),
    ("spec/nProcPerNode", "8", "nProcPerNode"),
    ("spec/runPolicy/ttlSecondsAfterFinished", "3600", "is not of type 'integer'"),
    ("spec/runPolicy/cleanPod", "All", "cleanPod"),
    ("replicas:replicas", 2.5, "is not of type 'integer'"),
    ("replicas:replica", 2, "replica"),
    ("replicas:template/specs", {}, "specs"),
    ("container:comand", ["torchrun"], "comand"),
    ("container:command", "torchrun", "is not of type 'array'"),
    ("container:args/0", None, "None is not of type 'string'"),
    ("container:env/0/value", 1, "is not of type 'string'"),
    ("container:env/0/value", True, "is not of type 'string'"),
    ("container:volumeMounts/0/mountPath", ..., "'mountPath' is a required property"),
    ("container:volumeMounts/0/readonly", True, "readonly"),
    ("container:resources/limit", {}, "limit"),
    ("pod:tolerations/0/opperator", "Exists", "opperator"),
    ("pod:terminationGracePeriodSeconds", "120", "is not of type 'integer'"),
    ("pod:terminationGracePeriodSeconds", 2**63, "int64"),
    ("pod:nodeSelector/spot", False, "is not of type"),
    ("pod:volumes/0/emptyDir/sizelimit", "1Gi", "sizelimit"),
    ("pod:hostNetwork", "true", "is not of type 'boolean'"),
    ("pod:containers", ..., "'containers' is a required property"),
    ("pod:volumes/2", {"name": "lustre", "emptyDir": {}}, "duplicate"),
    ("container:env/3", {"name": "FI_PROVIDER", "value": "tcp"}, "duplicate"),
    ("container:volumeMounts/2", {"name": "lustre", "mountPath": "/dev/shm"}, "duplicate"),
    ("metadata/annotations", {"retries": 3}, "3 is not text"),
    ("metadata/labels", {"a b": "c"}, "'a b' is not a qualified name"),
    ("metadata/labels", {"a": "c d"}, "'c d' is not the value of a label"),
    ("metadata/labels", {"a": "x" * 64}, "is not the value of a label"),
    ("metadata/labels", {"Example.com/a": "b"}, "is not a qualified name"),
    ("metadata/name", "Vision", "'Vision' is not a DNS subdomain"),
    ("metadata/name", ..., "None is not a DNS subdomain"),
    ("metadata/namespace", "team.a", "'team.a' is not a DNS label"),
    ("metadata/namespace", ..., "for a kind that is"),
    ("metadata/nmae", "vision", "unknown field 'nmae'"),
    ("metadata/annotations", {"a": "x" * 300_000}, "bytes, more than"),
    ("replicas:template/metadata/labels", {"app": 1}, "is not of type 'string'"),
]

# What neither schema has, and a server checks in code.
CODE = [
    ("container:volumeMounts/0/name", "shm", "no volume is named 'shm'"),
    ("container:volumeMounts/0/mountPath", "/dev:shm", "has a colon"),
    ("container:resources/requests/cpu", "81", "requests.cpu: more than the limit"),
    ("container:resources/requests/memory", "2Ti", "requests.memory: more than the limit"),
    ("container:resources/requests/nvidia.com~gpu", 4, "nvidia.com/gpu: differs from the limit"),
    ("container:resources/requests/hugepages-2Mi", "1Gi", "hugepages-2Mi: differs from the limit"),
    ("container:resources/limits/nvidia.com~gpu", "7500m", "is not whole"),
    ("container:resources/limits/memory", "1400 GB", "1400 GB"),
    ("container:resources/limits/cpu", "-1", "is below 0"),
    ("container:resources", {"limits": {"hugepages-2Mi": "1Gi"}}, "huge pages need cpu or memory"),
    ("container:name", "PyTorch", "'PyTorch' is not a DNS label"),
    ("container:image", "", "is missing"),
    ("container:image", " a/b:1", "spaces"),
    ("container:env/0/name", "FI PROVIDER", "is not the name of a variable"),
    ("container:ports", [{"containerPort": 70000}], "70000 is no port"),
    ("container:ports", [{"containerPort": 1, "protocol": "tcp"}], "unsupported protocol 'tcp'"),
    ("container:ports", [{"containerPort": 1, "name": "a-port-name-too-long"}], "name of a service"),
    ("container:ports", [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}], "duplicate"),
    (
        "container:securityContext",
        {"privileged": True, "allowPrivilegeEscalation": False},
        "cannot forbid escalation",
    ),
    ("pod:tolerations/0/operator", "Exist", "unsupported operator 'Exist'"),
    ("pod:tolerations/0/effect", "NoScheduling", "unsupported effect"),
    ("pod:tolerations/0/value", "true", "value must be empty"),
    ("pod:tolerations/0/key", ..., None),
    ("pod:tolerations/0", {"effect": "NoSchedule"}, "operator must be Exists"),
    ("pod:tolerations/0/tolerationSeconds", 5, "for effect NoExecute alone"),
    ("pod:dnsPolicy", "ClusterFirstWithHostNetwork", "dnsPolicy: unsupported value"),
    ("pod:restartPolicy", "onFailure", "restartPolicy: unsupported value"),
    ("pod:terminationGracePeriodSeconds", -1, "is below 0"),
    ("pod:serviceAccountName", "Trainer", "serviceAccountName: 'Trainer'"),
    ("pod:priorityClassName", "a b", "priorityClassName: 'a b'"),
    ("pod:nodeSelector/a", "b c", "nodeSelector.a: 'b c'"),
    ("pod:volumes/0/name", "Lustre", "'Lustre' is not a DNS label"),
    ("pod:volumes/1/emptyDir", {}, "must be of one kind"),
    ("pod:volumes/1/persistentVolumeClaim/claimName", "Lustre", "is not a DNS subdomain"),
    ("pod:volumes/0/emptyDir/sizeLimit", "10gb", "10gb"),
    ("pod:volumes/2", {"name": "logs", "hostPath": {"path": "/var/../etc"}}, "has '..'"),
    ("pod:securityContext", {"sysctls": [{"name": "vm.swappiness", "value": "1"}]}, "vm.swappiness"),
]


@OPERATORS
@pytest.mark.parametrize(("path", "value", "message"), [*SCHEMA, *CODE], ids=str)
def test_bad_jobs_are_refused(make: Callable[[], Body], path: str, value: Any, message: str | None):
    found = refusals(put(make(), path, value))
    if message is None:
        assert found == []
    else:
        assert any(message in fault for fault in found), found


@OPERATORS
def test_the_order_of_topology_matters_to_nobody_but_its_weight_does(make: Callable[[], Body]):
    preferred = "pod:affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/0"
    assert any("weight 101" in fault for fault in refusals(put(make(), f"{preferred}/weight", 101)))
    bad_key = put(make(), f"{preferred}/podAffinityTerm/topologyKey", "a b")
    assert any("'a b' is not a qualified name" in fault for fault in refusals(bad_key))


@OPERATORS
@pytest.mark.parametrize(
    "path",
    ["spec/runPolicy/activeDeadlineSeconds", "pod:priorityClassName", "metadata/labels", "container:ports"],
)
def test_null_is_as_good_as_not_given(make: Callable[[], Body], path: str):
    assert refusals(put(make(), path, None)) == []


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_a_number_out_of_the_range_of_its_format_is_refused(value: int):
    found = refusals(put(kubeflow_job(), "spec/runPolicy/backoffLimit", value))
    assert len([fault for fault in found if "int32" in fault]) == 3, found  # by each version of the operator


def test_ports_are_told_by_number_and_protocol():
    both = [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]
    assert refusals(put(kubeflow_job(), "container:ports", both)) == []
    twice = [{"containerPort": 53}, {"containerPort": 53, "protocol": "TCP"}]
    assert any("duplicate" in fault for fault in refusals(put(kubeflow_job(), "container:ports", twice)))


def test_what_only_the_schema_of_an_operator_has():
    assert any("'evalPeriodSeconds'" in f for f in refusals(put(hyperpod_job(), _RESTART, {})))
    assert any("elasticPolcy" in f for f in refusals(put(hyperpod_job(), "spec/elasticPolcy", {})))
    assert any("'pytorchReplicaSpecs'" in f for f in refusals(put(kubeflow_job(), _REPLICAS, ...)))


_RESTART, _REPLICAS = "spec/runPolicy/restartPolicy", "spec/pytorchReplicaSpecs"


def test_sysctls_of_the_network_are_the_node_s_with_host_networking():
    sysctls = {"sysctls": [{"name": "net.ipv4.ip_local_port_range", "value": "20000 65535"}]}
    assert refusals(put(hyperpod_job(), "pod:securityContext", sysctls)) == []
    job = put(put(hyperpod_job(), "pod:securityContext", sysctls), "pod:hostNetwork", True)
    assert any("is not allowed with hostNetwork" in fault for fault in refusals(job))
    assert refusals(put(checkpointless_job(), "pod:securityContext", None)) == []


def test_ports_of_the_node_are_those_of_the_container_with_host_networking():
    job = put(hyperpod_job(), "container:ports", [{"containerPort": 8080, "hostPort": 8081}])
    assert refusals(job) == []
    assert any("hostPort 8081" in fault for fault in refusals(put(job, "pod:hostNetwork", True)))


def test_kinds_of_kubernetes_are_judged_by_its_schemas():
    assert refusals(network_policy()) == []
    assert any("podSelecter" in fault for fault in refusals(put(network_policy(), "spec/podSelecter", {})))
    bad = put(network_policy(), "spec/podSelector/matchLabels", {"a": "b c"})
    assert any("spec.podSelector" in fault for fault in refusals(bad))
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "namespace": "b"}}
    assert refusals(account) == []
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    assert refusals(named) == []
    assert any("for a kind that is" in f for f in refusals(put(named, "metadata/namespace", "team-a")))


@pytest.mark.parametrize("body", [{}, {"apiVersion": "v1"}, {"apiVersion": 1, "kind": "Pod"}], ids=str)
def test_an_object_without_a_kind_is_refused(body: Body):
    assert refusals(body)


def test_an_unknown_kind_is_an_error_of_the_test():
    with pytest.raises(FileNotFoundError):
        refusals({"apiVersion": "v1", "kind": "Pdo", "metadata": {"name": "a", "namespace": "b"}})
