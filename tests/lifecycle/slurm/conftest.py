"""Two clusters that the tests of a file share: one as it comes, one with GPUs as generic resources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from local_slurm import LocalSlurm


def _mended(slurm: LocalSlurm) -> LocalSlurm:
    """The cluster as every test finds it: no job, and all nodes idle."""
    slurm.run("scancel", "--user=" + slurm.user, "--signal=KILL", "--full", check=False)
    slurm.run("scancel", "--user=" + slurm.user)
    slurm.mend()
    return slurm


@pytest.fixture(scope="module")
def _plain() -> Iterator[LocalSlurm]:
    with LocalSlurm(nodes=5) as slurm:
        yield slurm


@pytest.fixture(scope="module")
def _with_gpus() -> Iterator[LocalSlurm]:
    # With a default of memory, as many clusters have it: of the 1000 MB that a node has.
    parameters = ["SelectTypeParameters=CR_CPU_Memory", "DefMemPerNode=100"]
    with LocalSlurm(nodes=6, gpus=8, parameters=parameters) as slurm:
        yield slurm


@pytest.fixture
def plain(_plain: LocalSlurm) -> LocalSlurm:
    """Five nodes without generic resources, where an allocation can change."""
    return _mended(_plain)


@pytest.fixture
def with_gpus(_with_gpus: LocalSlurm) -> LocalSlurm:
    """Six nodes with eight GPUs each, as on HyperPod: a job that lost a node is requeued."""
    return _mended(_with_gpus)
