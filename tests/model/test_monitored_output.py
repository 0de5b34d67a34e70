"""Which commands have a launcher write what log monitoring reads."""

from __future__ import annotations

import pytest

from hyperpod_model.monitored_output import MONITORED_OUTPUT_FLAG, begins_with_text, command_keeps_output


def kept(*options: str, **environment: str | None) -> bool | None:
    return command_keeps_output(["hyperpodrun", "--nnodes=2", *options, "a.py"], environment)


@pytest.mark.parametrize(
    "options",
    [
        [MONITORED_OUTPUT_FLAG],
        ["--tee=3"],
        ["--tee", "3"],
        ["--tee=1"],
        ["-t", "1"],
        ["-t3"],
        ["-t=3"],
        ["--te=3"],
        ["--t=3"],
        ["--redirects=1"],
        ["--redirect=3"],
        ["-r", "3"],
        ["-r0:1,1:2"],
        ["--tee=1:0,0:3"],
        ["--tee=2", "--redirects=1"],
        ["--tee=0", "--tee=1"],
        ["--tee=3", "--log-dir=/tmp/hyperpod"],
        ["--tee=3", "--log_dir", "/tmp/hyperpod"],
        ["--tee=3", "--logs-specs=default"],
        ["--tee=3", "$ARGS"],
    ],
    ids=" ".join,
)
def test_it_is_kept(options: list[str]) -> None:
    assert kept(*options) is True


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--tee=0"],
        ["--tee=2"],
        ["-r2"],
        ["--tee=1:1"],
        ["--tee=0:2,1:3"],
        ["--tee=0:1,0:0"],
        ["--tee=1", "--tee=2"],
        ["--tee=3", "-t", "0"],
        ["--tee=all"],
        ["--tee=4"],
        ["--tee="],
        ["--role=3"],
        ["--tee=3", "--log-dir=/dev/null"],
        ["--tee=3", "--log_d", "/dev/null"],
    ],
    ids=" ".join,
)
def test_it_is_not_kept(options: list[str]) -> None:
    assert kept(*options) is False


@pytest.mark.parametrize(
    "options",
    [
        ["--tee=$TEE"],
        ["--redirects", "$(KEEP)"],
        ["$ARGS"],
        ["--logs-specs=own"],
        ["--logs-specs=own", "-t3"],
    ],
    ids=" ".join,
)
def test_it_cannot_be_told(options: list[str]) -> None:
    assert kept(*options) is None


@pytest.mark.parametrize("words", [[], ["/start.sh"], ["python", "a.py"]])
def test_without_a_launcher_it_cannot_be_told(words: list[str]) -> None:
    assert command_keeps_output(words, {}) is None


@pytest.mark.parametrize(
    ("options", "environment", "found"),
    [
        ([], {"PET_TEE": "3"}, True),
        ([], {"PET_REDIRECTS": "0:1"}, True),
        ([], {"PET_TEE": "2", "PET_REDIRECTS": "2"}, False),
        (["--tee=0"], {"PET_TEE": "3"}, False),
        (["--tee=0"], {"PET_TEE": "0", "PET_REDIRECTS": "1"}, True),
        ([], {"PET_TEE": None}, None),
        (["--tee=1"], {"PET_TEE": None}, True),
        (["--tee=0"], {"PET_TEE": None}, False),
        ([], {"TEE": "3"}, False),
    ],
)
def test_variables_hold_where_options_do_not(
    options: list[str], environment: dict[str, str | None], found: bool | None
) -> None:
    assert kept(*options, **environment) is found


@pytest.mark.parametrize(
    "words",
    [
        ["env", "PET_TEE=3", "hyperpodrun", "a.py"],
        ["bash", "-c", "export PET_TEE=1; exec hyperpodrun a.py"],
        ["bash", "-c", "exec hyperpodrun -r 3 a.py"],
    ],
)
def test_a_command_may_set_the_variable(words: list[str]) -> None:
    assert command_keeps_output(words, {"PET_TEE": "0"}) is True


@pytest.mark.parametrize("pattern", ["step", "(step)", "(?:step|loss)", "(?i)step", "((?:a))", "2 a", "'a'"])
def test_a_pattern_that_begins_with_text(pattern: str) -> None:
    assert begins_with_text(pattern)


@pytest.mark.parametrize(
    "pattern", [".*step", "^step", r"\[step", r"\d+ step", "[a-z]", "(.*)step", "(?i).*a", ""]
)
def test_a_pattern_that_may_match_further_in(pattern: str) -> None:
    assert not begins_with_text(pattern)
