"""One value of a job's manifests, and why it is that."""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """One value of a job's manifests, and why it is that.

    Attributes:
        name: What it is called there.
        value: What it is.
        why: Why, in words.
    """

    name: str
    value: str
    why: str
