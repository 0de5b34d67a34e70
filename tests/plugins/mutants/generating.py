"""All single weakenings of a template."""

from __future__ import annotations

from collections.abc import Iterator

from mutants.access_lists import access_list_mutants
from mutants.additions import addition_mutants
from mutants.mutant import Mutant, Template
from mutants.properties import property_mutants
from mutants.security_groups import security_group_mutants
from mutants.statements import statement_mutants
from mutants.whole_resources import whole_resource_mutants


def mutants_of(template: Template) -> list[Mutant]:
    """Every weakening once, by the same names in the same order for the same template."""
    found: dict[str, Mutant] = {}
    for mutant in _all(template):
        found.setdefault(mutant.label, mutant)
    return list(found.values())


def _all(template: Template) -> Iterator[Mutant]:
    for name in template["Resources"]:
        yield from property_mutants(template, name)
        yield from statement_mutants(template, name)
        yield from security_group_mutants(template, name)
        yield from access_list_mutants(template, name)
    yield from whole_resource_mutants(template)
    yield from addition_mutants(template)
