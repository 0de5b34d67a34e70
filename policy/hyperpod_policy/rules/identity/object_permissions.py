"""Permissions for objects name objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.iam import S3_OBJECT_READ_ACTIONS, S3_OBJECT_WRITE_ACTIONS
from hyperpod_policy.clusters import distinct, execution_roles
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.pod_roles import pod_roles
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Text

_ON_OBJECTS: Final = frozenset(
    action.lower() for action in (*S3_OBJECT_READ_ACTIONS, *S3_OBJECT_WRITE_ACTIONS)
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the statements of execution roles and of roles of pods."""
    roles = {role.key: role for role in (*_node_roles(template), *pod_roles(template))}
    for role in roles.values():
        verdicts = [
            failed(
                statement.holder,
                *statement.path,
                found=f"allows {', '.join(actions)} on {', '.join(map(str, statement.resources))} only",
                allowed="the objects as well: the bucket's ARN followed by /*",
            )
            for statement in permissions(template, role).statements
            if (actions := _misplaced(statement))
        ]
        yield from verdicts if verdicts else [passed(role)]


def _node_roles(template: Template) -> Iterator[Resource]:
    for used, _ in distinct(execution_roles(template)):
        role = role_of(template, used.value)
        if role is not None:
            yield role


def _misplaced(statement: Statement) -> list[str]:
    """Return the actions on objects of a statement whose resources are all buckets."""
    if statement.effect != "Allow" or statement.not_action or statement.not_resource:
        return []
    if not statement.resources or not all(_is_bucket(resource) for resource in statement.resources):
        return []
    return [
        action
        for action in statement.actions
        if isinstance(action, str) and action.lower() in _ON_OBJECTS and not wildcard(action)
    ]


def _is_bucket(resource: Any) -> bool:
    """Whether a pattern certainly is the ARN of a bucket itself, and of no object."""
    parts = resource.parts if isinstance(resource, Text) else (resource,)
    if not all(isinstance(part, str) or _is_name(part) for part in parts):
        return False
    text = "".join(part if isinstance(part, str) else "x" for part in parts)
    name = text.partition(":s3:::")[2]
    return bool(name) and "/" not in name and not wildcard(name)


def _is_name(part: Any) -> bool:
    """Whether an unresolved part has neither slash nor wildcard: a resource's name, or a pseudo-parameter."""
    return isinstance(part, Reference) or str(part).startswith("${AWS::")


RULE = Rule(
    id="ObjectPermissions",
    title="permissions for objects name objects, not their bucket alone",
    severity="error",
    why=(
        "An action on objects whose resource is the bucket's ARN allows nothing: scripts and checkpoints are "
        "denied at run time, with a policy that looks right."
    ),
    fix="add the bucket's ARN followed by /* to the resources, or use a grant of the bucket",
    source="Service Authorization Reference, Amazon S3 (resource types of each action)",
    check=check,
)
