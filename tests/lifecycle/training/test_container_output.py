"""A recovery is printed in pods: once, whole, on the container's output, and without harm to training."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from first_process import FIRST_PROCESSES, as_first_process
from killed_training import LIBRARY
from training_environment import PROGRAMS, needs_linux, needs_torchrun

from hyperpod_lifecycle.training import RecoveryClock, RunRecords, container_output, read_records
from hyperpod_lifecycle.training.container_output import IN_PODS, PRINT_VARIABLE, prints_recoveries
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

WORKER = Path(__file__).parents[2] / "plugins" / "recovered_worker.py"
IN_A_POD = {IN_PODS: "10.100.0.1"}


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """The output of this process, as if what pytest puts in its place had been there from the beginning."""
    monkeypatch.setattr(container_output, "_CONTAINER_OUTPUT", "/nowhere")
    monkeypatch.setattr(container_output, "_FILE_AT_FIRST", container_output._at_first())
    return capfd


def environment(**said: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in (IN_PODS, PRINT_VARIABLE)}
    return {**kept, "PYTHONPATH": LIBRARY, "OMP_NUM_THREADS": "1", **said}


def recover(folder: Path, **options: Any) -> dict[str, Any]:
    """Recover from a start of 8 steps, and return the record of it."""
    for resumed, until in ((0, 8), (5, 10)):
        records = RunRecords(folder, job="llama", **options)
        clock = RecoveryClock(records, ranks=1, heartbeat_seconds=0.0)
        clock.initialized()
        clock.loaded(resumed, "disk")
        clock.data_ready()
        for step in range(resumed, until):
            clock.step_done(step)
        clock.end("done")
    return recovery_in(folder)


def recovery_in(folder: Path) -> dict[str, Any]:
    (told,) = [line for line in read_records(folder) if line["kind"] == "recovery" and line["complete"]]
    return told


def records_in(output: str) -> list[dict[str, Any]]:
    """The lines that are JSON, which is what Fluent Bit parses."""
    found = []
    for line in output.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def test_in_a_pod_the_complete_recovery_is_printed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(IN_PODS, "10.100.0.1")
    told = recover(tmp_path)
    text = output.readouterr().out
    assert records_in(text) == [told]
    assert [line for line in text.splitlines() if line] == [json.dumps(told, separators=(",", ":"))]
    assert (told["version"], told["kind"], told["complete"], told["steps_lost"]) == (1, "recovery", True, 3)


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ({}, False),
        (IN_A_POD, True),
        ({PRINT_VARIABLE: "1"}, True),
        (IN_A_POD | {PRINT_VARIABLE: "0"}, False),
    ],
)
def test_default(said: Mapping[str, str], printed: bool) -> None:
    assert prints_recoveries(said) is printed


@pytest.mark.parametrize("said", ["", "yes", "2"])
def test_another_word_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv(PRINT_VARIABLE, said)
    with pytest.raises(ValueError, match=f"TRAINING_PRINT_RECOVERIES must be 0 or 1, got '{said}'; unset"):
        RunRecords(tmp_path)


@pytest.mark.parametrize("wanted", [True, False])
def test_the_argument_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str], wanted: bool
) -> None:
    monkeypatch.setenv(PRINT_VARIABLE, "0" if wanted else "1")
    told = recover(tmp_path, print_recoveries=wanted)
    assert records_in(output.readouterr().out) == [told] * wanted


def test_a_record_that_cannot_be_kept_is_printed_all_the_same(
    tmp_path: Path, output: pytest.CaptureFixture[str]
) -> None:
    class Full:
        location = "full"

        def read(self, name: str) -> bytes | None:
            return json.dumps({"step": 7, "time": 1.0}).encode() if name == "last-step.json" else None

        def write(self, name: str, content: bytes) -> None:
            raise OSError("no space left")

        append = write

    clock = RecoveryClock(RunRecords(Full(), print_recoveries=True), ranks=1)
    clock.initialized()
    clock.loaded(8, "disk")
    clock.data_ready()
    clock.step_done(8)
    (told,) = records_in(output.readouterr().out)
    assert (told["kind"], told["steps_lost"]) == ("recovery", 0)


def test_seconds_are_written_without_exponents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]
) -> None:
    now = 1_000_000.0

    def clock() -> float:
        nonlocal now
        now += 0.00004
        return now

    recover(tmp_path, clock=clock, print_recoveries=True)
    (line,) = [line for line in output.readouterr().out.splitlines() if line]
    assert "e-" not in line
    assert set(json.loads(line)["seconds"]) == {stage.name for stage in RECOVERY_STAGES}


NOISE = """
import sys
for _ in range(3000):
    sys.stdout.write("noise without an end ")
    sys.stdout.flush()
"""
MANY = """
from hyperpod_lifecycle.training.container_output import print_line
for number in range(300):
    print_line(b'{"number":%d,"filling":"%s"}' % (number, b"x" * 600))
