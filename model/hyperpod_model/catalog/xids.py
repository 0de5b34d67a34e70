"""NVIDIA's Xid errors: what each means, and which repair it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from hyperpod_model.catalog._tables import table

Repair = Literal["replace", "reboot", "restart_job", "nothing"]
"""What to do about a fault, the most thorough first."""

_TABLE = table("xids")


@dataclass(frozen=True, slots=True)
class XidKind:
    """What a number of Xids have in common. It is this project's reading of NVIDIA's actions.

    Attributes:
        name: Such as ``hardware``.
        means: In words.
        first: What to do; None where that depends on more than the Xid.
        again: What to do if the Xid comes back after that.
    """

    name: str
    means: str
    first: Repair | None
    again: Repair | None


@dataclass(frozen=True, slots=True)
class Xid:
    """An Xid error.

    Attributes:
        code: Its number.
        mnemonic: NVIDIA's name for it.
        description: In words.
        immediate: NVIDIA's resolution bucket for the immediate action, where there is one.
        investigatory: NVIDIA's resolution bucket for the investigation, where there is one.
        kind: What it is a fault of.
    """

    code: int
    mnemonic: str
    description: str
    immediate: str | None
    investigatory: str | None
    kind: XidKind


SOURCE: Final[str] = _TABLE["source"]
CHECKED_ON: Final[str] = _TABLE["checked_on"]

XID_KINDS: Final[Mapping[str, XidKind]] = MappingProxyType(
    {name: XidKind(name=name, **row) for name, row in _TABLE["kinds"].items()}
)

XIDS: Final[Mapping[int, Xid]] = MappingProxyType(
    {
        row[0]: Xid(**dict(zip(_TABLE["columns"], [*row[:-1], XID_KINDS[row[-1]]], strict=True)))
        for row in _TABLE["xids"]
    }
)
"""Those in use on Ampere and newer GPUs, by code."""

UNUSED_XIDS: Final[frozenset[int]] = frozenset(_TABLE["unused"])
"""Codes that NVIDIA lists as unused."""

RECOVERY_ACTIONS: Final[Mapping[str, Repair]] = MappingProxyType(_TABLE["recovery_actions"])
"""What the text of Xid 154 may ask for, and the repair that brings it about."""

RECOVERY_ACTION_XID: Final = 154
