from __future__ import annotations

import pytest

from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import launch_of


def _launch(command, args=()):
    return launch_of(Container((), {"command": list(command), "args": list(args)}))


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        (["torchrun", "a.py"], "torchrun"),
        (["/opt/conda/bin/torchrun"], "torchrun"),
        (["python3.12", "-u", "-m", "torch.distributed.run"], "torchrun"),
        (["python", "-m", "torch.distributed.launch"], "torchrun"),
        (["hyperpodrun"], "hyperpodrun"),
        (["env", "A=1", "torchrun"], "torchrun"),
        (["tini", "-g", "--", "hyperpodrun"], "hyperpodrun"),
        (["bash", "-c", "A=1 B='2 3' exec hyperpodrun a.py"], "hyperpodrun"),
        (["bash", "-euo", "pipefail", "-c", "set -x; torchrun a.py"], "torchrun"),
        (["bash", "-e", "+o", "posix", "--rcfile", "/x", "-c", "torchrun a.py"], "torchrun"),
        (["/usr/bin/env", "bash", "-c", "torchrun a.py"], "torchrun"),
        (["sh", "-c", "if [ -f a ]; then torchrun a.py; fi"], "torchrun"),
        (["sh", "-c", "for i in 1 2\ndo torchrun a.py && break; done"], "torchrun"),
        (["timeout", "3600", "hyperpodrun", "a.py"], "hyperpodrun"),
        (["nice", "-n", "5", "hyperpodrun", "a.py"], "hyperpodrun"),
        (["nsys", "profile", "-o", "/x", "torchrun", "a.py"], "torchrun"),
        (["conda", "run", "-n", "a", "torchrun", "a.py"], "torchrun"),
        (["python", "a.py", "torchrun"], None),
        (["./start", "torchrun"], None),
        (["sh", "-ec", "true && torchrun a.py || exit 1"], "torchrun"),
        (["python", "train.py", "-m", "torch.distributed.run"], None),
        (["python", "-m", "pytest"], None),
        (["sh", "-c", "# torchrun a.py\n/bin/true"], None),
        (["sh", "-c", "echo 'torchrun a.py'"], None),
        ([], None),
    ],
)
def test_the_launcher_is_found(command, launcher):
    assert _launch(command).launcher == launcher


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (
            ["--nnodes=2", "--nproc-per-node", "8", "a.py", "--nnodes=9"],
            {"nnodes": "2", "nproc_per_node": "8"},
        ),
        (["--standalone", "a.py"], {"standalone": ""}),
        (["--rdzv-conf", "a=b", "-m", "pkg", "--x"], {"rdzv_conf": "a=b", "m": ""}),
        (
            ["--inprocess-restart", "--shutdown-timeout=5", "a.py"],
            {"inprocess_restart": "", "shutdown_timeout": "5"},
        ),
        (["--nnodes"], {"nnodes": ""}),
    ],
)
def test_options_end_where_the_script_begins(words, options):
    assert _launch(["torchrun"], words).options == options


def test_lines_that_go_on_are_one_command():
    script = "cd /app\nexec torchrun \\\n  --nnodes=2 \\\n  a.py\n"
    launch = _launch(["bash", "-c", script])
    assert launch.options == {"nnodes": "2"}
    assert launch.replaces_shell
    assert not launch.alone


@pytest.mark.parametrize("script", ["'open", 'echo "', "/start.sh", ""])
def test_a_script_that_cannot_be_read_is_said_to_be_so(script):
    launch = _launch(["bash", "-c", script])
    assert launch.is_shell
    assert not launch.is_readable


def test_a_wrapper_leaves_the_launcher_its_options():
    launch = _launch(["timeout", "-k", "9", "3600", "torchrun", "--nnodes=2", "a.py"])
    assert launch.options == {"nnodes": "2"}
    assert launch.reaches_launcher
