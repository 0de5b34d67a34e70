"""Files that are read in further processes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys

import pytest

from hyperpod_model.command_line.parser import UsageError
from hyperpod_policy.command.processes import reader
from hyperpod_policy.sources import UnusableInputError, load
from hyperpod_policy.sources.reading import read

COMMAND = (sys.executable, "-m", "hyperpod_policy.command")
TEMPLATE = "Resources:\n  Topic{number}:\n    Type: AWS::SNS::Topic\n"
MANY = 24


def _many(save) -> None:
    for number in range(MANY):
        save(f"many/t{number:02}.yaml", TEMPLATE.format(number=number))


def _run(folder, *more):
    return subprocess.run(
        [*COMMAND, "many", "-f", "json", *more], cwd=folder, capture_output=True, text=True, check=False
    )


def test_what_is_read_and_its_order_are_the_same(save, folder):
    _many(save)
    save("many/t05.json", "{")
    save("many/zz.yaml", "a: 1\n")
    one, two = (load([folder / "many"], apply=reader(jobs)) for jobs in (1, 2))
    assert one == two
    assert len(two.documents) == MANY
    assert [document.line_of("Topic23") for document in two.documents][-1] == 2
    assert [limit.rpartition("/")[2] for limit in two.limits] == [
        "t05.json:1: is no JSON: Expecting property name enclosed in double quotes",
        "zz.yaml",
    ]


def test_a_broken_template_is_refused_alike(save, folder):
    _many(save)
    save("many/t11.yaml", TEMPLATE.format(number=1) + "  Topic1: {Type: AWS::SNS::Topic}\n")
    one, two = _run(folder), _run(folder, "-j", "2")
    assert (one.returncode, one.stdout, one.stderr) == (two.returncode, two.stdout, two.stderr)
    assert one.returncode == 2
    assert "many/t11.yaml:4: 'Topic1' is given twice" in two.stderr


def test_few_files_are_read_at_once(save, folder):
    file = save("t.yaml", TEMPLATE.format(number=1))
    found = reader(2)(lambda path: read(path), [file])  # which no other process could be given
    assert [len(item.values) for item in found] == [1]


def _dies(path):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_told(folder):
    with pytest.raises(UsageError, match="was ended from outside"):
        list(reader(2)(_dies, [folder] * 30))


@pytest.mark.parametrize("line", [None, 3])
def test_a_refusal_travels_between_processes(line):
    error = UnusableInputError("is \x07 wrong", file="a.yaml", line=line)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (UnusableInputError, str(error))
