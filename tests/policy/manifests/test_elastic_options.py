from __future__ import annotations

import pytest
from job_manifests import put

ID = "ElasticOptions"


def test_a_fixed_count_makes_a_range_void(judge, kubeflow):
    put(kubeflow, "spec/elasticPolicy/minReplicas", 1)
    (finding,) = judge(ID, put(kubeflow, "container:command", ["torchrun", "--nnodes=3"])).failures
    assert "--nnodes=3, which wins over elasticPolicy's 1:3: the job is not elastic at all" in finding.message
    assert finding.severity == "error"


@pytest.mark.parametrize(("nodes", "severity"), [("3", "warning"), ("3:3", "warning"), ("2", "error")])
def test_a_count_beside_the_policy_wins(judge, kubeflow, nodes, severity):
    (finding,) = judge(ID, put(kubeflow, "container:command", ["torchrun", "--nnodes", nodes])).failures
    assert f"--nnodes={nodes} beside elasticPolicy, and it wins" in finding.message
    assert finding.severity == severity


def test_each_option_of_the_rendezvous_is_named(judge, kubeflow):
    options = ["torchrun", "--rdzv_backend=c10d", "--rdzv-endpoint=a:1", "--rdzv_id", "x"]
    failures = judge(ID, put(kubeflow, "container:command", options)).failures
    assert [finding.found.partition("=")[0] for finding in failures] == [
        "--rdzv_endpoint",
        "--rdzv_backend",
        "--rdzv_id",
    ]
    assert {finding.severity for finding in failures} == {"warning"}


def test_in_a_shell_they_are_seen_as_well(judge, kubeflow):
    put(kubeflow, "container:command", ["sh", "-c", "exec torchrun --nnodes=3 /app/train.py"])
    assert judge(ID, kubeflow).outcome(ID) == "fail"


@pytest.mark.parametrize(
    "command",
    [
        ["torchrun"],
        ["torchrun", "--max-restarts=3"],
        ["torchrun", "train.py", "--nnodes=7"],
        ["bash", "a.sh"],
    ],
)
def test_other_options_and_those_of_the_script_comply(judge, kubeflow, command):
    assert judge(ID, put(kubeflow, "container:command", command)).outcome(ID) == "pass"


def test_without_a_policy_options_are_free(judge, kubeflow):
    put(put(kubeflow, "container:command", ["torchrun", "--nnodes=3"]), "spec/elasticPolicy", ...)
    assert judge(ID, kubeflow).verdicts == ()
