"""A double in this process, for the tests of its parts."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator

os.environ.setdefault("MOTO_ACCOUNT_ID", "111122223333")  # moto reads it when it is imported

import pytest
from fake_account import FakeAccount, fake_types
from moto.server import ThreadedMotoServer

import aws_double.resources
import aws_double.services
from aws_double.session import Session

REGION = "us-west-2"


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """Address of the double."""
    for package in (aws_double.resources, aws_double.services):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            install = getattr(importlib.import_module(module.name), "install", None)
            if install is not None:
                install()
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def root(endpoint: str) -> Session:
    """The account's root."""
    return Session(endpoint=endpoint, region=REGION)


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    """An account without services, where the fake types are the only ones."""
    with fake_types():
        yield FakeAccount()
