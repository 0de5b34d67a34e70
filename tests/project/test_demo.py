"""The demo as a program, with a stand-in of the CDK CLI: that it reaches the double only, and leaves nothing.

`make demo` in the continuous integration runs all of it with the real CLI.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hyperpod_demo.keeping import SETTINGS

ROOT = Path(__file__).parents[2]
REQUEST = "examples/clusters/llm-train-request.json"
REAL_ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
    "AWS_PROFILE": "production",
    "AWS_REGION": "eu-west-1",
    "AWS_SESSION_TOKEN": "someone",
    "CDK_DEFAULT_ACCOUNT": "999999999999",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "npm_config_no_proxy": "example.com",
}
LEADS_ELSEWHERE = REAL_ACCOUNT.keys() - {"AWS_ACCESS_KEY_ID", "AWS_REGION", "CDK_DEFAULT_ACCOUNT"}

CDK = """\
import json, os, sys, time
from pathlib import Path
command, folder = sys.argv[2], Path(__file__).parent
call = {"arguments": sys.argv[2:], "environment": dict(os.environ)}
(folder / f"{command}.json").write_text(json.dumps(call))
if command == "synth":
    assembly = Path(sys.argv[sys.argv.index("--output") + 1])
    (assembly / "validation-report.json").write_text('{"pluginReports": [{"suppressedViolations": [1, 2]}]}')
if command == "deploy":
    print("a |  3/75 | x")
    print("a |  3/75 | CREATE_FAILED | because", file=sys.stderr)
    raise SystemExit(1)
"""
WAITS = """\
import os, sys, time
if sys.argv[2] == "synth":
    print(os.getpid(), flush=True)
    time.sleep(60)
"""
# Plays somebody who stops the double beside the demo, which then asks it for the cluster.
STOPS = """\
import os, socket, sys, time
from pathlib import Path
from urllib.parse import urlsplit
if sys.argv[2] == "synth":
    assembly = Path(sys.argv[sys.argv.index("--output") + 1])
    (assembly / "validation-report.json").write_text('{"pluginReports": []}')
if sys.argv[2] == "deploy":
    Path(os.environ["CDK_HOME"]).with_name("double.env").unlink()
    place = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    while not socket.socket().connect_ex((place.hostname, place.port)):
        time.sleep(0.1)
"""
PROGRAM = """\
import sys
from pathlib import Path
import cdk_command
cdk_command.CDK = Path(sys.argv.pop(1))
from hyperpod_demo.__main__ import main
sys.exit(main())
"""


class DemoProgram:
    """The demo as a process of its own, with a program in the place of the CLI."""

    def __init__(self, folder: Path) -> None:
        self.cdk = folder / "cdk"
        self.folder = folder / "demo"

    def start(self, *arguments: str, cdk: str, **environment: str) -> subprocess.Popen[str]:
        self.cdk.write_text(f"#!{sys.executable}\n{cdk}")
        self.cdk.chmod(0o755)
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.cdk), "--folder", str(self.folder), *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, cdk: str = CDK, **environment: str) -> tuple[int, str]:
        process = self.start(*arguments, cdk=cdk, **environment)
        told, _ = process.communicate(timeout=60)
        return process.returncode, told

    def call(self, command: str) -> Any:
        """With which arguments and environment the CLI's stand-in was called."""
        return json.loads((self.cdk.parent / f"{command}.json").read_text())


@pytest.fixture
def demo(tmp_path: Path) -> DemoProgram:
    return DemoProgram(tmp_path)


def test_a_failed_deployment_is_told_and_nothing_leads_to_a_real_account(demo: DemoProgram) -> None:
    code, told = demo.run("--cluster", "examples/clusters/llm-train.yaml", **REAL_ACCOUNT)

    assert code == 1
    assert "synthesize HyperPodStack and validate it: no open finding, 2 acknowledged" in told
    assert "deploy HyperPodStack: 3 of 74 resources, not finished" in told
    assert f"all of which is in {demo.folder / 'cluster' / 'deploy.log'}:" in told
    assert "    a |  3/75 | CREATE_FAILED | because" in told
    assert "Traceback" not in told
    for command in ("synth", "bootstrap", "deploy"):
        environment = demo.call(command)["environment"]
        assert environment["AWS_ENDPOINT_URL"].startswith("http://127.0.0.1:")
        assert environment["AWS_ACCESS_KEY_ID"] == "root"
        assert environment["AWS_REGION"] == environment["CDK_DEFAULT_REGION"] == "us-west-2"
        assert environment["CDK_DEFAULT_ACCOUNT"] == "111122223333"
        assert environment["CDK_VALIDATION"] == "true"
        assert not environment.keys() & LEADS_ELSEWHERE
        assert not [name for name in environment if name.startswith("AWS_ENDPOINT_URL_")]
        assert not listens(environment["AWS_ENDPOINT_URL"])
    assert demo.call("bootstrap")["arguments"][1] == "aws://111122223333/us-west-2"


