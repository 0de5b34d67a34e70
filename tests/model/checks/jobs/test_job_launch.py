from __future__ import annotations

from typing import Any

from plain_jobs import ELASTIC, HYPERPOD, Case, table_tests


def command(*words: str, **changes: Any) -> dict[str, Any]:
    return {"script": None, "command": list(words)} | changes


CASES = [
    Case({"script": None}, ("script",), "is required: the training script in the image, or command"),
    Case({"script": ""}, ("script",), "must be the path of a file in the image, got ''"),
    Case({"script": "train.py --lr 1"}, ("script",), "must be a path alone.*script_args"),
    Case({"command": ["python", "a.py"]}, ("command",), "excludes script"),
    Case(command("python", "a.py", script_args=["--lr"]), ("script_args",), "put them into command"),
    Case(command("torchrun a.py"), ("command", 0), "by no shell, .* make each word an item"),
    Case(command("/bin/sh", "-c", "cd /a && torchrun a.py"), ("command",), "does not hand SIGTERM on"),
    Case(
        command("bash", "start.sh"),
        ("command",),
        "does not hand SIGTERM on.*begin the last command with exec",
    ),
    Case(command("torchrun", "a.py", **HYPERPOD), ("command",), "must start hyperpodrun"),
    Case(command("hyperpodrun", "a.py"), ("command",), "waits for the HyperPod operator"),
    Case(
        command("torchrun", "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)", "a.py"),
        ("command", 1),
        "needs MASTER_ADDR, which the operator sets only in jobs with a master.*fails at start",
    ),
    Case(
        command("bash", "-c", "exec torchrun --rdzv-endpoint=$MASTER_ADDR:1 a.py"),
        ("command", 2),
        "needs MASTER_ADDR",
    ),
    Case(
        command("torchrun", "--nnodes=2", "a.py"),
        ("command", 1),
        "wins over what the operator says.*--nnodes",
        "warning",
    ),
    Case(
        command("torchrun", "--nnodes=2", "a.py", **ELASTIC),
        ("command", 1),
        "so that --nnodes holds for good",
    ),
    Case(command("torchrun", "--nproc_per_node", "8", "a.py"), ("command", 1), "--nproc_per_node", "warning"),
    Case(
        command("/usr/bin/python3.12", "-u", "a.py"),
        ("command",),
        "starts one process in each of 2 pods.*replace '/usr/bin/python3.12' by 'torchrun', or give script",
        "warning",
    ),
]
LEGAL = [
    {"script_args": ["--config", "/fsx/a b.yaml"]},
    {"script": "train.py"},
    command("torchrun", "a.py"),
    command("python", "-m", "train", "--nnodes-in-name"),
    command("python", "-m", "torch.distributed.run", "a.py"),
    command("python", "start.py", "torchrun", "a.py"),
    command("python", "a.py", nodes=1),
    command("python", "a.py", rendezvous="master"),
    command("sh", "-c", "cd /a && exec torchrun a.py"),
    command("hyperpodrun", "--nproc-per-node=8", "a.py", **HYPERPOD),
    command("torchrun", "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)", "a.py", rendezvous="master"),
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
