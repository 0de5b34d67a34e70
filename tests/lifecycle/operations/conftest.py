"""Operations against a stand-in for AWS's endpoints that answers what a test says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import botocore.loaders
import pytest
from aws_answers import AwsAnswers, answering, environment, usual

from hyperpod_lifecycle.operations.command import main

Said = Callable[..., "pytest.CaptureResult[str]"]


@pytest.fixture(autouse=True, scope="session")
def api_models_read_once() -> Iterator[None]:
    """Reading the API model of SageMaker anew takes most of the time of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.loaders, "create_loader", cache(botocore.loaders.create_loader))
        yield


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsAnswers]:
    """A healthy Slurm cluster; a test changes what is answered."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with answering(usual()) as kept:
        for name, value in environment(kept.endpoint).items():
            monkeypatch.setenv(name, value)
        yield kept


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that is the whole PATH, with a shell: what is not put there is not installed."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("sh", "cat", "sleep"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], programs: Path) -> Said:
    """Runs the command where no program is installed, and returns what it printed."""

    def run(*arguments: str, code: int = 0) -> pytest.CaptureResult[str]:
        assert main(arguments) == code, capsys.readouterr()
        return capsys.readouterr()

    return run
