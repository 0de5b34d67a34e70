"""The command in a folder of its own, run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hyperpod_policy.command import main


class Ran(NamedTuple):
    """What the command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rule_ids(self) -> list[str]:
        return [finding["rule_id"] for finding in self.json["findings"]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, without what would change colours."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def save(folder: Path) -> Callable[[str, Any], Path]:
    """Write text, or anything else as JSON, to a file in the working directory."""

    def write(name: str, content: Any) -> Path:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return Path(name)

    return write


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command."""
    del folder

    def invoke(*arguments: str) -> Ran:
        code = main(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return invoke


@pytest.fixture
def unversioned(template: dict[str, Any]) -> dict[str, Any]:
    """A template with one finding, an error of BucketVersioning on Checkpoints."""
    del template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    return template
