"""Roles, users and groups of the templates, and what their policies let them do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hyperpod_model.catalog.control import MANAGED_POLICY_STATEMENTS
from hyperpod_model.catalog.iam import CLUSTER_INSTANCE_MANAGED_POLICY
from hyperpod_model.faults import FaultPath
from hyperpod_policy.bucket_locks import STRANGER_CONTEXT
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.identities import (
    MANAGED_POLICY,
    ROLE,
    Permissions,
    arn_of,
    gathered,
    permissions,
    session_id,
)
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.trust_map.sayings import say
from hyperpod_policy.trust_map.speaking import speaks_of
from hyperpod_policy.values import elements, same

USER: Final = "AWS::IAM::User"
GROUP: Final = "AWS::IAM::Group"

_PLURALS: Final = {ROLE: "Roles", USER: "Users", GROUP: "Groups"}
_SINGULARS: Final = {ROLE: "RoleName", USER: "UserName", GROUP: "GroupName"}
_POLICIES: Final = (
    "AWS::IAM::Policy",
    "AWS::IAM::RolePolicy",
    "AWS::IAM::UserPolicy",
    "AWS::IAM::GroupPolicy",
    MANAGED_POLICY,
)


@dataclass(slots=True)
class Actor:
    """A role, user or group of the templates.

    Attributes:
        resource: The resource.
        principal: Its ARN, as policies spell it; that of a group means nobody.
        statements: What its policies say.
        boundary: Statements of its permissions boundary; ``None`` if it has none.
        boundary_is_known: Whether the templates show all of the boundary.
        unknown: Its policies that the templates do not show, in words, each with where it is attached.
        policies: Managed policies of the templates that are attached to it.
        context: Condition keys that its requests carry.
    """

    resource: Resource
    principal: Any
    statements: list[Statement] = field(default_factory=list)
    boundary: list[Statement] | None = None
    boundary_is_known: bool = True
    unknown: list[tuple[str, Resource, FaultPath]] = field(default_factory=list)
    policies: list[Resource] = field(default_factory=list)
    context: Mapping[str, Any] = field(default_factory=dict)
    _about: dict[str, list[Statement]] = field(default_factory=dict)

    def about(self, action: str) -> list[Statement]:
        """Return the statements that may speak of an action."""
        if action not in self._about:
            found = [statement for statement in self.statements if speaks_of(statement, action)]
            self._about[action] = found
        return self._about[action]


def actors(template: Template) -> list[Actor]:
    """Return the roles, users and groups of the templates."""
    return template.once(_actors)


def _actors(template: Template) -> list[Actor]:
    groups = {group.key: _actor(template, group, None) for group in template.of_type(GROUP)}
    users = [_user(template, user, groups) for user in template.of_type(USER)]
    return [*(_role(template, role) for role in template.of_type(ROLE)), *users, *groups.values()]


def _role(template: Template, role: Resource) -> Actor:
    actor = _actor(template, role, permissions(template, role))
    actor.principal = template.spelled(arn_of(role))
    actor.context = {**STRANGER_CONTEXT, "aws:userid": session_id(role)}
    return actor


def _user(template: Template, user: Resource, groups: Mapping[str, Actor]) -> Actor:
    actor = _actor(template, user, None)
    for group in groups.values():
        if group.resource.ref in elements(user.get("Groups"))[0] or any(
            addition.get("GroupName") == group.resource.ref and user.ref in elements(addition.get("Users"))[0]
            for addition in template.of_type("AWS::IAM::UserToGroupAddition")
        ):
            actor.statements += group.statements
            actor.unknown += group.unknown
    return actor


def _actor(template: Template, resource: Resource, held: Permissions | None) -> Actor:
    known = gathered(template, resource, _attached(template, resource)) if held is None else held
    actor = Actor(
        resource,
        template.spelled(arn_of(resource)),
        [*known.statements],
        known.boundary,
        known.boundary_is_known,
        [(f"policy {say(value)}", holder, path) for value, holder, path in known.unknown],
        context={key: value for key, value in STRANGER_CONTEXT.items() if key != "aws:userid"},
    )
    for name, holder, path in known.aws_managed:
        if name == CLUSTER_INSTANCE_MANAGED_POLICY:
            continue
        if name in MANAGED_POLICY_STATEMENTS:
            said = MANAGED_POLICY_STATEMENTS[name]
            actor.statements += [_of_aws(statement, holder, path) for statement in said]
        else:
            actor.unknown.append((f"AWS managed policy {name}", holder, path))
    actor.policies = [
        policy
        for policy in template.of_type(MANAGED_POLICY)
        if any(statement.holder is policy for statement in actor.statements)
    ]
    return actor


def _attached(template: Template, resource: Resource) -> Iterator[Resource]:
    """Yield the policies that name a user or group."""
    own = resource.get(_SINGULARS[resource.type], default=None)
    for policy in template.of_type(*_POLICIES):
        names = elements(policy.get(_PLURALS[resource.type]))[0] or [
            policy.get(_SINGULARS[resource.type], default=None)
        ]
        if any(name == resource.ref or (own is not None and same(name, own) is True) for name in names):
            yield policy


def _of_aws(said: Mapping[str, Any], holder: Resource, path: FaultPath) -> Statement:
    """Return what an AWS managed policy allows, as a statement where the policy is attached."""

    def listed(*names: str) -> tuple[str, ...]:
        value = next((said[name] for name in names if name in said), ())
        return (value,) if isinstance(value, str) else tuple(value)

    conditions = tuple(
        Condition(operator, key, (value,) if isinstance(value, str) else tuple(value))
        for operator, pairs in said.get("Condition", {}).items()
        for key, value in pairs.items()
    )
    return Statement(
        effect="Allow",
        principals=(),
        not_principal=False,
        actions=listed("Action", "NotAction"),
        not_action="NotAction" in said,
        resources=listed("Resource", "NotResource"),
        not_resource="NotResource" in said,
        conditions=conditions,
        complete=True,
        holder=holder,
        path=path,
    )
