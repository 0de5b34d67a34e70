"""The ways of a trust map, as the page tells them in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from hyperpod_model.faults import dotted
from hyperpod_policy.trust_map.model import CERTAINTIES, Certainty, Evidence, Node, Step, TrustMap, Way
from hyperpod_policy.trust_map.text import words_of

_SHOWN: Final = 4
"""Actions of a step that are shown at once."""

MEANINGS: Final[dict[Certainty, str]] = {
    "yes": "the templates let it, and nothing in them refuses it",
    "undetermined": "depends on what is not in the templates, or is known at deployment only",
    "no": "the templates refuse it, whatever is outside them",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a way.

    Attributes:
        words: What it is, such as ``may write checkpoint bucket B``.
        actions: IAM actions or traffic; none where they were named before.
        more: Further ones, which are of less interest.
        statements: Numbers of the statements that let it, or refuse it.
        remarks: What else to know.
    """

    words: str
    actions: str
    more: tuple[str, ...]
    statements: tuple[int, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Road:
    """How somebody gets somewhere, or is kept from it.

    Attributes:
        certainty: Whether it is open.
        target: Where it leads.
        stages: Its steps.
    """

    certainty: Certainty
    target: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Traveller:
    """Somebody who acts, with all that is open and closed to them.

    Attributes:
        name: How to call them.
        note: What a reader must know of them.
        certainty: That of their surest road.
        roads: Where they get.
    """

    name: str
    note: str
    certainty: Certainty
    roads: tuple[Road, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """What lets a step, or refuses it.

    Attributes:
        number: What roads call it by, from 1.
        where: Resource and property.
        place: File and line; empty where neither is known.
        text: What it says.
    """

    number: int
    where: str
    place: str
    text: str


@dataclass(slots=True)
class Roads:
    """A trust map in words.

    Attributes:
        travellers: Who acts.
        statements: What lets them, or refuses it.
        targets: What leads to code on the nodes, and what getting there does.
        counts: How many roads there are of each certainty, with what that means.
    """

    travellers: tuple[Traveller, ...]
    statements: tuple[Statement, ...]
    targets: tuple[tuple[str, str], ...]
    counts: tuple[tuple[Certainty, int, str], ...]


@dataclass(slots=True)
class _Told:
    """What was said already: steps in full, and the numbers of what lets them."""

    steps: set[Step] = field(default_factory=set)
    numbers: dict[Evidence, int] = field(default_factory=dict)

    def number(self, evidence: Evidence) -> int:
        return self.numbers.setdefault(evidence, len(self.numbers) + 1)


def roads(trust_map: TrustMap) -> Roads | None:
    """Tell a trust map in words; ``None`` if it is empty."""
    if not trust_map.ways:
        return None
    told = _Told()
    names = dict.fromkeys(way.principal for way in trust_map.ways)
    travellers = tuple(_traveller(trust_map, trust_map.nodes[name], told) for name in names)
    return Roads(
        travellers=travellers,
        statements=tuple(_statement(evidence, number) for evidence, number in told.numbers.items()),
        targets=tuple((node.words, node.effect) for node in trust_map.nodes.values() if node.effect),
        counts=tuple(
            (certainty, sum(way.certainty == certainty for way in trust_map.ways), MEANINGS[certainty])
            for certainty in CERTAINTIES
        ),
    )


def _traveller(trust_map: TrustMap, node: Node, told: _Told) -> Traveller:
    found = tuple(_road(trust_map, way, told) for way in trust_map.ways if way.principal == node.id)
    surest = min((road.certainty for road in found), key=CERTAINTIES.index)
    return Traveller(node.words, node.note, surest, found)


def _road(trust_map: TrustMap, way: Way, told: _Told) -> Road:
    stages = tuple(_stage(trust_map, step, way, told) for step in way.steps)
    return Road(way.certainty, trust_map.nodes[way.target].words, stages)


def _stage(trust_map: TrustMap, step: Step, way: Way, told: _Told) -> Stage:
    denied = way.certainty == "no"
    said = f"{words_of(step, denied)} {trust_map.nodes[step.target].words}"
    if denied:
        said = f"may not {said}"
    elif step.certainty == "undetermined" and len(way.steps) > 1:
        said = f"perhaps {said}"
    actions = () if step in told.steps else step.actions
    told.steps.add(step)
    return Stage(
        words=said,
        actions=", ".join(actions[:_SHOWN]),
        more=actions[_SHOWN:],
        statements=tuple(dict.fromkeys(told.number(evidence) for evidence in step.evidence)),
        remarks=tuple(_remarks(step)),
    )


def _remarks(step: Step) -> Iterator[str]:
    if step.note:
        yield step.note
    if step.when:
        yield f"when {step.when}"


def _statement(evidence: Evidence, number: int) -> Statement:
    where = evidence.logical_id
    if evidence.path:
        where += f" {dotted(evidence.path)}"
    if evidence.sid is not None:
        where += f" ({evidence.sid})"
    place = "" if evidence.file is None else evidence.file
    if place and evidence.line is not None:
        place += f":{evidence.line}"
    return Statement(number, where, place, evidence.text)
