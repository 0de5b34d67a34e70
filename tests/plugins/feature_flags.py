"""The feature flags that ``cdk init`` turns on, as the CDK itself lists them."""

from __future__ import annotations

import json
import tarfile
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

_LIST = "package/recommended-feature-flags.json"


@cache
def _flags() -> dict[str, Any]:
    (archive,) = (
        entry for entry in files("aws_cdk._jsii").iterdir() if entry.name.startswith("aws-cdk-lib@")
    )
    with archive.open("rb") as stream, tarfile.open(fileobj=stream, mode="r|gz") as members:
        for member in members:
            if member.name == _LIST and (content := members.extractfile(member)) is not None:
                flags: dict[str, Any] = json.load(content)
                return flags
    raise LookupError(f"{archive.name} has no {_LIST}")


@pytest.fixture(scope="session")
def recommended_feature_flags() -> dict[str, Any]:
    return _flags()
