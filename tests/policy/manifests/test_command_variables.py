from __future__ import annotations

import pytest
from job_manifests import container_of, master_job, put

ID = "CommandVariables"
SAMPLE = ["torchrun", "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)"]


def test_workers_have_no_masters_address(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "container:command", SAMPLE)).failures
    assert finding.path[-2:] == ("command", 1)
    assert (
        "MASTER_ADDR and MASTER_PORT, which the operator sets only in a job with a Master" in finding.message
    )
    assert "stays the text $(MASTER_ADDR)" in finding.message


def test_with_a_master_it_complies(judge):
    assert judge(ID, put(master_job(), "container:command", SAMPLE)).outcome(ID) == "pass"


def test_hyperpods_operator_does_not_set_it_either(judge, hyperpod):
    (finding,) = judge(ID, put(hyperpod, "container:args", SAMPLE)).failures
    assert "which HyperPod's operator does not set" in finding.message


@pytest.mark.parametrize("word", ["$MASTER_ADDR", "${MASTER_ADDR}", "$(MASTER_ADDR)"])
def test_a_shell_makes_nothing_of_it(judge, kubeflow, word):
    put(kubeflow, "container:command", ["bash", "-c", f"exec torchrun --master_addr {word} train.py"])
    (finding,) = judge(ID, put(kubeflow, "container:args", [])).failures
    assert "MASTER_ADDR" in finding.message
    assert "it expands to nothing" in finding.message


@pytest.mark.parametrize(
    "script",
    [
        "MASTER_ADDR=$(getent hosts a); exec torchrun --master_addr $MASTER_ADDR train.py",
        "exec torchrun train.py --host $(hostname) --user $USER",
        r"exec torchrun train.py --price \$RANK",
    ],
)
def test_what_a_shell_has_of_its_own_complies(judge, kubeflow, script):
    put(kubeflow, "container:command", ["bash", "-c", script])
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_any_other_unset_variable_fails(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "container:args/0", "/app/$(SCRIPT).py")).failures
    assert "SCRIPT, which nothing sets" in finding.message


def test_variables_that_are_set_comply(judge, kubeflow):
    container_of(kubeflow)["env"].append({"name": "POD", "valueFrom": {"fieldRef": {}}})
    put(kubeflow, "container:args", ["/app/train.py", "$(FI_PROVIDER)", "$(POD)", "$$(MASTER_ADDR)"])
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_config_map_may_set_them(judge, kubeflow):
    put(put(kubeflow, "container:command", SAMPLE), "container:envFrom", [{"configMapRef": {"name": "a"}}])
    assert judge(ID, kubeflow).outcome(ID) == "undetermined"
