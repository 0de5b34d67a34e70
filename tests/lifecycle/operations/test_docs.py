"""The page on operations shows commands, Python, actions and errors that there are."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path

import pytest
from aws_answers import CLUSTER_ARN, cluster, group, instance_id, node
from recorded_job import Job
from terminals import Terminal

import hyperpod_lifecycle.operations
from hyperpod_lifecycle.operations.command import main
from hyperpod_lifecycle.operations.command.arguments import parsed

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "operations.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
SOURCES = "".join(
    path.read_text() for path in Path(hyperpod_lifecycle.operations.__file__).parent.rglob("*.py")
)
ENDLESS = {"watch": ["--times", "1"], "drill": ["--timeout-minutes", "0.001", "--poll-seconds", "0.05"]}


@pytest.fixture
def as_on_the_page(aws, monkeypatch, programs, tmp_path):
    """A cluster with the nodes of the page, and a user who says yes."""
    named = node("workers", 3, InstanceId="i-0123456789abcdef0")
    other = node("workers", 4, PrivateDnsHostname="ip-10-1-2-3.us-west-2.compute.internal")
    nodes = [node("controller", 1), node("workers", 1), node("workers", 2), named, other]
    aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
    aws.answers["ListClusters"] = {"ClusterSummaries": []}
    for operation in ("BatchReplaceClusterNodes", "BatchRebootClusterNodes"):
        aws.answers[operation] = lambda request: {"Successful": request["NodeIds"]}
    for operation in ("StartClusterHealthCheck", "UpdateClusterSoftware"):
        aws.answers[operation] = {"ClusterArn": CLUSTER_ARN}
    monkeypatch.setattr("sys.stdin", Terminal(f"yes\n{instance_id('workers', 2)}\n"))
    monkeypatch.setattr("os.execvp", lambda *_: None)
    for name in ("aws", "session-manager-plugin"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    Job(tmp_path / "recovery", begins=time.time() - 60).train(0, 10)
    return aws


def test_there_are_commands_only():
    assert all(command.startswith("hyperpod-nodes ") for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_it_says(as_on_the_page, command, capsys, tmp_path):
    _, *arguments = shlex.split(command)
    options = parsed(arguments)
    if options.cluster == "llm-eks" or getattr(options, "kube_context", None) is not None:
        arn = "arn:aws:eks:us-west-2:111122223333:cluster/llm-eks"
        as_on_the_page.answers["DescribeCluster"] = cluster(
            Orchestrator={"Eks": {"ClusterArn": arn}}, InstanceGroups=[group("workers", 4)]
        )
    places = {"/fsx/llama/checkpoints/recovery": tmp_path / "recovery", "/fsx/llama/checkpoints": tmp_path}
    arguments = [str(places.get(one, one)) for one in arguments]
    if "s3://my-checkpoints/llama" in arguments:
        arguments[arguments.index("s3://my-checkpoints/llama")] = str(tmp_path)
    code = 1 if options.module == "drill" else 0  # nothing resumes here
    assert main([*arguments, *ENDLESS.get(options.module, [])]) == code, capsys.readouterr()
    assert capsys.readouterr().out or options.module == "logs"


def test_each_command_is_shown():
    assert {shlex.split(command)[1] for command in COMMANDS} == {
        "list", "watch", "advise", "replace", "reboot", "connect", "logs", "check",
        "update-software", "drill",
    }  # fmt: skip


def test_python_on_the_page_runs(as_on_the_page, capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == ["replace the node", f"() ['{instance_id('workers', 2)}']"]


def test_every_action_is_listed():
    listed = set(re.findall(r"`(\w+:[A-Z]\w+)`", PAGE.partition("## Actions that it needs")[2]))
    called = {
        f"{service}:{operation}"
        for service, operation in re.findall(r'\.(?:call|pages)\(\s*"(\w+)", "(\w+)"', SOURCES)
    } | {f"sagemaker:{name}" for name in re.findall(r'"(Batch\w+ClusterNodes)"', SOURCES)}
    permitted_by = {
        "s3:ListObjectsV2": "s3:ListBucket",
        "s3:ListMultipartUploads": "s3:ListBucketMultipartUploads",
    }
    needed = {permitted_by.get(action, action) for action in called}
    assert listed == needed | {"ssm:StartSession"}


@pytest.mark.parametrize(
    "words",
    re.findall(r"^\| `(.*?)` \|", PAGE.partition("## What an error means")[2], re.MULTILINE),
)
def test_an_error_on_the_page_is_one_that_is_said(words):
    begin = re.split(r"'[A-Z]|[A-Z]{4,}|sagemaker", words)[0].strip()
    assert begin
    assert begin in re.sub(r"\"\s*\n\s*f?\"", "", SOURCES)
