"""The double of operators and kubelet does as they do."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from job_manifests import container_of, kubeflow_job, master_job, pod_spec, put
from operator_double import Machine, Pod, expand, kubeflow_pods, terminate
from operator_double.variables import environment_of
from training_environment import needs_linux

pytestmark = needs_linux


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(NAME)", "value"),
        ("a $(NAME):$(PORT) b", "a value:1 b"),
        ("$(OTHER)", "$(OTHER)"),
        ("$$(NAME)", "$(NAME)"),
        ("$$$(NAME)", "$value"),
        ("$NAME ${NAME}", "$NAME ${NAME}"),
        ("$(NAME", "$(NAME"),
        ("$()", "$()"),
        ("5$", "5$"),
    ],
)
def test_references_are_replaced_as_kubernetes_does(text: str, expected: str):
    assert expand(text, {"NAME": "value", "PORT": "1"}) == expected


def test_values_refer_to_variables_before_them_and_the_last_wins():
    said = [
        {"name": "A", "value": "$(B)1"},
        {"name": "B", "value": "$(A)2"},
        {"name": "A", "value": "3"},
        {"name": "C"},
    ]
    assert environment_of(said) == {"A": "3", "B": "$(B)12", "C": ""}


def machine(work: Path) -> Machine:
    claim = work / "claim"
    claim.mkdir(exist_ok=True)
    return Machine(
        programs=[Path(sys.executable).parent],
        image={"/app": work / "app"},
        claims={"lustre": claim},
        work=work,
    )


def python(code: str, *args: str, **spec: Any) -> dict[str, Any]:
    """A pod's template that runs Python code."""
    container = {"name": "pytorch", "image": "a/b:1", "command": ["python", "-uc", code], "args": list(args)}
    return {"spec": {"containers": [container], **spec}}


def test_folders_of_image_and_claims_are_those_of_the_machine(tmp_path: Path):
    job = put(kubeflow_job(), "container:env/3", {"name": "DATA", "value": "/lustre/a:/lustrous,/app"})
    container = container_of(job)
    container["command"] = ["python", "-c", "import os, sys; print(sys.argv[1:], os.environ['DATA'])"]
    container["args"] = ["/app/train.py", "--out=/lustre", "/lustrous", "x/app"]
    with kubeflow_pods(job, machine(tmp_path), replicas=1) as (pod,):
        assert pod.wait() == 0
        claim = f"{tmp_path}/claim"
        words = [f"{tmp_path}/app/train.py", f"--out={claim}", "/lustrous", "x/app"]
        assert pod.log.strip() == f"{words} {claim}/a:/lustrous,{tmp_path}/app"


def variables_of(job: dict[str, Any], work: Path) -> dict[str, dict[str, str]]:
    container_of(job)["command"], container_of(job)["args"] = ["true"], []
    for said in job["spec"]["pytorchReplicaSpecs"].values():
        said["template"]["spec"]["containers"][0].update(command=["true"], args=[])
    with kubeflow_pods(job, machine(work), port=23456) as pods:
        return {pod.name: pod.environment for pod in pods}


def test_workers_alone_get_no_address_of_a_master(tmp_path: Path):
    found = variables_of(kubeflow_job(), tmp_path)
    assert found.keys() == {"vision-worker-0", "vision-worker-1", "vision-worker-2"}
    for variables in found.values():
        assert not variables.keys() & {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "PET_NODE_RANK"}
        assert variables["PET_NNODES"] == "3:3"
        assert variables["PET_NPROC_PER_NODE"] == "8"
        assert variables["PET_RDZV_ENDPOINT"] == "127.0.0.1:23456"
        assert (variables["PET_RDZV_BACKEND"], variables["PET_RDZV_ID"]) == ("c10d", "vision")
        assert variables["FI_PROVIDER"] == "efa"
        assert "PET_MAX_RESTARTS" not in variables


def test_an_elastic_policy_says_its_range_and_restarts(tmp_path: Path):
    policy = {"minReplicas": 1, "maxReplicas": 3, "maxRestarts": 9, "rdzvConf": [{"key": "a", "value": "b"}]}
    for variables in variables_of(put(kubeflow_job(), "spec/elasticPolicy", policy), tmp_path).values():
        assert (variables["PET_NNODES"], variables["PET_MAX_RESTARTS"]) == ("1:3", "9")
        assert variables["PET_RDZV_CONF"] == "a=b"
        assert "PET_RDZV_ID" not in variables


def test_with_a_master_pods_are_ranked_and_told_its_address(tmp_path: Path):
    found = variables_of(master_job(), tmp_path)
    ranks = {name: variables["RANK"] for name, variables in found.items()}
    assert ranks == {"vision-worker-0": "1", "vision-worker-1": "2", "vision-master-0": "0"}
    for variables in found.values():
        assert variables["MASTER_ADDR"] == variables["PET_MASTER_ADDR"] == "127.0.0.1"
        assert variables["MASTER_PORT"] == variables["PET_MASTER_PORT"] == "23456"
        assert variables["PET_NODE_RANK"] == variables["RANK"]
        assert (variables["PET_NNODES"], variables["WORLD_SIZE"]) == ("3", "24")
        assert not any(name.startswith("PET_RDZV") for name in variables)


WAITS = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(float(sys.argv[1])), print("saved"), sys.exit(3)))
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
print("child", child.pid)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_pod_that_ends_within_its_grace_period_is_not_killed(tmp_path: Path):
    with Pod("a", python(WAITS, "0", terminationGracePeriodSeconds=60), machine(tmp_path)) as pod:
        child = int(pod.wait_for(r"child (\d+)")[1])
        (ended,) = terminate([pod])
    assert (ended.code, ended.killed) == (3, False)
    assert ended.seconds < 30
    assert "saved" in pod.log
    assert not alive(child), "what the first process leaves ends with it"


def test_a_pod_that_does_not_is_killed_with_all_its_processes(tmp_path: Path):
    with Pod("a", python(WAITS, "600", terminationGracePeriodSeconds=1), machine(tmp_path)) as pod:
        child = int(pod.wait_for(r"child (\d+)")[1])
        (ended,) = terminate([pod])
    assert (ended.code, ended.killed) == (-signal.SIGKILL, True)
    assert 1 <= ended.seconds < 30
    assert "saved" not in pod.log
    assert not alive(child)


def test_thirty_seconds_are_the_grace_of_kubernetes(tmp_path: Path):
    with Pod("a", python("pass"), machine(tmp_path)) as pod:
        assert pod.grace_seconds == 30
        assert pod.wait() == 0


def test_a_pod_has_its_own_environment_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "PYTHONPATH", "/nowhere")
    with Pod("a", python("import os; print('PYTHONPATH' in os.environ)"), machine(tmp_path)) as pod:
        assert pod.wait() == 0
        assert pod.log.strip() == "False"


def test_waiting_for_what_never_comes_shows_the_log(tmp_path: Path):
    with (
        Pod("a", python("print('only this')"), machine(tmp_path)) as pod,
        pytest.raises(AssertionError, match="only this"),
    ):
        pod.wait_for("that")


def test_the_operator_looks_at_the_container_named_pytorch_alone(tmp_path: Path):
    job = put(kubeflow_job(), "container:name", "trainer")
    pod_spec(job)["containers"][0]["command"] = ["true"]
    with pytest.raises(AssertionError, match="this container alone"), kubeflow_pods(job, machine(tmp_path)):
        pass
