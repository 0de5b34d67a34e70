"""The page on resuming: its snippet with PyTorch runs, and what it says is so."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from killed_training import LIBRARY
from training_environment import PROGRAMS, needs_torchrun

from hyperpod_lifecycle.training import LocalKey, read_records
from hyperpod_lifecycle.training.crash_loop import (
    CRASH_LOOP_EXIT_CODE,
    CRASH_LOOP_PATTERN,
    NOTICE_NAME,
    STATE_NAME,
)
from hyperpod_lifecycle.training.finite_checks import NOT_FINITE_PATTERN
from hyperpod_lifecycle.training.recovery_records import HEARTBEAT_NAME
from hyperpod_lifecycle.training.saves_in_flight import INTERVAL_PATTERN
from hyperpod_lifecycle.training.step_times import SLOW_RANK_PATTERN, SLOWER_PATTERN
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "resume.md").read_text(encoding="utf-8")
SNIPPET = DOCS / "snippets" / "with_torch" / "resume.py"


def test_the_snippet_is_shown():
    assert SNIPPET.read_text(encoding="utf-8").strip() in PAGE


@needs_torchrun
def test_the_snippet_trains_and_goes_on(tmp_path: Path):
    LocalKey.generate(tmp_path / "signing-key")
    command = [PROGRAMS / "torchrun", "--standalone", "--nproc_per_node=2", SNIPPET, tmp_path]
    environment = {**os.environ, "PYTHONPATH": LIBRARY, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    for _ in range(2):
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180)
        assert run.returncode == 0, run.stderr
    lines = list(read_records(tmp_path / "recovery"))
    assert [line["step"] for line in lines if line["kind"] == "save"] == [9, 19, 24]
    assert [line["reason"] for line in lines if line["kind"] == "end"] == ["done", "done"]


def test_stages_and_words_are_those_of_the_code():
    assert re.findall(r"^\| `(\w+)` \| .* \| .* \|$", PAGE, re.MULTILINE)[-6:] == [
        stage.name for stage in RECOVERY_STAGES
    ]
    for word in (
        CRASH_LOOP_PATTERN,
        NOT_FINITE_PATTERN,
        INTERVAL_PATTERN,
        SLOW_RANK_PATTERN,
        SLOWER_PATTERN,
        NOTICE_NAME,
        STATE_NAME,
        HEARTBEAT_NAME,
        f"code {CRASH_LOOP_EXIT_CODE}",
    ):
        assert f"{word}" in PAGE, word
