from __future__ import annotations

import pytest
from job_manifests import put

ID = "Launcher"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["torchrun"], "torchrun in a HyperPodPyTorchJob; expected: hyperpodrun"),
        (["python3", "-m", "torch.distributed.run"], "torchrun in a HyperPodPyTorchJob"),
        (["bash", "-c", "cd /app && exec torchrun train.py"], "torchrun in a HyperPodPyTorchJob"),
        (["python", "train.py"], "a command without launcher"),
    ],
)
def test_hyperpods_operator_needs_its_own(judge, hyperpod, command, message):
    assert message in judge(ID, put(hyperpod, "container:command", command)).failures[0].message


def test_the_agent_waits_for_its_own_operator(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "container:command", ["/usr/local/bin/hyperpodrun"])).failures
    assert "hyperpodrun in a PyTorchJob; expected: torchrun" in finding.message


@pytest.mark.parametrize("command", [["/app/entrypoint.sh"], ["bash", "/app/start.sh"], ["tini", "--"], []])
def test_what_the_image_says_is_undetermined(judge, hyperpod, command):
    put(put(hyperpod, "container:command", command), "container:args", [])
    assert judge(ID, hyperpod).outcome(ID) == "undetermined"


@pytest.mark.parametrize("command", [["python", "train.py"], ["accelerate", "launch"], ["bash", "a.sh"]])
def test_kubeflow_takes_any_other(judge, kubeflow, command):
    assert judge(ID, put(kubeflow, "container:command", command)).verdicts == ()
