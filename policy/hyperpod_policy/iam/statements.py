"""Statements of policy documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hyperpod_model.faults import FaultPath
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.variables import has_variables
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, single


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a policy.

    Attributes:
        effect: ``Allow`` or ``Deny``.
        principals: Pairs of kind (``AWS``, ``Service``, ``Federated``, ``CanonicalUser``, ``*``) and value;
            empty in identity policies.
        not_principal: Whether ``principals`` are the exceptions.
        actions: Patterns.
        not_action: Whether ``actions`` are the exceptions.
        resources: Patterns.
        not_resource: Whether ``resources`` are the exceptions.
        conditions: All of which must hold.
        complete: Whether every list of it is known in full.
        holder: The resource of the template that holds it.
        path: Where in the holder.
        has_variables: Whether resources may have policy variables.
    """

    effect: Literal["Allow", "Deny"]
    principals: tuple[tuple[str, Any], ...]
    not_principal: bool
    actions: tuple[Any, ...]
    not_action: bool
    resources: tuple[Any, ...]
    not_resource: bool
    conditions: tuple[Condition, ...]
    complete: bool
    holder: Resource
    path: FaultPath
    has_variables: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note whether resources have policy variables, which few have."""
        object.__setattr__(self, "has_variables", has_variables(self.resources))


def statements_of(holder: Resource, *path: str | int) -> Iterator[Statement | Unresolved]:
    """Yield the statements of a policy document; `Unresolved` for those the template cannot tell."""
    memo = holder.template.once(_read_already)
    key = (holder.key, path)
    if key not in memo:
        memo[key] = tuple(_statements_of(holder, *path))
    yield from memo[key]


def _read_already(_: Template) -> dict[tuple[str, FaultPath], tuple[Statement | Unresolved, ...]]:
    return {}


def _statements_of(holder: Resource, *path: str | int) -> Iterator[Statement | Unresolved]:
    document = holder.get(*path)
    if isinstance(document, Unresolved):
        yield document
        return
    if not isinstance(document, Mapping):
        return
    found, complete = elements(document.get("Statement"))
    if not complete:
        yield document["Statement"]
    for position, statement in enumerate(found):
        if isinstance(statement, Unresolved):
            yield statement
        elif isinstance(statement, Mapping):
            yield _read(statement, holder, (*path, "Statement", position))


def _read(statement: Mapping[str, Any], holder: Resource, path: FaultPath) -> Statement:
    complete = True

    def spelled(value: Any) -> Any:
        return value if isinstance(value, str) else holder.template.spelled(single(value))

    def listed(one: str, other: str) -> tuple[tuple[Any, ...], bool]:
        nonlocal complete
        key = one if one in statement else other
        values, whole = elements(statement.get(key))
        complete = complete and whole
        return tuple(map(spelled, values)), key == other and other in statement

    actions, not_action = listed("Action", "NotAction")
    resources, not_resource = listed("Resource", "NotResource")
    not_principal = "NotPrincipal" in statement
    principals: list[tuple[str, Any]] = []
    named = statement.get("NotPrincipal" if not_principal else "Principal")
    if isinstance(named, Mapping):
        for kind, value in named.items():
            values, whole = elements(value)
            complete = complete and whole
            principals += [(kind, spelled(item)) for item in values]
    elif named is not None:
        principals.append(("*", named))
    conditions: list[Condition] = []
    block = statement.get("Condition")
    if isinstance(block, Unresolved):
        complete = False
    elif isinstance(block, Mapping):
        for operator, pairs in block.items():
            if not isinstance(pairs, Mapping):
                complete = False
                continue
            for key, value in pairs.items():
                values, whole = elements(value)
                conditions.append(Condition(str(operator), str(key), tuple(map(spelled, values)), whole))
    return Statement(
        effect="Deny" if statement.get("Effect") == "Deny" else "Allow",
        principals=tuple(principals),
        not_principal=not_principal,
        actions=actions,
        not_action=not_action,
        resources=resources,
        not_resource=not_resource,
        conditions=tuple(conditions),
        complete=complete,
        holder=holder,
        path=path,
    )