def test_synthesis_alone_needs_no_aws_whatever_it_is(demo: DemoProgram) -> None:
    context = ("--context", "region=us-west-2", "--context", "availability_zone_id=usw2-az2")
    code, told = demo.run("--synth-only", "--cluster", REQUEST, *context, **REAL_ACCOUNT)

    assert code == 0, told
    assert "note: VpcConfig.Subnets[0]" in told
    environment = demo.call("synth")["environment"]
    assert not {name for name in environment if name.startswith("AWS_ENDPOINT")}
    assert "AWS_ACCESS_KEY_ID" not in environment
    assert environment["AWS_CONFIG_FILE"] == environment["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert not (demo.cdk.parent / "deploy.json").exists()
    arguments = demo.call("synth")["arguments"]
    assert f"cluster={REQUEST}" in arguments
    assert {"region=us-west-2", "availability_zone_id=usw2-az2"} <= set(arguments)


def test_faults_of_a_cluster_are_told_before_anything_starts(demo: DemoProgram) -> None:
    code, told = demo.run("--cluster", REQUEST)
    assert code == 1
    assert "error: VpcConfig (line 4): the network has to be made" in told
    assert "make demo CONTEXT=" in told
    assert not demo.folder.exists()


def test_context_has_a_name_and_a_value(demo: DemoProgram) -> None:
    code, told = demo.run("--context", "us-west-2")
    assert code == 2
    assert "must be NAME=VALUE, got 'us-west-2'; with make: make demo CONTEXT=" in told


def test_nothing_to_stop_is_said(demo: DemoProgram) -> None:
    assert demo.run("--stop") == (0, "No double was left running.\n")


def listens(endpoint: str) -> bool:
    place = urlsplit(endpoint)
    try:
        socket.create_connection((place.hostname, place.port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("keep", [(), ("--keep",)], ids=["usual", "keep"])
def test_an_interrupt_to_all_of_its_group_leaves_nothing(demo: DemoProgram, keep: tuple[str, ...]) -> None:
    process = demo.start("--cluster", "examples/clusters/llm-train.yaml", *keep, cdk=WAITS)
    assert process.stdout is not None
    log = demo.folder / "cluster" / "synth.log"
    told = ""
    while "synthesize" not in told:
        told += process.stdout.readline()
        assert process.poll() is None, told
    until = time.monotonic() + 30
    while not (log.exists() and log.read_text().endswith("\n")):
        assert time.monotonic() < until
        time.sleep(0.01)
    code, second = demo.run("--synth-only")
    assert code == 1
    assert "error: another demo uses" in second

    os.killpg(process.pid, signal.SIGINT)

    rest, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    assert "Stopped, and the double with it." in rest
    (endpoint,) = [word for word in told.split() if word.startswith("http://127.0.0.1:")]
    assert not listens(endpoint)
    assert not (demo.folder / SETTINGS).exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(int(log.read_text()), 0)


def test_a_double_that_is_stopped_meanwhile_is_an_error_in_words(demo: DemoProgram) -> None:
    process = demo.start("--keep", "--cluster", "examples/clusters/small-existing-network.yaml", cdk=STOPS)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "error: the double of AWS answers no more; was it stopped?" in told
    assert "The double goes on" not in told
    assert "Traceback" not in told


def test_a_double_left_by_a_failed_demo_is_stopped_by_the_next_one(demo: DemoProgram) -> None:
    code, told = demo.run("--keep", "--cluster", "examples/clusters/llm-train.yaml")
    assert code == 1
    endpoint = demo.call("deploy")["environment"]["AWS_ENDPOINT_URL"]
    assert f"The double goes on at {endpoint}" in told
    assert f". {demo.folder / SETTINGS}" in told
    assert "cdk deploy HyperPodStack -c cluster=examples/clusters/llm-train.yaml" in told
    assert listens(endpoint)

    code, told = demo.run("--synth-only", "--cluster", "examples/clusters/llm-train.yaml")

    assert code == 0
    assert "Stopped the double that an earlier demo left running." in told
    assert not listens(endpoint)
