"""A double in this process, for the tests of its parts."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator
from threading import Thread

os.environ.setdefault("MOTO_ACCOUNT_ID", "111122223333")  # moto reads it when it is imported

import pytest
from fake_account import FakeAccount, fake_types
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

import aws_double.resources
import aws_double.services
from aws_double.beside_moto import BesideMoto
from aws_double.serving import Serving
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
    application = Serving(BesideMoto(DomainDispatcherApplication(create_backend_app)))
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="session")
def root(endpoint: str) -> Session:
    """The account's root."""
    return Session(endpoint=endpoint, region=REGION)


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    """An account without services, where the fake types are the only ones."""
    with fake_types():
        yield FakeAccount()
