"""The Makefile stays within GNU make 3.81, which is what macOS ships."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LATER_THAN_3_81 = {
    ".ONESHELL": r"^\.ONESHELL",
    ".SHELLFLAGS": r"^\.SHELLFLAGS",
    ".RECIPEPREFIX": r"^\.RECIPEPREFIX",
    "grouped targets": r"^[^\t#]*&:",
    "$(file)": r"\$[({]file\s",
    "$(let)": r"\$[({]let\s",
    "$(intcmp)": r"\$[({]intcmp\s",
    "$(guile)": r"\$[({]guile\s",
    "shell assignment": r"^[^\t#=]*!=",
    "POSIX assignment": r"^[^\t#=]*:::?=",
    "undefine": r"^undefine\s",
    "private": r"^[^\t#]*:\s*private\s",
    "define with an assignment": r"^define\s+\S+\s*[:+?]?=",
}
GNU_ONLY = {
    "sed -i without a suffix": r"\bsed\s+(-\w+\s+)*-i\s",
    "readlink -f": r"\breadlink\s+-f",
    "xargs -r": r"\bxargs\s+(-\w+\s+)*-\w*r",
    "find without a folder": r"\bfind\s+-",
    "find -printf": r"\bfind\b.*-printf",
    "cp --": r"\b(cp|ln|mkdir|touch|rm)\s+--",
    "[[": r"\[\[\s",
}


def faults_of(makefile: str) -> list[str]:
    return [
        name
        for name, pattern in (LATER_THAN_3_81 | GNU_ONLY).items()
        if re.search(pattern, makefile, re.MULTILINE)
    ]


def test_the_makefile_is_portable() -> None:
    assert faults_of((ROOT / "Makefile").read_text()) == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (".ONESHELL:", ".ONESHELL"),
        (".SHELLFLAGS = -ec", ".SHELLFLAGS"),
        ("a b &: c", "grouped targets"),
        ("X = $(file < y)", "$(file)"),
        ("X != date", "shell assignment"),
        ("X ::= y", "POSIX assignment"),
        ("undefine X", "undefine"),
        ("define X =", "define with an assignment"),
        ("\tsed -i s/a/b/ c", "sed -i without a suffix"),
        ("\treadlink -f x", "readlink -f"),
        ("\tls | xargs -r rm", "xargs -r"),
        ("\tif [[ -f x ]]; then :; fi", "[["),
    ],
)
def test_a_line_that_macos_cannot_run_is_found(line: str, fault: str) -> None:
    assert faults_of(f"all:\n{line}\n") == [fault]


@pytest.mark.needs_system("make")
def test_help_names_every_target() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    for target in set(phony[1].split()) - {"help"}:
        assert f"make {target} " in listed


@pytest.mark.needs_system("make")
def test_an_old_python_is_refused_in_words(tmp_path: Path) -> None:
    old = tmp_path / "python-too-old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    for name in ("Makefile", "requirements.txt", "pyproject.toml", "package.json", "package-lock.json"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    run = subprocess.run(
        ["make", "setup", f"PYTHON={old} no-such-python"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode != 0
    assert f"Python 3.11 or later is needed, and none of these is one: {old} no-such-python" in run.stderr
    assert not (tmp_path / ".venv").exists()
