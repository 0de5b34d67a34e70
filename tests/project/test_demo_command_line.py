"""The demo runs the CDK CLI: its output kept, its progress read, its processes ended."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import cdk_command
import pytest
from cdk_command import CdkCommand
from hyperpod_demo.command_line import CommandLine, DemoError, deployment_stage
from hyperpod_demo.interrupts import Interrupts
from hyperpod_demo.progress import Step


@pytest.fixture
def interrupts() -> Interrupts:
    return Interrupts()


@pytest.fixture
def command_line(interrupts: Interrupts) -> CommandLine:
    return CommandLine(CdkCommand(environment=os.environ), interrupts)


def stand_in(path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program in the CLI's place."""
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(0o755)
    monkeypatch.setattr(cdk_command, "CDK", path)


@pytest.mark.parametrize(
    ("line", "stage"),
    [
        (
            "hyperpod-a |  3/75 | 7:44:02 AM | CREATE_COMPLETE | AWS::EC2::VPC | HyperPodStack/Network (N)",
            "3 of 74 resources",
        ),
        ("hyperpod-a | 121/125 | 7:44:30 AM | CREATE_IN_PROGRESS | AWS::IAM::Role |", "121 of 124 resources"),
        (
            "hyperpod-a | 125/125 | 7:44:31 AM | CREATE_COMPLETE | AWS::CloudFormation::Stack |",
            "124 of 124 resources",
        ),
        ("hyperpod-a: start: Publishing LifecycleScripts/Upload/Asset1 (current)", "publishing assets"),
        ("hyperpod-a: creating CloudFormation changeset...", "creating the change set"),
        ("HyperPodStack (hyperpod-a): deploying... [1/1]", None),
        ("HyperPodStack.Ratio = 3/75 | of all", None),
    ],
)
def test_progress_of_a_deployment_is_read_from_what_the_cli_says(line: str, stage: str | None) -> None:
    assert deployment_stage(f"{line}\n") == stage


def test_all_output_is_in_the_log_and_the_step_knows_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_line: CommandLine
) -> None:
    stand_in(tmp_path / "cdk", "import sys\nprint(sys.argv[1:])\nprint('a |  3/75 | x')", monkeypatch)
    step, log = Step("deploy"), tmp_path / "folder" / "deploy.log"
    command_line.run("deploy", "A", log=log, step=step, stage=deployment_stage)
    assert log.read_text() == "['--no-notices', 'deploy', 'A']\na |  3/75 | x\n"
    assert str(step) == "deploy: 3 of 74 resources"


def test_a_failure_shows_the_end_of_the_log_and_where_the_rest_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_line: CommandLine
) -> None:
    body = "print('\\n'.join(f'line {n}' for n in range(100)))\nraise SystemExit(3)"
    stand_in(tmp_path / "cdk", body, monkeypatch)
    log = tmp_path / "deploy.log"
    with pytest.raises(DemoError, match="'cdk deploy' ended with code 3") as failure:
        command_line.run("deploy", log=log)
    assert str(log) in str(failure.value)
    assert str(failure.value).splitlines()[-1] == "    line 99"
    assert "line 74" not in str(failure.value)
    assert "line 0" in log.read_text()


_WITH_A_CHILD = """\
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_cli_and_what_it_started(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interrupts: Interrupts,
    command_line: CommandLine,
    number: signal.Signals,
) -> None:
    stand_in(tmp_path / "cdk", _WITH_A_CHILD, monkeypatch)
    log = tmp_path / "deploy.log"

    def interrupt() -> None:
        until = time.monotonic() + 10
        while (not log.exists() or "\n" not in log.read_text()) and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    with interrupts:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            command_line.run("deploy", log=log)
    thread.join()
    assert interrupts.number == number
    for pid in log.read_text().split():
        assert not runs(int(pid))


def runs(pid: int) -> bool:
    """Tell whether a process goes on; a killed one whose parent has yet to look may be there for a moment."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        state = Path(f"/proc/{pid}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.01)
    return True


def test_an_interrupt_waits_until_what_is_made_can_be_ended(interrupts: Interrupts) -> None:
    reached: list[str] = []

    def make() -> None:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append("the end")

    with interrupts, pytest.raises(KeyboardInterrupt):
        make()
    assert reached == ["the end"]


def test_further_interrupts_do_not_disturb_the_clean_up(interrupts: Interrupts) -> None:
    cleaned = False
    with interrupts:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            cleaned = True
    assert cleaned
    assert interrupts.number == signal.SIGINT


def test_handlers_of_signals_are_as_before_afterwards(interrupts: Interrupts) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with interrupts:
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
