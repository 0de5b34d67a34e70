"""What becomes of every mutant of the hardened templates."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from assemblies import assembly_of, spec_of
from mutants.generating import mutants_of
from mutants.judging import Judge
from mutants.neutral import Outcome, neutral_changes, sorted_out

TABLE = Path(__file__).parent / "neutral.yaml"


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Outcome]:
    """Reviews every mutant of an example's template."""

    def judge(example: str, orchestrator: str) -> Outcome:
        spec = spec_of(example)
        folder = assembly_of(spec, tmp_path_factory.mktemp(orchestrator))
        text = (folder / "HyperPodStack.template.json").read_text(encoding="utf-8")
        body: dict[str, Any] = json.loads(text)
        judging = Judge(body, spec.region)
        killers = {mutant.label: judging.killer(mutant) for mutant in mutants_of(body)}
        return sorted_out(killers, neutral_changes(TABLE, orchestrator))

    return judge
