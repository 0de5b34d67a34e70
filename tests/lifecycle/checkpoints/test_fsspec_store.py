from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError
from hyperpod_lifecycle.training.fsspec_store import FsspecStore

from .conftest import Place, fsspec_place, save


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return fsspec_place(tmp_path)


@pytest.mark.parametrize("operation", ["open", "find"])
def test_outage_is_no_verdict(place: Place, monkeypatch: pytest.MonkeyPatch, operation: str) -> None:
    save(place.open(), 1)

    def out(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "denied")

    monkeypatch.setattr(MemoryFileSystem, operation, out)
    for start_over in (False, True):
        with pytest.raises(CheckpointError, match=r"(reading|listing) .* in memory://.* failed: .*denied"):
            place.open().latest_complete(start_over=start_over)
    assert place.told("refused") == []


def test_outage_half_way_is_no_verdict(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save(place.open(), 1)
    real = MemoryFileSystem.open

    class Broken:
        def read(self, size: int) -> bytes:
            raise TimeoutError("timed out")

        def close(self) -> None: ...

    def opens(self: Any, path: str, *arguments: Any, **options: Any) -> Any:
        return Broken() if path.endswith("model.pt") else real(self, path, *arguments, **options)

    monkeypatch.setattr(MemoryFileSystem, "open", opens)
    with pytest.raises(CheckpointError, match=r"reading 'files/.*model.pt' in .* failed: timed out"):
        place.open().latest_complete()
    assert place.told("refused") == []
    monkeypatch.undo()
    assert place.open().latest_complete() == saved


def test_file_system_of_the_caller(tmp_path: Path) -> None:
    filesystem = fsspec.filesystem("local")
    store = FsspecStore(f"file://{tmp_path}/run42", filesystem=filesystem, staging=tmp_path)
    assert store.location == f"file://{tmp_path}/run42"
    assert store.steps() == []


def test_url_without_a_path() -> None:
    with pytest.raises(ValueError, match="a path of their own, got 'memory://'"):
        FsspecStore("memory://")
