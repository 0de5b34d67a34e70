"""A trust map as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from hyperpod_model.faults import dotted
from hyperpod_policy.trust_map.model import CERTAINTIES, WORDS, Evidence, Node, Step, TrustMap, Way

WIDTH: Final = 100
_SHOWN: Final = 4

_MEANINGS: Final = {
    "yes": "the templates let it, and nothing in them refuses it",
    "undetermined": "depends on what is not in the templates, or known at deployment only",
    "no": "the templates refuse it, whatever is outside them",
}


@dataclass(slots=True)
class _Told:
    """What was said already: steps in full, and the numbers of what lets them."""

    steps: set[Step] = field(default_factory=set)
    numbers: dict[Evidence, int] = field(default_factory=dict)

    def number(self, evidence: Evidence) -> int:
        return self.numbers.setdefault(evidence, len(self.numbers) + 1)


def text(trust_map: TrustMap) -> str:
    """Write a map: what leads to code, who gets there and how, and the statements that let them."""
    if not trust_map.ways:
        return "Who can run code on the training nodes?\n\nnothing to say: no HyperPod cluster is at hand"
    told = _Told()
    blocks = ["Who can run code on the training nodes?", "\n".join(_meanings(trust_map))]
    blocks.append("\n".join(_targets(trust_map)))
    for principal in dict.fromkeys(way.principal for way in trust_map.ways):
        blocks.append("\n".join(_principal(trust_map, trust_map.nodes[principal], told)))
    blocks.append("\n".join(_statements(told.numbers)))
    blocks.append(
        "\n".join(("Not on the map", *(_wrapped(limit, "  - ", "    ") for limit in trust_map.limits)))
    )
    return "\n\n".join(blocks)


def _meanings(trust_map: TrustMap) -> Iterator[str]:
    for certainty in CERTAINTIES:
        count = sum(way.certainty == certainty for way in trust_map.ways)
        yield f"  {certainty:<13} {count:>3}  {_MEANINGS[certainty]}"


def _targets(trust_map: TrustMap) -> Iterator[str]:
    yield "What matters"
    for node in trust_map.nodes.values():
        if node.effect:
            yield _wrapped(f"{node.words}: {node.effect}", "  - ", "    ")


def _principal(trust_map: TrustMap, node: Node, told: _Told) -> Iterator[str]:
    yield node.words
    if node.note:
        yield _wrapped(node.note, "  ", "  ")
    first: Step | None = None
    for way in trust_map.ways:
        if way.principal == node.id:
            yield from _way(trust_map, way, told, goes_on=way.steps[0] == first and len(way.steps) > 1)
            first = way.steps[0]


def _way(trust_map: TrustMap, way: Way, told: _Told, *, goes_on: bool) -> Iterator[str]:
    start = f"  {way.certainty:<13} "
    for step in way.steps[goes_on:]:
        yield _wrapped(_step(trust_map, step, way, told), start, " " * 20)
        start = f"{'':<13} -> "


def _step(trust_map: TrustMap, step: Step, way: Way, told: _Told) -> str:
    denied = way.certainty == "no"
    said = f"{words_of(step, denied)} {trust_map.nodes[step.target].words}"
    if denied:
        said = f"may not {said}"
    elif step.certainty == "undetermined" and len(way.steps) > 1:
        said = f"perhaps {said}"
    if step.actions and step not in told.steps:
        said += f": {_some(step.actions)}"
    said += "".join(f" [{told.number(item)}]" for item in step.evidence)
    if step not in told.steps:
        said += "".join(f" ({part})" for part in (step.note, step.when and f"when {step.when}") if part)
    told.steps.add(step)
    return said


def words_of(step: Step, denied: bool = False) -> str:
    """Say what a step does.

    Args:
        step: The step.
        denied: Whether to leave out that it may. By default not.
    """
    words = WORDS[step.ability]
    return words.removeprefix("may ") if denied else words


def _some(actions: tuple[str, ...]) -> str:
    more = len(actions) - _SHOWN
    return ", ".join(actions[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _statements(numbers: Mapping[Evidence, int]) -> Iterator[str]:
    files = {evidence.file for evidence in numbers if evidence.file is not None}
    yield (
        f"Statements and properties, in {next(iter(files))}"
        if len(files) == 1
        else "Statements and properties"
    )
    for evidence, number in numbers.items():
        where = evidence.logical_id
        if evidence.path:
            where += f" {dotted(evidence.path)}"
        if evidence.sid is not None:
            where += f" ({evidence.sid})"
        if evidence.file is not None and len(files) > 1:
            where += f", {evidence.file}"
        if evidence.line is not None:
            where += f", line {evidence.line}"
        yield _wrapped(where, f"{f'[{number}]':>5} ", " " * 6)
        yield _wrapped(evidence.text, " " * 8, " " * 8)


def _wrapped(said: str, first: str, rest: str) -> str:
    return textwrap.fill(
        said,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
