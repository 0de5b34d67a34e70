"""What of the library needs PyTorch, in ranks of a real torchrun: `tests/plugins/torch_cases`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from torch_cases import HERE, run_cases
from training_environment import needs_torchrun

pytestmark = needs_torchrun

NAMES = re.findall(r'^            "(\w+)":', (HERE / "library.py").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("cases")
    return run_cases("library", folder, ranks=2) | run_cases("other_ranks", folder, ranks=1)


@pytest.mark.parametrize("name", [*NAMES, "one_goes_on_where_two_were"])
def test_case(told: dict[str, str], name: str):
    assert told[name] == ""


def test_all_cases_are_asked_for(told: dict[str, str]):
    assert set(told) == {*NAMES, "one_goes_on_where_two_were"}
