"""What each mechanism of HyperPod requires, put together from the catalog's facts."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from hyperpod_model.catalog._tables import Table, fact, table
from hyperpod_model.catalog.fact import Claim, Fact

_WAY: Final = re.compile(
    r"(?P<name>\w+)(?:\[(?P<key>[^]]+)\])?(?:\((?P<argument>\w+)\))?(?:\.(?P<member>\w+))?"
)


class Requirement(NamedTuple):
    """One thing that a mechanism requires.

    Attributes:
        item: What has to be right, such as ``Kubernetes``.
        text: How it has to be.
        source: Where that was read.
        checked_on: When, as ISO 8601 date or month.
        doubt: Why it must not be relied on silently. None if it may.
        claims: What each source says, in words, where sources disagree.
    """

    item: str
    text: str
    source: str
    checked_on: str
    doubt: str | None
    claims: tuple[Claim[str], ...]


class Mechanism(NamedTuple):
    """Something that HyperPod can do.

    Attributes:
        name: Such as ``tiered-checkpointing``.
        title: How to call it.
        requirements: What it requires.
    """

    name: str
    title: str
    requirements: tuple[Requirement, ...]


@cache
def mechanisms() -> tuple[Mechanism, ...]:
    """Return all mechanisms with their requirements."""
    owner = table("prerequisites")
    return tuple(
        Mechanism(
            row["name"], row["title"], tuple(_requirement(found, owner) for found in row["requirements"])
        )
        for row in owner["mechanisms"]
    )


def _requirement(row: Mapping[str, Any], owner: Table) -> Requirement:
    found = _fact(row["fact"]) if "fact" in row else fact(row["item"], row, owner)
    text = row.get("text", "{value}")
    return Requirement(
        item=row["item"],
        text=_said(text, found.assuming(because="the doubt is passed on")),
        source=row.get("source", found.source),
        checked_on=row.get("checked_on", found.checked_on),
        doubt=found.doubt,
        claims=tuple(claim._replace(value=_said(text, claim.value)) for claim in found.claims),
    )


def _fact(reference: str) -> Fact[Any]:
    """Return what a reference such as ``versions:MIN_VPC_CNI`` names, as a fact of its table."""
    module_name, _, way = reference.partition(":")
    match = _WAY.fullmatch(way)
    if match is None:
        raise ValueError(f"no such reference to the catalog: {reference!r}")
    module = importlib.import_module(f"hyperpod_model.catalog.{module_name}")
    if module_name == "cluster_rules":
        found: Any = module.rule(match["name"])
    else:
        found = getattr(module, match["name"])
    if match["key"] is not None:
        found = found[match["key"]]
    if match["argument"] is not None:
        found = found(match["argument"])
    if match["member"] is not None:
        found = getattr(found, match["member"])
    if isinstance(found, Fact):
        return found
    owner = table(module_name)
    return Fact(reference, found, source=owner["source"], checked_on=owner["checked_on"])


def _said(text: str, value: Any) -> str:
    return text.format(value=_Shown(value))


class _Shown:
    """A value that formats itself in words, and so do its elements."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, position: int) -> _Shown:
        return _Shown(self._value[position])

    def __str__(self) -> str:
        return _words(self._value)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_words(item)}" for key, item in value.items())
    if hasattr(value, "service") and hasattr(value, "purpose"):
        return str(value.service)
    if isinstance(value, tuple | list) and type(value).__str__ is object.__str__:
        return ", ".join(map(_words, value))
    return str(value)
