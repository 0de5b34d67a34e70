"""Settings that a user adds to ``slurm.conf``: what the daemons die of, found before a node starts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.slurm_parameters import (
    ACCOUNTING_STORAGE_TYPE,
    AUTO_RESUME_SETTINGS,
    COMMA_LISTS,
    OWNED_BY_HYPERPOD,
    PARAMETERS,
    TRES,
    TRES_KINDS,
)
from hyperpod_model.faults import Fault

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_TRES = re.compile(r"(?P<kind>[A-Za-z]+)/[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)?")
_RESOURCE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_NEEDS_DATABASE = ("gres/", "license/", "bb/")
_KNOWN = {name.lower(): name for name in PARAMETERS}
_ALIKE = 0.85


def check_slurm_settings(settings: Mapping[str, Any], *, accounting: bool | None = None) -> list[Fault]:
    """Find settings that keep ``slurmctld`` from starting, take something from HyperPod, or do nothing.

    Names are compared without regard to case, as Slurm does.

    Args:
        settings: Values by parameter; values that are not text, such as ``UNKNOWN``, are let pass.
        accounting: Whether a database keeps the accounting. Default: as ``AccountingStorageType`` says, if
            it is among the settings; else nothing that depends on it is judged.

    Returns:
        Faults with the parameter as path.
    """
    faults: list[Fault] = []
    spelled: dict[str, str] = {}
    for name, value in settings.items():
        wrong = _check_name(name, spelled)
        faults += wrong
        if isinstance(value, str) and not any(fault.severity == "error" for fault in wrong):
            faults += _check_value(name, value)
    return [*faults, *_check_accounting(settings, accounting)]


def _check_name(name: str, spelled: dict[str, str]) -> list[Fault]:
    key = name.lower()
    if key in spelled:
        return [
            Fault((name,), f"is the same parameter as '{spelled[key]}', which Slurm takes once; keep one")
        ]
    spelled[key] = name
    if not _NAME.fullmatch(name):
        return [Fault((name,), f"needs the name of a parameter of slurm.conf, letters only, got '{name}'")]
    known = _KNOWN.get(key)
    if known is None:
        (*alike,) = difflib.get_close_matches(key, _KNOWN, n=1, cutoff=_ALIKE)
        if not alike:
            return []
        message = (
            f"is no parameter of Slurm 22.05, and slurmctld stops at a parameter that it does not know; "
            f"write {_KNOWN[alike[0]]}, unless a later version has this one"
        )
        return [Fault((name,), message, "warning")]
    if known in OWNED_BY_HYPERPOD:
        return [Fault((name,), f"is HyperPod's to write: {OWNED_BY_HYPERPOD[known]}; leave it out")]
    if known == "Include":
        return [Fault((name,), "is no parameter; give the settings of that file here")]
    return []


def _check_value(name: str, value: str) -> list[Fault]:
    known = _KNOWN.get(name.lower(), name)
    if not value.strip():
        return [Fault((name,), "is empty; give a value, or leave it out")]
    if "\n" in value or "\r" in value:
        return [Fault((name,), f"must be one line, got {value!r}; what follows would be another parameter")]
    if "#" in value:
        return [
            Fault(
                (name,), f"must have no '#', where a comment begins in slurm.conf, got '{value}'; remove it"
            )
        ]
    quoted = len(value) > 1 and value[0] == value[-1] == '"'
    text = value[1:-1] if quoted else value
    if '"' in text:
        return [Fault((name,), f"must be quoted as a whole or not at all, got '{value}'; correct it")]
    if known in COMMA_LISTS:
        return _check_list(name, known, text)
    if not quoted and re.search(r"\s", text):
        return [
            Fault(
                (name,),
                f"has a blank, behind which slurmctld expects another parameter and stops, got '{value}'; "
                f"separate the values with commas, or quote all of it: '\"{value}\"'",
            )
        ]
    needed = AUTO_RESUME_SETTINGS.get(known)
    if needed is not None and value.lower() != needed:
        message = f"takes auto-resume from jobs, which needs {needed}, got '{value}'; leave it out"
        return [Fault((name,), message, "warning")]
    return []


def _check_list(name: str, known: str, text: str) -> list[Fault]:
    members = text.split(",")
    wrong = next((found[0] for found in (re.search(r"[;|+\s]", text),) if found), None)
    if wrong is not None:
        right = ",".join(part for part in re.split(r"[;|+,\s]+", text) if part)
        shown = "a blank" if wrong.isspace() else f"'{wrong}'"
        return [
            Fault(
                (name,),
                f"is a list with commas and nothing else between, got {shown} in '{text}'; write {right}",
            )
        ]
    if not all(members):
        return [Fault((name,), f"has an empty member, got '{text}'; leave out the comma")]
    if known == "AccountingStorageTRES":
        return [fault for member in members for fault in _check_tres(name, member)]
    if known == "GresTypes":
        return [
            Fault(
                (name,),
                f"takes names alone, such as gpu, got '{member}'; counts and devices stand on the nodes",
            )
            for member in members
            if not _RESOURCE.fullmatch(member)
        ]
    return []


def _check_tres(name: str, member: str) -> list[Fault]:
    if member.lower() in TRES:
        return []
    found = _TRES.fullmatch(member)
    if found is not None and found["kind"].lower() in TRES_KINDS:
        return []
    kinds = ", ".join(sorted(TRES_KINDS))
    first, _, rest = re.sub(r"[:=.]", "/", member).partition("/")
    way_out = f"write {first}/{rest}" if first.lower() in TRES_KINDS and rest else "such as gres/gpu"
    if re.fullmatch(r"gpus?", member, re.IGNORECASE):
        way_out = "write gres/gpu"
    return [
        Fault(
            (name,),
            f"needs kind and name with '/' between ({kinds}) or one of {', '.join(sorted(TRES))}, got "
            f"'{member}', at which slurmctld stops; {way_out}",
        )
    ]


def _check_accounting(settings: Mapping[str, Any], accounting: bool | None) -> list[Fault]:
    by_name = {
        _KNOWN.get(name.lower(), name): (name, value)
        for name, value in settings.items()
        if isinstance(value, str)
    }
    stored = by_name.get("AccountingStorageType")
    if accounting is None and stored is not None:
        accounting = stored[1].lower() == ACCOUNTING_STORAGE_TYPE
    if accounting is not False:
        return []
    faults = []
    tres = by_name.get("AccountingStorageTRES")
    if tres is not None and any(
        member.lower().startswith(_NEEDS_DATABASE) for member in re.split(r"[,;\s]+", tres[1].strip('"'))
    ):
        faults.append(
            Fault(
                (tres[0],),
                f"needs an accounting database, without which slurmctld stops at '{tres[1]}'; switch "
                "accounting on, or leave this out",
            )
        )
    enforce = by_name.get("AccountingStorageEnforce")
    if enforce is not None and enforce[1].lower() not in ("0", "none"):
        faults.append(
            Fault(
                (enforce[0],),
                f"needs an accounting database, got '{enforce[1]}' without one; switch accounting on, or "
                "leave this out",
            )
        )
    return faults