"""


def test_lines_are_whole_among_those_of_other_processes() -> None:
    read, write = os.pipe()
    programs = [
        subprocess.Popen([sys.executable, "-c", code], stdout=write, env=environment())
        for code in (NOISE, MANY, NOISE)
    ]
    os.close(write)
    with open(read) as stream:
        output = stream.read()
    assert [program.wait(timeout=60) for program in programs] == [0, 0, 0]
    assert [record["number"] for record in records_in(output)] == list(range(300))
    assert output.count("noise without an end ") == 6000


def test_one_write_a_line(monkeypatch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]) -> None:
    del output
    written: list[bytes] = []

    def write(_descriptor: int, content: bytes) -> int:
        written.append(content)
        return len(content)

    monkeypatch.setattr(os, "write", write)
    container_output.print_line(b"{}")
    assert written == [b"\n{}\n"]


def test_a_part_of_a_line_is_an_error(
    monkeypatch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]
) -> None:
    del output
    monkeypatch.setattr(os, "write", lambda _descriptor, _content: 1)
    with pytest.raises(OSError, match="only 1 of 4 bytes"):
        container_output.print_line(b"{}")


@pytest.mark.parametrize(
    ("way", "warning"),
    [
        ('exec "$@" >&-', "standard output is closed"),
        ('"$@" | true; exit ${PIPESTATUS[0]}', "Broken pipe"),
        ('exec "$@" >/dev/full', "No space left"),
    ],
)
def test_an_output_that_is_gone_does_not_harm_training(tmp_path: Path, way: str, warning: str) -> None:
    code = (
        "import logging, sys, time; logging.basicConfig(); sys.path.insert(0, sys.argv[1]); time.sleep(0.5)\n"
        "from recovered_worker import _start\n"
        "_start(sys.argv[2], 0, 8); _start(sys.argv[2], 5, 10)\n"
    )
    command = [sys.executable, "-c", code, str(WORKER.parent), str(tmp_path)]
    run = subprocess.run(
        ["bash", "-c", way, "bash", *command],
        env=environment(**IN_A_POD),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "could not print the record of a recovery" in run.stderr
    assert warning in run.stderr
    assert recovery_in(tmp_path)["steps_lost"] == 3


@pytest.mark.parametrize("said", [IN_A_POD, {PRINT_VARIABLE: "1"}])
def test_a_file_that_has_the_descriptor_of_a_closed_output_is_left_alone(
    tmp_path: Path, said: dict[str, str]
) -> None:
    code = (
        "import logging, os, sys; logging.basicConfig(); sys.path.insert(0, sys.argv[1])\n"
        "from recovered_worker import _start\n"
        "from hyperpod_lifecycle.training import container_output\n"
        "container_output._CONTAINER_OUTPUT = '/nowhere'\n"
        "os.close(1); other = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT); assert other == 1\n"
        "_start(sys.argv[2], 0, 8); _start(sys.argv[2], 5, 10)\n"
    )
    other = tmp_path / "weights"
    command = [sys.executable, "-c", code, str(WORKER.parent), str(tmp_path / "recovery"), str(other)]
    run = subprocess.run(
        command, env=environment(**said), capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "its descriptor is another file now" in run.stderr
    assert other.read_bytes() == b""
    assert recovery_in(tmp_path / "recovery")["steps_lost"] == 3


@needs_linux
@needs_torchrun
@pytest.mark.parametrize(
    "options",
    [[], ["--tee=3"], ["--tee=0:1"], ["--redirects=3"]],
    ids=["plain", "tee", "tee of log monitoring", "redirects"],
)
def test_under_a_real_torchrun_the_containers_output_has_one_line(tmp_path: Path, options: list[str]) -> None:
    folder = [f"--log-dir={tmp_path / 'logs'}"] if options else []
    torchrun = [PROGRAMS / "torchrun", "--standalone", "--nproc_per_node=2", *options, *folder]
    run = subprocess.run(
        [*as_first_process(), *torchrun, WORKER, tmp_path / "recovery"],
        env=environment(**IN_A_POD, GLOO_SOCKET_IFNAME="lo"),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert records_in(run.stdout) == [recovery_in(tmp_path / "recovery")]


@needs_linux
@pytest.mark.parametrize("start", FIRST_PROCESSES)
@pytest.mark.parametrize(("said", "elsewhere"), [(IN_A_POD, True), ({PRINT_VARIABLE: "1"}, False)])
def test_a_file_gets_the_line_itself_outside_of_pods(
    tmp_path: Path, said: dict[str, str], elsewhere: bool, start: str
) -> None:
    file = tmp_path / "output"
    first = '"$@" >"$0"; true'
    run = subprocess.run(
        [*FIRST_PROCESSES[start], "bash", "-c", first, file, sys.executable, WORKER, tmp_path / "recovery"],
        env=environment(**said),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    there, other = (run.stdout, file.read_text()) if elsewhere else (file.read_text(), run.stdout)
    assert records_in(there) == [recovery_in(tmp_path / "recovery")]
    assert records_in(other) == []
