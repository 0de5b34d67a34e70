"""The installed version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Final

_DISTRIBUTION: Final = "cdk-hyperpod"


def version() -> str:
    """Return the version of the installed distribution; ``0.0.0`` in a checkout that was never installed."""
    try:
        return installed_version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "0.0.0"
