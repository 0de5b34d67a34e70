"""A double that the demo leaves running is used through its file of settings, and ends with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hyperpod_demo.interrupts import Interrupts
from hyperpod_demo.keeping import SETTINGS, kept, settings_file, stop

from aws_double import ACCOUNT, LIMITS

ELSEWHERE = {
    "AWS_PROFILE": "production",
    "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:9",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
    "AWS_SESSION_TOKEN": "someone",
    "CDK_DEFAULT_ACCOUNT": "999999999999",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "npm_config_no_proxy": "example.com",
}
SHELLS = ["sh", "bash"]


def in_shell(shell: str, settings: Path, command: str, **environment: str) -> str:
    """What a command says in a shell that has read the settings."""
    told = subprocess.run(
        [shell, "-c", f". '{settings}'\n{command}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


def listens(endpoint: str) -> bool:
    place = urlsplit(endpoint)
    try:
        socket.create_connection((place.hostname, place.port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.fixture
def left(tmp_path: Path) -> Iterator[str]:
    """Address of a double that was left running."""
    with kept(folder=tmp_path, region="us-east-2", interrupts=Interrupts()) as endpoint:
        pass
    yield endpoint
    stop(tmp_path)


@pytest.mark.needs_system("sh")
def test_it_goes_on_for_other_programs_until_it_is_stopped(left: str, tmp_path: Path) -> None:
    assert listens(left)
    program = "import boto3; client = boto3.client('sts'); print(client.get_caller_identity()['Account'])"
    settings = tmp_path / SETTINGS
    said = in_shell("sh", settings, f'python -c "{program}"; echo $AWS_REGION', **ELSEWHERE)
    assert said.split() == [ACCOUNT, "us-east-2"]

    assert stop(tmp_path)

    assert not listens(left)
    assert not settings.exists()
    assert not stop(tmp_path)


def test_a_file_without_a_double_is_removed_and_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_text(settings_file({}))
    assert not stop(tmp_path)
    assert not (tmp_path / SETTINGS).exists()


def test_it_ends_when_the_demo_is_interrupted(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from hyperpod_demo.interrupts import Interrupts\n"
        "from hyperpod_demo.keeping import kept\n"
        "with Interrupts() as interrupts:\n"
        "    with kept(folder=Path(sys.argv[1]), region='us-west-2', interrupts=interrupts) as endpoint:\n"
        "        print(endpoint, flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyboardInterrupt" in ran.stderr
    assert ran.stdout.startswith("http://127.0.0.1:")
    assert not listens(ran.stdout.strip())
    assert not (tmp_path / SETTINGS).exists()


def test_a_signal_to_it_removes_its_file(tmp_path: Path) -> None:
    keeper = subprocess.Popen(
        [sys.executable, "-m", "hyperpod_demo.keeping", str(tmp_path), "us-west-2"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert keeper.stdout is not None
    endpoint = keeper.stdout.readline().strip()
    keeper.send_signal(signal.SIGTERM)
    keeper.communicate()
    assert not listens(endpoint)
    assert not (tmp_path / SETTINGS).exists()


@pytest.mark.needs_system(*SHELLS)
@pytest.mark.parametrize("shell", SHELLS)
def test_settings_leave_nothing_that_leads_elsewhere(tmp_path: Path, shell: str) -> None:
    settings = tmp_path / SETTINGS
    settings.write_text(settings_file({"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1"}))
    said = in_shell(shell, settings, "env", **ELSEWHERE, HOME="/home/some one").splitlines()
    names = {line.partition("=")[0] for line in said}
    assert not names & ELSEWHERE.keys()
    assert {name for name in names if name.startswith(("AWS_", "CDK_"))} == {"AWS_ENDPOINT_URL"}
    assert {"AWS_ENDPOINT_URL=http://127.0.0.1:1", "NO_PROXY=127.0.0.1", "HOME=/home/some one"} <= set(said)


def test_settings_say_what_a_double_does_not_show() -> None:
    assert all(f"# - {limit}\n" in settings_file({}) for limit in LIMITS)
