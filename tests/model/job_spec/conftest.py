from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_model.job_spec import LoadedJob, read_job


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str | bytes], LoadedJob]:
    """Read a job from text."""

    def _read(text: str | bytes) -> LoadedJob:
        file = tmp_path / "job.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_job(file)

    return _read


@pytest.fixture
def faults_in(read: Callable[[str | bytes], LoadedJob]) -> Callable[[str | bytes], tuple[Fault, ...]]:
    """Faults for which a text is refused; the test fails if it is not."""

    def _faults(text: str | bytes) -> tuple[Fault, ...]:
        with pytest.raises(InvalidInputError) as caught:
            read(text)
        return caught.value.faults

    return _faults
