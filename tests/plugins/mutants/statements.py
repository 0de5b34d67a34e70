"""Weakenings of the statements of policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mutants.added_statements import added_statements
from mutants.denials import weakened_denial
from mutants.mutant import GONE, Mutant, Path, Template, at, mutant
from mutants.permissions import widened_permission

DOCUMENTS = ("PolicyDocument", "AssumeRolePolicyDocument", "KeyPolicy")


def statement_mutants(template: Template, name: str) -> Iterator[Mutant]:
    """Every weakening of the statements of a resource."""
    properties = template["Resources"][name].get("Properties", {})
    for path in _documents(properties, ()):
        statements = at(properties, (*path, "Statement"))
        for position, statement in enumerate(statements):
            place = (*path, "Statement", position)
            denies = statement["Effect"] == "Deny"
            yield mutant(template, name, place, f"{'denial' if denies else 'permission'} is gone", GONE)
            weaken = weakened_denial if denies else widened_permission
            for member, change, value in weaken(statement):
                if member is None:
                    yield mutant(template, name, place, change, value)
                else:
                    yield mutant(template, name, (*place, member), change, value)
        for change, added in added_statements(path[-1], properties):
            yield mutant(template, name, (*path, "Statement"), f"gets {change}", [*statements, added])


def _documents(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in DOCUMENTS and isinstance(item, Mapping) and "Statement" in item:
                yield (*path, key)
            else:
                yield from _documents(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _documents(item, (*path, position))
