"""The command as a process: what it loads, and how it takes pipes, interrupts and terminals."""

from __future__ import annotations

import dataclasses
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from hyperpod_model.command_line.parser import UsageError
from hyperpod_policy.command.reviewing import Task, reports

COMMAND = (sys.executable, "-m", "hyperpod_policy.command")
PROBE = """
import sys
from hyperpod_policy.command import main
code = main({arguments!r})
sys.stderr.write(" ".join(sys.modules))
sys.exit(code)
"""


def _modules(folder, *arguments):
    ran = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran, set(ran.stderr.split())


@pytest.mark.parametrize("output_format", ["text", "json", "sarif", "markdown"])
def test_a_review_loads_neither_the_cdk_nor_what_its_format_does_not_need(
    save, folder, unversioned, output_format
):
    # Rules of Prometheus are YAML within the template: whoever has some needs a reader.
    resources = unversioned["Resources"]
    for name in [one for one in resources if resources[one]["Type"].startswith("AWS::APS::")]:
        del resources[name]
    save("t.json", unversioned)
    ran, modules = _modules(folder, "t.json", "--format", output_format)
    assert ran.returncode == 1
    heavy = {
        "aws_cdk",
        "jsii",
        "cfnlint",
        "jinja2",
        "jsonschema",
        "pydantic",
        "yaml",
        "multiprocessing",
        "boto3",
    }
    assert not modules & heavy
    assert ("rich" in modules) == (output_format == "text")


def test_help_and_version_load_no_rules(folder):
    for option in ("--help", "--version"):
        _, modules = _modules(folder, option)
        assert "hyperpod_policy.registry" not in modules


def test_a_reader_that_stops_early_is_no_error(save, folder, unversioned):
    save("t.json", unversioned)
    process = subprocess.Popen(
        [*COMMAND, "t.json", "--format", "json", "--verbose"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + signal.SIGPIPE, b"")


def test_an_interrupt_ends_it_without_a_traceback(save, folder, template):
    for number in range(600):
        save(f"many/t{number}.json", template)
    process = subprocess.Popen(
        [*COMMAND, "many", "--jobs", "2"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A shell starts what it leaves in the background with interrupts ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    _wait_for_children(process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.decode()) == (130, "hyperpod-review: interrupted\n")


def _wait_for_children(process):
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    for _ in range(600):
        with open(children) as file:
            if file.read().split():
                return
        time.sleep(0.01)
    raise AssertionError("no process was started")


def test_several_processes_give_the_report_of_one(save, folder, unversioned):
    for number in range(6):
        unversioned["Description"] = f"template {number}"
        save(f"many/t{number}.json", unversioned)
    one, several, every = (
        subprocess.run([*COMMAND, "many", "-f", "json", *more], cwd=folder, capture_output=True, check=False)
        for more in ([], ["-j", "3"], ["-j", "0"])
    )
    assert one.returncode == several.returncode == every.returncode == 1
    assert one.stdout == several.stdout == every.stdout
    files = [finding["file"] for finding in json.loads(one.stdout)["findings"]]
    assert files == [f"many/t{number}.json" for number in range(6)]


@dataclasses.dataclass(frozen=True)
class _Killed(Task):
    def report(self):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_told():
    tasks = [_Killed((), frozenset(), ()), Task((), frozenset(), ())]
    with pytest.raises(UsageError, match="was ended from outside, perhaps for lack of memory; use fewer"):
        list(reports(tasks, jobs=2))


def test_standard_input_is_reviewed(folder, unversioned):
    ran = subprocess.run(
        [*COMMAND, "-", "-q"],
        cwd=folder,
        input=json.dumps(unversioned),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stdout.startswith("<stdin>:1: error: BucketVersioning: ")


def _on_a_terminal(folder, *arguments, columns=60, **environment):
    """Run with standard output and error on a terminal, and return what it shows."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdout=child,
        stderr=child,
        stdin=subprocess.DEVNULL,
        env={
            **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")},
            "TERM": "xterm",
            "COLUMNS": str(columns),
            "LINES": "24",
            **environment,
        },
    )
    os.close(child)
    shown = b""
    while True:
        ready, _, _ = select.select([parent], [], [], 60)
        try:
            piece = os.read(parent, 65536) if ready else b""
        except OSError:  # Linux says so when the other end of a terminal is closed
            piece = b""
        if not piece:
            break
        shown += piece
    os.close(parent)
    process.wait(timeout=60)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_and_wrapped_lines(save, folder, unversioned):
    save("t.json", unversioned)
    coloured = _on_a_terminal(folder, "t.json")
    assert "\x1b[1;31merror: " in coloured
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = _on_a_terminal(folder, "t.json", **quiet)
        assert "\x1b" not in plain
        assert max(len(line) for line in plain.splitlines()) <= 60


def test_colours_are_forced_into_a_pipe(save, folder, unversioned):
    save("t.json", unversioned)
    ran = subprocess.run(
        [*COMMAND, "t.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "FORCE_COLOR": "1"},
    )
    assert "\x1b[1;31merror: " in ran.stdout


def test_a_bar_counts_many_templates_on_a_terminal(save, folder, template):
    for number in range(8):
        save(f"many/t{number}.json", template)
    save("one/t.json", template)
    assert "reviewing" in _on_a_terminal(folder, "many")
    assert "reviewing" not in _on_a_terminal(folder, "one")
    assert "reviewing" not in _on_a_terminal(folder, "many", "--quiet")


def test_what_the_terminal_cannot_show_is_escaped(save, folder, unversioned):
    unversioned["Parameters"] = {"Ünit": {"Type": "String", "AllowedValues": ["Suspended", "Off"]}}
    unversioned["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"] = {
        "Status": {"Ref": "Ünit"}
    }
    save("t.json", unversioned)
    ran = subprocess.run(
        [*COMMAND, "t.json", "-q"],
        cwd=folder,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert ran.returncode == 1
    assert b"parameter \\xdcnit is" in ran.stdout
