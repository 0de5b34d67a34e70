"""Training processes end with the code of their training, whenever threads of gloo get to run.

Before Python 3.14, a thread that asks for the interpreter while that goes down is unwound through the
destructor of a tensor, and the process aborts: pytorch/pytorch#179291. That is a race, rare on an idle
machine. What makes it possible is not rare: a thread of gloo that is left when Python begins to go down.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from killed_training import LIBRARY
from operator_double import kubeflow_pods
from operator_double.kubelet import free_port
from rendered_jobs import example, manifest_of
from trained import DDP_IMAGE, image_with, machine
from training_environment import PROGRAMS, TINY_TRAINING, needs_linux, needs_torchrun

pytestmark = [needs_linux, needs_torchrun]

SAYS_WHAT_IS_LEFT = """
import atexit
from pathlib import Path

def say():
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    print("goes down beside", [name for name in names if "gloo" in name], flush=True)

atexit.register(say)
"""
ENDS_WITH_ITS_MODULE = """
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(nn.Linear(2, 1))
model(torch.ones(1, 2)).sum().backward()
dist.destroy_process_group()
"""
DROPS_AT_ITS_END = """
import os, sys, time
import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
print("is done", flush=True)
if "-worker-0." in os.environ["OPERATOR_DOUBLE_POD"]:
    time.sleep(3)
    os.abort()
dist.destroy_process_group()
"""


def said(tmp_path: Path, script: Path, *args: str, may_abort: bool = False) -> str:
    """Run training code as the only rank, and return what it says until its end."""
    (tmp_path / "sitecustomize.py").write_text(SAYS_WHAT_IS_LEFT)
    done = subprocess.run(
        [PROGRAMS / "python", script, *args],
        env={
            "RANK": "0",
            "WORLD_SIZE": "1",
            "LOCAL_RANK": "0",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free_port()),
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), LIBRARY]),
            "TINY_STEPS": "3",
        },
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0 or (may_abort and done.returncode == -signal.SIGABRT), done.stderr
    return done.stdout


def test_no_thread_of_gloo_meets_the_end_of_python(tmp_path: Path):
    log = said(tmp_path, DDP_IMAGE / "train.py", "--steps", "3")
    assert "step 2 loss" in log
    assert "goes down beside ['gloo" not in log


def test_the_stand_in_for_training_code_leaves_none_either(tmp_path: Path):
    log = said(tmp_path, TINY_TRAINING)
    assert "step 2 of 1 ranks" in log
    assert "goes down beside []" in log


def test_training_code_that_just_ends_leaves_some(tmp_path: Path):
    """Ended as most is: by the end of its main module."""
    usual = tmp_path / "usual.py"
    usual.write_text(ENDS_WITH_ITS_MODULE)
    assert "goes down beside ['gloo" in said(tmp_path, usual, may_abort=True)


def test_a_pod_that_fails_when_the_others_are_done_waits_for_them_in_vain(tmp_path: Path):
    """Why jobs have a ``backoffLimit``: no restart of that pod can end well, and nothing else ends it."""
    spec = example("ddp-pretrain", processes_per_node=1, script_args=[])
    image = image_with(tmp_path, spec.script)
    (image / "train.py").write_text(DROPS_AT_ITS_END)
    job = manifest_of(spec)
    assert job["spec"]["runPolicy"]["backoffLimit"] > 0
    here = machine(tmp_path, image=image, environment={"PET_RDZV_CONF": "join_timeout=5"})
    with kubeflow_pods(job, here) as (first, second):
        assert [first.wait(), second.wait()] == [1, 0], first.log + second.log
        assert "is done" in first.log
    with kubeflow_pods(job, here, replicas=1) as (again,):
        assert again.wait() != 0
        assert "RendezvousTimeoutError" in again.log
        assert "is done" not in again.log
