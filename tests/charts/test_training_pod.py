"""The pods of a job, as Kubernetes gets them."""

from __future__ import annotations

from typing import Any

import pytest
from charted import IMAGE, NUMBER_TOKEN, TOKEN, training_pod

from hyperpod_charts import ClaimVolume, Toleration, member_labels
from hyperpod_model.faults import InvalidInputError

LABELS = member_labels("llama")


def spec_of(**changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = training_pod(**changes).template(labels=LABELS)["spec"]
    return spec


def container_of(**changes: Any) -> dict[str, Any]:
    (container,) = spec_of(**changes)["containers"]
    return dict(container)


def test_the_container_has_the_name_that_the_operator_looks_for():
    assert container_of()["name"] == "pytorch"


def test_requests_are_the_limits():
    resources = container_of(resources={"nvidia.com/gpu": "8", "memory": "64Gi"})["resources"]
    assert resources["requests"] == resources["limits"] == {"nvidia.com/gpu": "8", "memory": "64Gi"}


def test_command_and_arguments_are_words():
    container = container_of(command=("torchrun", "--no-python"), args=("a b", "$HOME"))
    assert container["command"] == ["torchrun", "--no-python"]
    assert container["args"] == ["a b", "$HOME"]


def test_an_image_runs_its_own_command_where_none_is_given():
    container = container_of(command=(), args=())
    assert "command" not in container
    assert "args" not in container


def test_environment_keeps_its_order():
    assert container_of(environment={"B": "1", "A": ""})["env"] == [
        {"name": "B", "value": "1"},
        {"name": "A", "value": ""},
    ]


def test_the_container_cannot_get_more_rights():
    assert container_of()["securityContext"] == {"allowPrivilegeEscalation": False}


def test_services_of_the_namespace_set_no_variables():
    """One named ``master`` would set ``MASTER_PORT`` to an URL."""
    assert spec_of()["enableServiceLinks"] is False


def test_labels_of_the_job_win_over_labels_of_the_pod():
    pod = training_pod(labels={"app.kubernetes.io/instance": "other", "team": "a"}, annotations={"x": "y"})
    assert pod.template(labels=LABELS)["metadata"] == {
        "labels": {"team": "a", **LABELS},
        "annotations": {"x": "y"},
    }


def test_what_is_not_said_is_not_written():
    assert spec_of().keys() == {"containers", "enableServiceLinks", "terminationGracePeriodSeconds"}
    assert container_of().keys() == {"name", "image", "command", "args", "resources", "securityContext"}


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"service_account_name": "trainer"}, "serviceAccountName", "trainer"),
        ({"priority_class_name": "high"}, "priorityClassName", "high"),
        ({"termination_grace_period_seconds": 300}, "terminationGracePeriodSeconds", 300),
        ({"node_selector": {"a": "b"}}, "nodeSelector", {"a": "b"}),
        ({"host_network": True}, "hostNetwork", True),
        ({"host_network": True}, "dnsPolicy", "ClusterFirstWithHostNet"),
        (
            {"tolerations": [Toleration(key="k", operator="Equal", value="v", effect="NoSchedule")]},
            "tolerations",
            [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}],
        ),
        (
            {"tolerations": [Toleration(key="k", effect="NoExecute", toleration_seconds=0)]},
            "tolerations",
            [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
        ),
    ],
)
def test_what_is_said_is_written(change: dict[str, Any], field: str, value: object):
    assert spec_of(**change)[field] == value


def test_ports_have_names():
    assert container_of(ports={"agent": 8080})["ports"] == [{"name": "agent", "containerPort": 8080}]


def test_pods_prefer_to_be_near_each_other():
    (term,) = spec_of(topology_key="layer-3")["affinity"]["podAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["podAffinityTerm"] == {
        "labelSelector": {"matchLabels": LABELS},
        "topologyKey": "layer-3",
    }


def test_pods_must_be_near_each_other():
    affinity = spec_of(topology_key="layer-3", topology_required=True)["affinity"]["podAffinity"]
    assert affinity == {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": LABELS}, "topologyKey": "layer-3"}
        ]
    }


def test_kernel_parameters_of_the_pods_own_network():
    spec = spec_of(kernel_parameters={"net.ipv4.ip_local_port_range": "20000 65535"})
    assert spec["securityContext"] == {
        "sysctls": [{"name": "net.ipv4.ip_local_port_range", "value": "20000 65535"}]
    }
    assert "initContainers" not in spec


