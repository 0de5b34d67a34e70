from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, put

ID = "PodPrivileges"
CONTEXT = "container:securityContext"


@pytest.mark.parametrize(
    ("context", "severity", "message"),
    [
        ({"privileged": True}, "error", "a privileged container"),
        (
            {"capabilities": {"add": ["SYS_ADMIN"]}},
            "error",
            "capability SYS_ADMIN; expected: none, or IPC_LOCK",
        ),
        ({"capabilities": {"add": ["CAP_ALL"]}}, "error", "capability CAP_ALL"),
        ({"capabilities": {"add": ["IPC_LOCK", "NET_ADMIN"]}}, "warning", "capability NET_ADMIN"),
    ],
)
def test_power_over_the_node_fails(judge, kubeflow, context, severity, message):
    (finding,) = judge(ID, put(kubeflow, CONTEXT, context)).failures
    assert message in finding.message
    assert finding.severity == severity


@pytest.mark.parametrize(
    "context",
    [
        {"privileged": False},
        {"capabilities": {"add": ["IPC_LOCK"]}},
        {"capabilities": {"drop": ["ALL"]}},
        None,
    ],
)
def test_what_efa_needs_complies(judge, kubeflow, context):
    assert judge(ID, put(kubeflow, CONTEXT, context)).outcome(ID) == "pass"


def test_init_containers_count(judge, hyperpod):
    put(hyperpod, "pod:initContainers", [{"name": "a", "securityContext": {"privileged": True}}])
    assert judge(ID, hyperpod).outcome(ID) == "fail"


def test_one_that_sets_kernel_parameters_for_checkpointless_training_may_have_them(judge, hyperpod):
    body = checkpointless_job()
    assert judge(ID, body).outcome(ID) == "pass"
    put(hyperpod, "pod:initContainers", body["spec"]["replicaSpecs"][0]["template"]["spec"]["initContainers"])
    assert judge(ID, hyperpod).outcome(ID) == "fail"
    put(body, "pod:initContainers/0/command", ["sh", "-c", "sysctl -w a=1; cat /etc/shadow"])
    assert judge(ID, body).outcome(ID) == "fail"


@pytest.mark.parametrize("member", ["seccompProfile", "appArmorProfile"])
@pytest.mark.parametrize("place", ["pod:securityContext", "container:securityContext"])
def test_a_pod_without_confinement_fails(judge, kubeflow, place, member):
    (finding,) = judge(ID, put(kubeflow, place, {member: {"type": "Unconfined"}})).failures
    assert f"{member} Unconfined; expected: RuntimeDefault" in finding.message
    assert finding.severity == "warning"
    assert finding.path[-2:] == (member, "type")


def test_an_unmasked_proc_fails(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "container:securityContext", {"procMount": "Unmasked"})).failures
    assert "procMount Unmasked" in finding.message


@pytest.mark.parametrize(
    ("capability", "severity"),
    [("DAC_READ_SEARCH", "error"), ("CAP_BPF", "error"), ("sys_boot", "error"), ("PERFMON", "warning")],
)
def test_capabilities_that_read_the_node_fail(judge, kubeflow, capability, severity):
    context = {"capabilities": {"add": [capability, "IPC_LOCK"]}}
    (finding,) = judge(ID, put(kubeflow, "container:securityContext", context)).failures
    assert f"capability {capability}" in finding.message
    assert finding.severity == severity


def test_a_hardened_container_complies(judge, kubeflow):
    context = {
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "seccompProfile": {"type": "RuntimeDefault"},
        "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]},
    }
    assert judge(ID, put(kubeflow, "container:securityContext", context)).outcome(ID) == "pass"
