"""One version, said everywhere alike."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def newest_version(changelog: str) -> str:
    """Version of the first heading, such as ``## 1.2.0`` or ``## [1.2.0] - 2026-11-29``."""
    heading = re.search(r"^## \[?(\d+\.\d+\.\d+)\]?(?: .*)?$", changelog, re.MULTILINE)
    if heading is None:
        raise ValueError("no heading of the changelog names a version")
    return heading[1]


def test_the_changelog_begins_with_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert newest_version((ROOT / "CHANGELOG.md").read_text()) == project["version"]


def test_the_installed_version_is_the_one_in_the_sources() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version(project["name"]) == project["version"]


def test_the_newest_heading_counts() -> None:
    assert newest_version("# Changelog\n\n## [0.2.0] - 2026-11-29\n\n## 0.1.0\n") == "0.2.0"


def test_a_changelog_without_versions_fails() -> None:
    with pytest.raises(ValueError, match="names a version"):
        newest_version("# Changelog\n\nNothing yet.\n")
