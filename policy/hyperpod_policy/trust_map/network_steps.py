"""Who reaches the ports of the nodes, and who may let others reach them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_model.catalog.control import (
    GROUP_INTERFACE_ACTIONS,
    GROUP_JOIN_ACTIONS,
    INTERFACE_USE_ACTIONS,
    PORT_CHANGE_ACTIONS,
)
from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING
from hyperpod_policy.clusters import Used, distinct, security_groups
from hyperpod_policy.group_members import members_of
from hyperpod_policy.security_groups import (
    CHECKPOINT_PORTS,
    SECURITY_GROUP,
    SecurityGroupRule,
    known_in_full,
    rules_of,
)
from hyperpod_policy.trust_map.actors import Actor
from hyperpod_policy.trust_map.arns import ANY, Arns, of_security_group
from hyperpod_policy.trust_map.asking import Asked, ask
from hyperpod_policy.trust_map.draft import Draft
from hyperpod_policy.trust_map.model import Certainty, Node
from hyperpod_policy.trust_map.sayings import of_property, say
from hyperpod_policy.values import same


def add_ports(draft: Draft) -> None:
    """Add the security groups of the nodes, their peers and who may change them."""
    for used, _ in distinct(security_groups(draft.template)):
        target = _ports(draft, used)
        _add_peers(draft, used, target)
        _add_members(draft, used, target)
        arns = of_security_group(draft.template, used.value, used.cluster)
        for actor in draft.actors:
            draft.asked(actor, "change-ports", target, ask(actor, PORT_CHANGE_ACTIONS, arns))
            draft.asked(actor, "join-group", target, _joins(actor, arns))
        draft.administrators("change-ports", target, actions=PORT_CHANGE_ACTIONS)
        draft.administrators("join-group", target, actions=GROUP_JOIN_ACTIONS)


def _joins(actor: Actor, arns: Arns) -> Asked:
    """Ask whether an actor may put itself into a security group."""
    answer = ask(actor, GROUP_JOIN_ACTIONS, arns)
    made = ask(actor, GROUP_INTERFACE_ACTIONS, arns)
    used = ask(actor, INTERFACE_USE_ACTIONS, ANY) if made else made
    if used:
        certain = bool(made.allowed and used.allowed)
        (answer.allowed if certain else answer.unclear).extend((*made.actions, *used.actions))
        answer.grants += [*made.grants, *used.grants]
    return answer


def _ports(draft: Draft, used: Used) -> str:
    resource = draft.template.resource(used.value, SECURITY_GROUP)
    if resource is not None:
        target = draft.resource(resource, role="node ports behind")
    else:
        name = say(used.value)
        target = draft.node(Node(f"ports {name}", "ports", f"node ports behind {name}", outside=True))
    draft.leads_to_code(
        target, f"what listens there decides; on {CHECKPOINT_PORTS} it is checkpoints", "undetermined"
    )
    return target


def _add_peers(draft: Draft, used: Used, target: str) -> None:
    for rule, belongs in rules_of(draft.template, used.value, "ingress"):
        certainty: Certainty = "yes" if belongs and rule.peer_kind != "unknown" else "undetermined"
        draft.step(
            _peer(draft, rule, used.value),
            "reach",
            target,
            certainty,
            actions=[_traffic(rule)],
            evidence=[of_property(rule.holder, rule.path, f"admits {_words(rule)}")],
            note=_reaches_checkpoints(rule),
        )
    if not known_in_full(draft.template, used.value, "ingress"):
        name = say(used.value)
        draft.step(
            draft.node(
                Node(
                    f"peers of {name}",
                    "network",
                    f"whoever the rules of {name} admit that are not in the templates",
                    outside=True,
                )
            ),
            "reach",
            target,
            "undetermined",
            evidence=[of_property(used.cluster, used.path, f"is {name}")],
        )


def _add_members(draft: Draft, used: Used, target: str) -> None:
    for member, path in members_of(draft.template, used.value):
        draft.step(
            draft.resource(member),
            "join-group",
            target,
            "yes",
            evidence=[of_property(member, path, f"is a member of {say(used.value)}")],
            note="so does whoever runs code there, or is forwarded by it",
        )


def _peer(draft: Draft, rule: SecurityGroupRule, own: Any) -> str:
    if rule.peer_kind == "group":
        resource = draft.template.resource(rule.peer, SECURITY_GROUP)
        note = "every interface that is put into the group"
        if same(rule.peer, own) is True:
            note = f"the nodes, what runs on them, and {note}"
        return draft.node(
            Node(
                f"members {say(rule.peer)}",
                "network",
                say(rule.peer),
                role="members of security group",
                outside=resource is None,
                note=note,
            )
        )
    role = {"ipv4": "addresses in", "ipv6": "addresses in", "prefix list": "prefix list"}.get(
        rule.peer_kind, ""
    )
    label = say(rule.peer)
    note = "everybody with a route to the nodes" if rule.open_to_the_world else ""
    return draft.node(Node(f"network {label}", "network", label, role=role, outside=True, note=note))


def _traffic(rule: SecurityGroupRule) -> str:
    return str(rule).partition(" from ")[0]


def _words(rule: SecurityGroupRule) -> str:
    return f"{_traffic(rule)} from {say(rule.peer)}"


def _reaches_checkpoints(rule: SecurityGroupRule) -> str:
    answers: Sequence[bool | None] = [rule.reaches(ports) for ports in TIERED_CHECKPOINTING]
    if True in answers:
        return "checkpoints in the nodes' memory are among it"
    return "checkpoints in the nodes' memory may be among it" if None in answers else ""
