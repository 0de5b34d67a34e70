"""How the findings read in a terminal, and in a pipe."""

from __future__ import annotations

import pytest
from preflight_account import MADE
from preflight_asked import situation

from hyperpod_lifecycle.preflight.findings import About
from hyperpod_lifecycle.preflight.report import text_of

ABOUT = About("quota")
LONG = "it is 0, 16 needed and what is used by others is not known to anybody who could be asked"
COMMAND = (
    "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-00000001 "
    "--desired-value 16"
)


def written(*findings, columns=None, colour=False):
    return text_of(situation(MADE), findings, has_colour=colour, columns=columns).splitlines()


def test_a_pipe_gets_a_line_for_each_finding():
    lines = written(ABOUT.problem("p5", LONG, remedy=f"ask for 16: {COMMAND}"), ABOUT.ok("m5", "it\nholds"))
    assert lines[:2] == [
        f"problem      quota: p5: {LONG}; ask for 16: {COMMAND}",
        "ok           quota: m5: it holds",
    ]
    assert len(lines) == 3


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_terminal_gets_lines_that_fit(columns):
    way_out = "name a larger subnet, " * 9
    found = [
        ABOUT.problem("p5", LONG, remedy=way_out),
        ABOUT.cannot_tell("p5", LONG),
        ABOUT.not_applicable(LONG),
    ]
    lines = written(*found, columns=columns)
    assert all(len(line) <= columns for line in lines)
    assert " ".join(" ".join(lines).split()).count(LONG) == 3


def test_the_way_out_stands_apart():
    lines = written(ABOUT.problem("p5", "it is 0", remedy="ask\nfor it"), columns=80)
    assert lines[:2] == ["problem      quota: p5: it is 0", "             -> ask for it"]


def test_further_lines_are_indented():
    lines = written(ABOUT.cannot_tell("p5", LONG), columns=60)
    assert lines[0].startswith("cannot tell  quota: p5: it is 0")
    assert lines[1].startswith(" " * 13 + "by others")


@pytest.mark.parametrize(
    ("way_out", "lines"),
    [
        (COMMAND, [f"             -> {COMMAND}"]),
        (f"ask for 16: {COMMAND}", ["             -> ask for 16:", f"                {COMMAND}"]),
        (f"see '{COMMAND}'", [f"             -> see '{COMMAND}'"]),
        ("see 'aws eks list-clusters'", ["             -> see 'aws eks list-clusters'"]),
    ],
)
def test_a_command_stays_whole(way_out, lines):
    assert written(ABOUT.problem("p5", "it is 0", remedy=way_out), columns=80)[1:-1] == lines


def test_colour_takes_no_columns():
    plain = written(ABOUT.cannot_tell("p5", LONG), columns=60)
    coloured = written(ABOUT.cannot_tell("p5", LONG), columns=60, colour=True)
    assert [line.replace("\x1b[33m", "").replace("\x1b[0m", "") for line in coloured] == plain
