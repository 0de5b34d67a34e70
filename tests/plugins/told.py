"""Compares what the API tells of a resource with what was asked for."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
import read_back
from botocore.exceptions import ClientError
from local_resources import create, delete, update
from read_back import READERS

from aws_double.resource import Resource
from aws_double.session import Session

for _module in pkgutil.iter_modules(read_back.__path__, f"{read_back.__name__}."):
    importlib.import_module(_module.name)

_WITHOUT_DEFAULT = {"Tags", "Description"}


def assert_told(session: Session, made: Resource) -> None:
    """Every property that was asked for is told as it was asked for."""
    told = READERS[made.type](session, made.physical_id, made.properties)
    assert {name: told.get(name) for name in made.properties} == made.properties


def assert_gone(session: Session, made: Resource) -> None:
    """The API has no such resource any more."""
    with pytest.raises((ClientError, ValueError)):  # refused by id, or not found among its kind
        READERS[made.type](session, made.physical_id, made.properties)


def live(session: Session, kind: str, *versions: dict[str, Any]) -> None:
    """Let a resource come, change in place from version to version, and go, and look at it each time."""
    first, *later = versions
    made = create(session, kind, **first)
    assert_told(session, made)
    for version in later:
        made = update(session, made, **version)
        assert_told(session, made)
        told = READERS[kind](session, made.physical_id, version)
        assert not (_WITHOUT_DEFAULT - version.keys()) & told.keys()
    delete(session, made)
    assert_gone(session, made)
