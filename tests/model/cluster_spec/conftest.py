from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hyperpod_model.cluster_spec import LoadedCluster, load_cluster
from hyperpod_model.faults import Fault, InvalidInputError


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., LoadedCluster]:
    """Load a cluster from text."""

    def _load(text: str | bytes, **options: object) -> LoadedCluster:
        file = tmp_path / "cluster.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_cluster(file, **options)

    return _load


@pytest.fixture
def faults_in(load: Callable[..., LoadedCluster]) -> Callable[..., tuple[Fault, ...]]:
    """Faults for which a text is refused; the test fails if it is not."""

    def _faults(text: str | bytes, **options: object) -> tuple[Fault, ...]:
        with pytest.raises(InvalidInputError) as caught:
            load(text, **options)
        return caught.value.faults

    return _faults