def test_kernel_parameters_of_the_nodes_network_are_set_by_a_container_before():
    """The API server refuses them in the pod's security context there."""
    spec = spec_of(kernel_parameters={"net.ipv4.ip_local_port_range": "20000 65535"}, host_network=True)
    assert "securityContext" not in spec
    (setter,) = spec["initContainers"]
    assert setter["command"] == ["sysctl", "-w", "net.ipv4.ip_local_port_range=20000 65535"]
    assert setter["image"] == IMAGE
    assert setter["securityContext"]["privileged"] is True
    assert setter["resources"]["requests"] == setter["resources"]["limits"]
    assert spec["containers"][0]["securityContext"] == {"allowPrivilegeEscalation": False}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": ""}, "training pod: image: must be an image with registry and tag or digest, .* got ''"),
        ({"image": None}, "image: must be an image with registry and tag or digest, .* got None"),
        ({"image": "train:1.0"}, "image: must be an image with registry .* got 'train:1.0'"),
        ({"image": IMAGE.replace("1.4.0", "latest")}, "image: must not have the tag 'latest'"),
        ({"resources": {}}, "training pod: resources: is empty"),
        ({"resources": None}, "training pod: resources: is empty"),
        ({"resources": {"nvidia.com/gpu": 8}}, "resources.nvidia.com/gpu: must be text, got 8; write '8'"),
        ({"resources": {"nvidia.com/gpu": "0.5"}}, "must be a whole number as text, such as '8', got '0.5'"),
        ({"resources": {"nvidia.com/gpu": "all"}}, "must be a whole number as text, such as '8', got 'all'"),
        ({"resources": {"memory": "16GB"}}, "resources.memory: must be a quantity of .*'64Gi', got '16GB'"),
        ({"resources": {"cpu": "-1"}}, "resources.cpu: must be a quantity of Kubernetes, .* got '-1'"),
        (
            {"resources": {"hugepages-2Mi": "5120Mi"}},
            "resources: must have cpu or memory beside hugepages-2Mi, else Kubernetes refuses the pod",
        ),
        ({"shared_memory": "8GB"}, "shared_memory: must be a quantity of Kubernetes, .* got '8GB'"),
        ({"shared_memory": 8}, "shared_memory: must be text, got 8; write '8'"),
        (
            {"shared_memory": "17Gi"},
            "shared_memory: must be at most the memory of the pod, 16Gi, of which it is a part, got '17Gi'",
        ),
        ({"args": ["--steps", 10]}, r"args\[1\]: must be text, got 10; write '10'"),
        ({"args": "--steps"}, "args: must be a list of words, got '--steps'"),
        ({"volumes": [{"claim_name": "fsx"}]}, r"volumes\[0\]: must be one of ClaimVolume, .*, got \{"),
        ({"tolerations": [{"key": "k"}]}, r"tolerations\[0\]: must be a Toleration, got \{.*; write Tol"),
        ({"ports": {"agent-of-hyperpod": 1}}, "ports.agent-of-hyperpod: must be named by at most 15 lower"),
        ({"ports": {"Agent": 1}}, "ports.Agent: must be named by .* got 'Agent'"),
        ({"ports": {"8080": 1}}, "ports.8080: must be named by .* a letter among them"),
        ({"termination_grace_period_seconds": None}, "termination_grace_period_seconds: is required"),
        ({"termination_grace_period_seconds": 2**31}, "must be at most 2147483647, got 2147483648"),
        ({"environment": {"DEBUG": True}}, "environment.DEBUG: must be text, got True; write 'True'"),
        ({"environment": {"1A": "x"}}, "environment.1A: must be named by letters"),
        ({"command": "torchrun train.py"}, "command: must be a list of words, got 'torchrun train.py'"),
        ({"node_selector": {"a b": "c"}}, r"node_selector.a b: must be .*, got 'a b'"),
        ({"node_selector": {"a": "c d"}}, r"node_selector.a: must be .*, got 'c d'"),
        ({"labels": {"a": 1}}, r"labels.a: must be text, got 1; write str\(1\)"),
        ({"service_account_name": "Trainer"}, "service_account_name: must be .*, got 'Trainer'"),
        ({"priority_class_name": "a b"}, "priority_class_name: must be .*, got 'a b'"),
        ({"image_pull_policy": "always"}, "image_pull_policy: must be one of Always, .* got 'always'"),
        ({"termination_grace_period_seconds": 0}, "termination_grace_period_seconds: .* at least 1, got 0"),
        ({"ports": {"agent": 0}}, "ports.agent: must be a whole number from 1 to 65535, got 0"),
        ({"ports": {"agent": "8080"}}, "ports.agent: must be a whole number from 1 to 65535, got '8080'"),
        ({"ports": {"a": 1, "b": 1}}, r"ports: must be given once each, got \[1\] twice"),
        ({"tolerations": [Toleration(key="k", operator="Is")]}, r"tolerations\[0\].operator: must be one of"),
        ({"tolerations": [Toleration(key="k", value="v")]}, r"tolerations\[0\].value: must not be given"),
        ({"tolerations": [Toleration(key="k", effect="No")]}, r"tolerations\[0\].effect: must be one of"),
        (
            {"tolerations": [Toleration(key="k", toleration_seconds=5)]},
            r"tolerations\[0\].toleration_seconds: needs effect 'NoExecute', got effect None",
        ),
    ],
)
def test_a_wrong_pod_is_refused(change: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        training_pod(**change)


def test_all_faults_are_reported_together():
    with pytest.raises(InvalidInputError) as refused:
        training_pod(image="", resources={}, command="x")
    assert len(refused.value.faults) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"service_account_name": TOKEN},
        {"labels": {"stack": TOKEN}},
        {"image": f"{TOKEN}.dkr.ecr.us-west-2.amazonaws.com/train:1"},
        {"image": TOKEN},
        {"image": f"111122223333.dkr.ecr.us-west-2.amazonaws.com/train@sha256:{'0' * 64}"},
        {"environment": {"BUCKET": TOKEN}},
        {"resources": {"cpu": "500m", "memory": "1.5Gi", "hugepages-2Mi": "10Mi", "nvidia.com/gpu": "0"}},
        {"resources": {"cpu": TOKEN, "memory": TOKEN}, "shared_memory": "64Gi"},
        {"resources": {"cpu": "1"}, "shared_memory": TOKEN},
        {"shared_memory": "16Gi"},
        {"termination_grace_period_seconds": NUMBER_TOKEN},
        {"ports": {"recovery-9000": NUMBER_TOKEN, "a1": 1}},
        {"volumes": [ClaimVolume(claim_name="fsx", mount_path="/fsx")]},
        {"tolerations": [Toleration(key="k", operator="Equal")]},
        {"labels": {"empty": ""}},
    ],
)
def test_what_is_right_or_not_known_yet_passes(change: dict[str, Any]):
    training_pod(**change)
