"""Weakenings of whole resources: gone, deleted with the stack, too early, or joined by what opens them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mutants.mutant import GONE, Mutant, Template
from mutants.references import depends_on, named_in, order, still_after

CLUSTER = "AWS::SageMaker::Cluster"


def whole_resource_mutants(template: Template) -> Iterator[Mutant]:
    yield from _gone(template)
    yield from _not_retained(template)
    yield from _out_of_order(template)


def _gone(template: Template) -> Iterator[Mutant]:
    """Each resource that nobody refers to; those that say to come after it no longer do."""
    resources = template["Resources"]
    named = {name for part in ("Outputs", "Conditions") for name in named_in(template.get(part, {}))}
    for resource in resources.values():
        named |= {*named_in(resource.get("Properties", {}))}
    for name, resource in resources.items():
        if name in named or resource["Type"] == CLUSTER:
            continue
        edits: list[tuple[tuple[str | int, ...], Any]] = [((name,), GONE)]
        for other, later in resources.items():
            names = depends_on(later)
            if name in names:
                edits.append(((other, "DependsOn"), [one for one in names if one != name]))
        yield Mutant(name, resource["Type"], (), "is gone", tuple(edits))


def _not_retained(template: Template) -> Iterator[Mutant]:
    for name, resource in template["Resources"].items():
        for attribute in ("DeletionPolicy", "UpdateReplacePolicy"):
            if resource.get(attribute, "Delete") != "Delete":
                for change, value in (("is gone", GONE), ("becomes Delete", "Delete")):
                    edits = (((name, attribute), value),)
                    yield Mutant(name, resource["Type"], (attribute,), change, edits)


def _out_of_order(template: Template) -> Iterator[Mutant]:
    """Each resource that no longer says to come after another, unless it still does for other reasons."""
    waits = order(template)
    for name, resource in template["Resources"].items():
        names = depends_on(resource)
        own = {*named_in(resource.get("Properties", {}))} & template["Resources"].keys()
        for other in names:
            rest = [one for one in names if one != other]
            if not still_after({**waits, name: own | {*rest}}, name, other):
                change = f"no longer waits for {template['Resources'][other]['Type']} {other}"
                edits = (((name, "DependsOn"), rest),)
                yield Mutant(name, resource["Type"], ("DependsOn",), change, edits)
        if len(names) > 1:
            edits_of_all: tuple[tuple[tuple[str | int, ...], Any], ...] = (((name, "DependsOn"), GONE),)
            yield Mutant(name, resource["Type"], ("DependsOn",), "waits for nothing", edits_of_all)
