from __future__ import annotations

import pytest
from job_manifests import put

ID = "SignalDelivery"


@pytest.mark.parametrize(
    ("command", "severity"),
    [
        (["bash", "-c", "cd /app && torchrun train.py"], "error"),
        (["/bin/sh", "-c", "torchrun train.py"], "warning"),
        (["sh", "-c", "exec torchrun train.py | tee log"], "error"),
        (["sh", "-c", "exec torchrun train.py &"], "error"),
        (["bash", "-lc", "source /env\ntorchrun \\\n  --max-restarts=1 \\\n  train.py"], "error"),
        (["tini", "--", "sh", "-c", "true; torchrun train.py"], "error"),
    ],
)
def test_a_shell_that_stays_fails(judge, kubeflow, command, severity):
    put(put(kubeflow, "container:command", command), "container:args", [])
    (finding,) = judge(ID, kubeflow).failures
    assert "a shell starts torchrun and stays the container's first process" in finding.message
    assert finding.severity == severity


def test_hyperpods_agent_has_to_be_the_first_process(judge, hyperpod):
    put(hyperpod, "container:command", ["sh", "-c", "hyperpodrun train.py"])
    assert judge(ID, put(hyperpod, "container:args", [])).failures[0].severity == "error"


@pytest.mark.parametrize(
    "command",
    [
        ["torchrun"],
        ["python", "-m", "torch.distributed.run"],
        ["python", "train.py"],
        ["bash", "-c", "source /env && exec torchrun train.py"],
        ["sh", "-c", "cd /app; exec env A=1 torchrun train.py"],
        ["sh", "-c", "A=1 exec torchrun train.py > log 2>&1"],
        ["tini", "-g", "--", "torchrun"],
        ["sh", "-c", "exec /app/start.sh"],
    ],
)
def test_a_launcher_that_hears_complies(judge, kubeflow, command):
    put(put(kubeflow, "container:command", command), "container:args", [])
    assert judge(ID, kubeflow).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "command",
    [..., ["/app/start.sh"], ["bash", "/app/start.sh"], ["sh", "-c", "/app/start.sh"], ["sh", "-c", "'"]],
)
def test_what_the_image_or_a_script_says_is_undetermined(judge, kubeflow, command):
    put(put(kubeflow, "container:command", command), "container:args", [])
    assert judge(ID, kubeflow).outcome(ID) == "undetermined"
