"""Reboot, replace, or leave alone: what a node's faults ask for, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hyperpod_lifecycle.operations.node_health import NodeHealth, SeenFault
from hyperpod_model.catalog.repairs import (
    CONDITION_REPAIRS,
    HEALTH_STATUS_REPAIRS,
    REASON_KINDS,
    REPAIR_TEXTS,
)
from hyperpod_model.catalog.xids import (
    CHECKED_ON,
    RECOVERY_ACTION_XID,
    RECOVERY_ACTIONS,
    UNUSED_XIDS,
    XID_KINDS,
    XIDS,
    Repair,
    XidKind,
)

_ORDER: Final[tuple[Repair, ...]] = ("replace", "reboot", "restart_job", "nothing")
_XID: Final = re.compile(r"\bxid\b(?:\s+error)?\s*(?:\([^)]*\))?\s*[:=#]?\s*(\d{1,4})\b", re.IGNORECASE)
_DCGM: Final = re.compile(r"\"?ErrNum\"?\s*:\s*(\d{1,4})\b")
_HARDWARE_RESET: Final = frozenset({"RESET_GPU", "RESTART_BM", "RESTART_VM"})
REPAIR_WORDS: Final[dict[Repair, str]] = {
    "replace": "replace the node",
    "reboot": "reboot the node",
    "restart_job": "restart the job; the node may stay",
    "nothing": "nothing to do",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one fault says.

    Attributes:
        fault: The fault, in words.
        source: Who said so.
        repair: What it asks for; None where it does not say.
        why: Why.
    """

    fault: str
    source: str
    repair: Repair | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do.

    Attributes:
        repair: What; None where nothing known says.
        evidence: What led there.
    """

    repair: Repair | None
    evidence: tuple[Evidence, ...]

    @property
    def words(self) -> str:
        """What to do, in words."""
        if self.repair is not None:
            return REPAIR_WORDS[self.repair]
        if self.evidence:
            return "nothing known says what to do: run deep health checks, or look at the node's logs"
        return "no fault is known of it: nothing to do"


def advise(
    faults: Iterable[SeenFault], *, health: NodeHealth | None = None, rebooted: bool = False
) -> Advice:
    """Say what the faults of a node ask for: the most thorough repair that one of them needs.

    Args:
        faults: What is wrong.
        health: What the orchestrator says. Default: nothing.
        rebooted: Whether the node, or the job, was restarted for this before, and it came back.
    """
    evidence = list(_of_health(health))
    seen = [*faults, *(health.faults if health is not None else ())]
    for fault in dict.fromkeys(seen):
        evidence += _of_fault(fault, rebooted=rebooted)
    asked = {one.repair for one in evidence}
    return Advice(
        repair=next((repair for repair in _ORDER if repair in asked), None),
        evidence=tuple(dict.fromkeys(evidence)),
    )


def xids_in(text: str) -> tuple[int, ...]:
    """Return the Xids that a line names, as the driver, the health agent and DCGM write them.

    Args:
        text: Such as ``NVRM: Xid (PCI:0000:b9:00): 79, pid=<unknown>``.
    """
    return tuple(dict.fromkeys(int(code) for code in (*_XID.findall(text), *_DCGM.findall(text))))


def _of_health(health: NodeHealth | None) -> Iterator[Evidence]:
    if health is None or health.state not in HEALTH_STATUS_REPAIRS:
        return
    repair = HEALTH_STATUS_REPAIRS[health.state]
    yield Evidence(
        fault=health.state, source="HyperPod", repair=repair, why=f"HyperPod's checks ask to {repair} it"
    )


def _of_fault(fault: SeenFault, *, rebooted: bool) -> Iterator[Evidence]:
    text = fault.text
    judged = [
        *_of_condition(fault, rebooted=rebooted),
        *_of_texts(text),
    ]
    codes = xids_in(text)
    judged += [_of_xid(code, text, rebooted=rebooted) for code in codes]
    if not codes:
        judged += _of_reason(text, rebooted=rebooted)
    if not judged:
        judged = [(None, "it is not in the catalog of faults")]
    for repair, why in judged:
        yield Evidence(fault=text, source=fault.source, repair=repair, why=why)


def _of_condition(fault: SeenFault, *, rebooted: bool) -> Iterator[tuple[Repair | None, str]]:
    for name, fact in CONDITION_REPAIRS.items():
        if not re.search(rf"\b{name}\b", fault.text):
            continue
        repair = fact.assuming(because="the doubt is told beside the advice")
        doubt = "" if fact.doubt is None else f" (not certain: {fact.doubt})"
        if repair == "reboot" and rebooted:
            yield "replace", f"{name} asks for a reboot, which did not help"
        else:
            yield repair, f"{name} asks to {repair} it{doubt}"


def _of_texts(text: str) -> Iterator[tuple[Repair | None, str]]:
    for known in REPAIR_TEXTS:
        if known.contains in text:
            yield known.repair, known.words


def _of_reason(text: str, *, rebooted: bool) -> Iterator[tuple[Repair | None, str]]:
    for name, fact in REASON_KINDS.items():
        if re.search(rf"\b{name}\b", text):
            kind = XID_KINDS[fact.assuming(because="the doubt is told beside the advice")]
            doubt = "" if fact.doubt is None else f" (not certain: {fact.doubt})"
            yield _needs(kind, rebooted=rebooted), f"{name}: {kind.means}{doubt}"


def _of_xid(code: int, text: str, *, rebooted: bool) -> tuple[Repair | None, str]:
    if code == RECOVERY_ACTION_XID:
        asked = [action for action in RECOVERY_ACTIONS if f"({action})" in text.rpartition(" to ")[2]]
        if asked:
            return RECOVERY_ACTIONS[asked[0]], f"Xid {code}: the driver asks for '{asked[0]}'"
    xid = XIDS.get(code)
    if xid is None:
        listed = (
            "NVIDIA lists it as unused"
            if code in UNUSED_XIDS
            else f"it is not in NVIDIA's catalog of {CHECKED_ON}"
        )
        return None, f"Xid {code}: {listed}, so that nothing follows from it"
    repair = _needs(xid.kind, rebooted=rebooted)
    nvidia = "" if xid.immediate is None else f"; NVIDIA: {xid.immediate}, then {xid.investigatory}"
    once = (
        "; a reboot may bring the GPU back for a while"
        if repair == "replace" and xid.immediate in _HARDWARE_RESET and not rebooted
        else ""
    )
    return repair, f"Xid {code}: {xid.description}; {xid.kind.name}: {xid.kind.means}{nvidia}{once}"


def _needs(kind: XidKind, *, rebooted: bool) -> Repair | None:
    return kind.again if rebooted else kind.first
