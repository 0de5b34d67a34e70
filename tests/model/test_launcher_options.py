"""Options of launchers, as commands say them."""

from __future__ import annotations

import pytest

from hyperpod_model.launcher_options import assigned_variables, find_options, options_of


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (
            ["--nnodes=2", "--nproc-per-node", "8", "a.py", "--nnodes=9"],
            {"nnodes": "2", "nproc_per_node": "8"},
        ),
        (["-t3", "--nnodes=2", "a.py"], {"t": "3", "nnodes": "2"}),
        (["-t", "3", "-r=1", "a.py"], {"t": "3", "r": "1"}),
        (["-r0:1,1:2", "a.py"], {"r": "0:1,1:2"}),
        (["--standalone", "--virtual-local-rank", "--tee=3", "a.py"], None),
        (["--inprocess-restart", "--tee", "1", "-m", "a", "--tee=3"], None),
        (["--tee=1", "--nnodes=2", "--tee=3"], {"nnodes": "2", "tee": "3"}),
        (["--nnodes=2", "--", "a.py", "--tee=3"], {"nnodes": "2"}),
        (["--rdzv-conf", "a=b"], {"rdzv_conf": "a=b"}),
        (["--nnodes"], {"nnodes": ""}),
        ([], {}),
    ],
)
def test_options_end_where_the_script_begins(words: list[str], values: dict[str, str] | None) -> None:
    found = options_of(words)
    assert found.is_all
    if values is None:
        assert found.values["tee"] in ("1", "3")
    else:
        assert found.values == values
        assert list(found.values) == list(values)


@pytest.mark.parametrize("word", ["$@", "$*", "$ARGS", "${ARGS}", "${ARGS:-}", "$(AGENT_OPTIONS)"])
def test_a_variable_may_hold_further_options(word: str) -> None:
    assert not options_of(["--nnodes=2", word, "a.py"]).is_all


@pytest.mark.parametrize("word", ["$HOME/a.py", "/a/$NAME.py", "a.py"])
def test_a_script_s_path_may_have_a_variable(word: str) -> None:
    assert options_of(["--nnodes=2", word]).is_all


@pytest.mark.parametrize(
    "words",
    [
        ["hyperpodrun", "--tee=3", "a.py"],
        ["/opt/bin/hyperpodrun", "--tee=3"],
        ["tini", "--", "env", "A=1", "hyperpodrun", "--tee=3", "a.py"],
        ["bash", "-c", "exec hyperpodrun --tee=3 a.py"],
        ["bash", "-ec", "cd /a && export B=1\nexec hyperpodrun \\\n  --tee=3 \\\n a.py | cat"],
    ],
)
def test_a_launcher_is_found(words: list[str]) -> None:
    found = find_options(words, launcher="hyperpodrun")
    assert found is not None
    assert found.values == {"tee": "3"}
    assert found.is_all


def test_options_behind_a_command_of_their_own_are_not_seen() -> None:
    found = find_options(
        ["bash", "-c", "exec hyperpodrun --nnodes=$(cat n) --tee=3 a.py"], launcher="hyperpodrun"
    )
    assert found is not None
    assert not found.is_all


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["/start.sh"],
        ["torchrun", "a.py"],
        ["bash", "-c", "/opt/hyperpodrun.sh --x"],
        ["bash", "-c", "a 'open"],
    ],
)
def test_none_is_seen(words: list[str]) -> None:
    assert find_options(words, launcher="hyperpodrun") is None


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["env", "A=1", "hyperpodrun", "a.py"], {"A": "1"}),
        (["bash", "-c", "export A=1 B='2 3'\nC=4 exec hyperpodrun a.py"], {"A": "1", "B": "2 3", "C": "4"}),
        (["hyperpodrun", "--tee=3", "a.py"], {}),
    ],
)
def test_variables_of_a_command(words: list[str], found: dict[str, str]) -> None:
    assert assigned_variables(words) == found
