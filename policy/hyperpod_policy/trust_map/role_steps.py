"""Who takes the roles that get somewhere: by their trust, by passing them, by changing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.control import (
    GROUP_PERMISSION_ACTIONS,
    MANAGED_POLICY_ACTIONS,
    PASS_ROLE_ACTION,
    ROLE_PERMISSION_ACTIONS,
    ROLE_TRUST_ACTIONS,
    STARTS_WITH_ROLE,
    USER_CREDENTIAL_ACTIONS,
    USER_PERMISSION_ACTIONS,
)
from hyperpod_model.catalog.iam import POD_IDENTITY_SERVICE
from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.conditions import holds
from hyperpod_policy.iam.context import SOMEBODY
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.pod_roles import TRUST, token_conditions, token_statements
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.actors import GROUP, USER, Actor
from hyperpod_policy.trust_map.arns import ANY, of_managed_policy, of_role
from hyperpod_policy.trust_map.asking import Asking, ask
from hyperpod_policy.trust_map.draft import ADMINISTRATORS, Draft, conditions_of, is_of_another_account
from hyperpod_policy.trust_map.model import Certainty, Evidence, Node
from hyperpod_policy.trust_map.pods import Pods, add_pods, pods_with_role
from hyperpod_policy.trust_map.sayings import of_property, of_statement, say
from hyperpod_policy.values import Pseudo, Reference, Text, Unresolved

_ASSUME: Final = ("sts:assumerole", "sts:assumerolewithwebidentity", "sts:assumerolewithsaml")
_OF_PODS: Final = "role of pods"
_OF_PERMISSIONS: Final = "decides what it may do, not who takes it"


def add_takers(draft: Draft, actor: Actor) -> None:
    """Add who takes a role, user or group that gets somewhere."""
    target = draft.resource(actor.resource)
    if actor.resource.type == USER:
        _add_user_takers(draft, actor, target)
    elif actor.resource.type != GROUP:
        _add_trusted(draft, actor, target)
        _add_passers(draft, actor, target)
        arns = of_role(draft.template, actor.resource)
        for other in draft.actors:
            if other is not actor:
                draft.asked(other, "change-trust", target, ask(other, ROLE_TRUST_ACTIONS, arns))
        draft.administrators("change-trust", target, actions=ROLE_TRUST_ACTIONS)
    _add_wideners(draft, actor, target)


def add_escalations(draft: Draft) -> None:
    """Add who may give themselves any permission."""
    for actor in draft.actors:
        if actor.resource.type == GROUP:
            continue
        actions = USER_PERMISSION_ACTIONS if actor.resource.type == USER else ROLE_PERMISSION_ACTIONS
        grants = [
            action
            for action in actions
            if "Attach" in action or (":Put" in action and "Boundary" not in action)
        ]
        answer = ask(actor, grants, of_role(draft.template, actor.resource))
        for policy in actor.policies:
            more = ask(actor, MANAGED_POLICY_ACTIONS[:1], of_managed_policy(draft.template, policy))
            answer.allowed += more.allowed
            answer.unclear += more.unclear
            answer.grants += more.grants
        if answer and actor.boundary is None:
            draft.asked(
                actor,
                "escalate",
                ADMINISTRATORS,
                answer,
                note="by giving itself every permission of the account",
            )


def _add_trusted(draft: Draft, actor: Actor, target: str) -> None:
    role = actor.resource
    of_pods = {statement.path for holder, statement in token_statements(draft.template) if holder is role}
    for statement in statements_of(role, TRUST):
        if isinstance(statement, Unresolved):
            who = draft.node(
                Node(
                    f"trust of {role.key}",
                    "identity",
                    f"whoever the trust policy of {role.logical_id} names",
                    outside=True,
                )
            )
            evidence = [of_property(role, (TRUST,), f"is {say(statement)}")]
            draft.step(who, "assume", target, "undetermined", evidence=evidence)
            continue
        if statement.effect != "Allow" or not _lets_assume(statement):
            continue
        if statement.path in of_pods:
            _add_token_pods(draft, role, target, statement)
            continue
        for kind, value in [("*", "*")] if statement.not_principal else statement.principals:
            _add_trusted_principal(draft, actor, target, statement, kind, value)
    for pods in pods_with_role(draft, role):
        draft.resource(role, role=_OF_PODS)
        who = add_pods(draft, pods)
        draft.step(who, "assume", target, "yes", evidence=pods.evidence)


def _add_trusted_principal(
    draft: Draft, actor: Actor, target: str, statement: Statement, kind: str, value: Any
) -> None:
    role = actor.resource
    evidence = [of_statement(statement)]
    note = conditions_of(statement)
    if kind == "AWS" and draft.owns(value, role):
        for other in draft.actors:
            answer = ask(other, ["sts:AssumeRole"], of_role(draft.template, role))
            certainty = _certainty(actor, statement, other.principal, other.context)
            if other is not actor and answer and certainty != "no":
                answer.grants.append(statement)
                draft.asked(other, "assume", target, answer, note=note, at_most=certainty)
        draft.administrators("assume", target, actions=["sts:AssumeRole"], evidence=evidence, note=note)
        return
    known = draft.actor_of(kind, value)
    if known is not None:
        source = draft.resource(known.resource)
        certainty = _certainty(actor, statement, known.principal, known.context)
    elif kind in ("AWS", "*") and value != "*":
        source = draft.outsider(kind, value)
        certainty = _certainty(actor, statement, value, {})
    else:
        source = draft.outsider(kind, value)
        certainty = _certainty(actor, statement, SOMEBODY, {})
        if kind != "*" and value != "*" and certainty != "no":
            certainty = "yes"  # a service or provider meets what is asked of it
    if isinstance(value, Unresolved) and not _is_named(value) and certainty == "yes" and known is None:
        certainty = "undetermined"
    if kind == "Service":
        note = note or "for whoever may pass it the role, or change what already has it"
    elif value == "*":
        note = note or "any identity of any account of AWS"
    elif is_of_another_account(value, role):
        note = note or "if its own account lets it"
    if certainty != "no":
        draft.step(source, "assume", target, certainty, evidence=evidence, note=note)


def _certainty(actor: Actor, statement: Statement, principal: Any, context: Mapping[str, Any]) -> Certainty:
    """Tell whether a principal that a trust policy names meets its conditions, no denial against it."""
    denials = [
        found
        for found in statements_of(actor.resource, TRUST)
        if isinstance(found, Statement) and found.effect == "Deny"
    ]
    refused = Asking(ANY, principal, context).refused(denials, "sts:AssumeRole")
    carried = {"aws:principalarn": principal, **context}
    if refused is True or holds(statement.conditions, carried, free=True) is False:
        return "no"
    met = holds(statement.conditions, carried, free=False) is True
    return "yes" if met and refused is False else "undetermined"


def _is_named(value: Unresolved) -> bool:
    """Whether an unresolved principal is known by name, in all but account, region and partition."""
    return isinstance(value, Text | Reference | Pseudo)


def _add_token_pods(draft: Draft, role: Resource, target: str, statement: Statement) -> None:
    conditions, complete = token_conditions(statement)
    subjects = [
        say(value)
        for condition in conditions
        if condition.key.lower().endswith(":sub") and not condition.negated
        for value in condition.values
    ]
    evidence: tuple[Evidence, ...] = (of_statement(statement),)
    draft.resource(role, role=_OF_PODS)
    for subject in subjects or ["system:serviceaccount:*:*"]:
        name = subject.removeprefix("system:serviceaccount:").replace(":", "/")
        who = add_pods(draft, Pods(name, evidence))
        certainty: Certainty = "yes" if complete else "undetermined"
        draft.step(who, "assume", target, certainty, evidence=evidence, note=conditions_of(statement))


def _lets_assume(statement: Statement) -> bool:
    named = any(
        patterns.every(pattern, action, ignore_case=True) is not False
        for pattern in statement.actions
        for action in _ASSUME
    )
    return named != statement.not_action


def _services(actor: Actor) -> Iterator[tuple[str, Statement]]:
    """Yield the services that a role trusts, each with the statement."""
    for statement in statements_of(actor.resource, TRUST):
        if isinstance(statement, Statement) and statement.effect == "Allow" and _lets_assume(statement):
            for kind, value in statement.principals:
                if kind == "Service" and isinstance(value, str):
                    yield value, statement


def _add_passers(draft: Draft, actor: Actor, target: str) -> None:
    arns = of_role(draft.template, actor.resource)
    for service, trust in _services(actor):
        starts = STARTS_WITH_ROLE.get(service)
        bound = service == POD_IDENTITY_SERVICE and bool(trust.conditions)
        note = f"to {service}" + (", for pods that its trust names only" if bound else "")
        for other in draft.actors:
            if other is actor:
                continue
            answer = ask(other, [PASS_ROLE_ACTION], arns, context={"iam:passedtoservice": service})
            if not answer:
                continue
            start = ask(other, starts, ANY) if starts is not None else None
            if start is not None and not start and not other.unknown:
                continue
            certain = start is not None and bool(start.allowed) and not bound
            if start is not None:
                answer.grants += start.grants
                if answer.allowed:
                    answer.allowed += start.actions
                else:
                    answer.unclear += start.actions
            answer.grants.append(trust)
            at_most: Certainty = "yes" if certain else "undetermined"
            draft.asked(other, "pass", target, answer, note=note, at_most=at_most)
        if starts is not None:
            draft.administrators(
                "pass",
                target,
                actions=[PASS_ROLE_ACTION, *starts],
                certainty="undetermined" if bound else "yes",
                evidence=[of_statement(trust)],
                note=note,
            )


def _add_user_takers(draft: Draft, actor: Actor, target: str) -> None:
    arns = of_role(draft.template, actor.resource)
    for other in draft.actors:
        if other is not actor:
            draft.asked(other, "take-credentials", target, ask(other, USER_CREDENTIAL_ACTIONS, arns))
    draft.administrators("take-credentials", target, actions=USER_CREDENTIAL_ACTIONS)


def _add_wideners(draft: Draft, actor: Actor, target: str) -> None:
    """Add who may change what a role may do; that changes nothing about who takes it."""
    kind = actor.resource.type
    actions = (
        USER_PERMISSION_ACTIONS
        if kind == USER
        else GROUP_PERMISSION_ACTIONS
        if kind == GROUP
        else ROLE_PERMISSION_ACTIONS
    )
    for other in draft.actors:
        if other is actor:
            continue
        answer = ask(other, actions, of_role(draft.template, actor.resource))
        for policy in actor.policies:
            more = ask(other, MANAGED_POLICY_ACTIONS, of_managed_policy(draft.template, policy))
            answer.allowed += more.allowed
            answer.unclear += more.unclear
            answer.grants += more.grants
        draft.asked(other, "change-permissions", target, answer, note=_OF_PERMISSIONS, at_most="undetermined")
