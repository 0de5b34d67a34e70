"""Values and statements of a template, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.model import Evidence
from hyperpod_policy.values import Anything, Parameter, Pseudo, Reference, Text


def say(value: Any) -> str:
    """Write a resolved value as ``Fn::Sub`` would have it."""
    if isinstance(value, Text):
        return "".join(part if isinstance(part, str) else f"${{{_name(part)}}}" for part in value.parts)
    if isinstance(value, list | tuple):
        return ", ".join(map(say, value))
    if isinstance(value, bool):
        return str(value).lower()
    return _name(value)


def _name(value: Any) -> str:
    if isinstance(value, Reference):
        name = value.resource.rpartition("/")[2]
        return name if value.attribute == "Ref" else f"{name}.{value.attribute}"
    if isinstance(value, Parameter):
        return value.name.rpartition("/")[2]
    if isinstance(value, Pseudo):
        return value.name
    if isinstance(value, Anything):
        return "*"
    return str(value)


def statement_words(statement: Statement) -> str:
    """Write a statement in one line."""
    parts: list[str] = [statement.effect]
    if statement.principals:
        who = ", ".join(
            "everybody" if value == "*" and kind in ("*", "AWS") else f"{kind} {say(value)}"
            for kind, value in statement.principals
        )
        parts.append(f"everybody but {who}" if statement.not_principal else who)
    actions = say(statement.actions)
    parts.append(f"all but {actions}" if statement.not_action else actions)
    if statement.resources:
        resources = say(statement.resources)
        parts.append(f"on all but {resources}" if statement.not_resource else f"on {resources}")
    if statement.conditions:
        parts.append("if " + " and ".join(f"{item} {say(item.values)}" for item in statement.conditions))
    if not statement.complete:
        parts.append("(in part unresolved)")
    return " ".join(parts)


def of_statement(statement: Statement) -> Evidence:
    """Return a statement as evidence."""
    sid = statement.holder.get(*statement.path, "Sid")
    found = of_property(statement.holder, statement.path, statement_words(statement))
    if not isinstance(sid, str):
        return found
    return Evidence(
        found.logical_id, found.resource_type, found.path, found.text, sid, found.file, found.line
    )


def of_property(resource: Resource, path: FaultPath, text: str) -> Evidence:
    """Return a property of a resource as evidence."""
    return Evidence(
        logical_id=resource.logical_id,
        resource_type=resource.type,
        path=path,
        text=text,
        file=resource.document.file,
        line=resource.document.line_of(resource.logical_id, path),
    )


def evidence_of(statements: Sequence[Statement]) -> tuple[Evidence, ...]:
    """Return statements as evidence, each once."""
    return tuple(dict.fromkeys(of_statement(statement) for statement in statements))
