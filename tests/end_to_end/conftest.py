"""Ordered steps on one double of AWS for each file.

The tests of a file with the mark ``steps_of_one_story`` go on where the one before ended. After one that
failed the others say so instead of failing for odd reasons.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from cdk_command import CDK, CdkCommand

from aws_double.running import Running, running

FAILED = pytest.StashKey[str]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a file keeps assemblies and logs."""
    return tmp_path_factory.mktemp("end_to_end")


@pytest.fixture(scope="module")
def pace() -> float:
    """Seconds that the double waits before each resource; a file may have its own."""
    return 0.0


@pytest.fixture(scope="module")
def double(folder: Path, pace: float) -> Iterator[Running]:
    """The double of a file."""
    with running(folder=folder, pace=pace) as started:
        yield started


@pytest.fixture(scope="module")
def cdk(double: Running) -> CdkCommand:
    """The CDK CLI, talking to the double."""
    return CdkCommand(environment=double.environment)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests where the CDK CLI, or the bootstrap template in it, is not installed."""
    if not CDK.exists():
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(pytest.mark.skip(reason="needs the CDK CLI, which `make setup` installs"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse to go on after a step that failed."""
    module = item.getparent(pytest.Module)
    failed = None if module is None else module.stash.get(FAILED, None)
    if failed is not None and item.get_closest_marker("steps_of_one_story"):
        pytest.fail(f"not tried: {failed}, a step before, failed", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    module = item.getparent(pytest.Module)
    if report.failed and module is not None and FAILED not in module.stash:
        module.stash[FAILED] = item.name
    return report


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "steps_of_one_story: each test of the file goes on after the last one")
