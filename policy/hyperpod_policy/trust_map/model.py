"""What a trust map says: who, what leads to code on the nodes, and the steps between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from hyperpod_model.faults import FaultPath

Certainty: TypeAlias = Literal["yes", "undetermined", "no"]

CERTAINTIES: Final[tuple[Certainty, ...]] = ("yes", "undetermined", "no")

Kind: TypeAlias = Literal[
    "account",
    "anyone",
    "bucket",
    "chart",
    "cluster",
    "federated",
    "function",
    "group",
    "identity",
    "key",
    "kubernetes",
    "network",
    "nodes",
    "ports",
    "role",
    "root user",
    "service",
    "stack",
    "user",
    "workload",
]

PRINCIPALS: Final = frozenset(
    {
        "account",
        "anyone",
        "federated",
        "group",
        "identity",
        "network",
        "role",
        "root user",
        "service",
        "user",
        "workload",
    }
)
"""Kinds of nodes that act; the others are acted upon."""

Ability: TypeAlias = Literal[
    "act-as",
    "administer-cluster",
    "assume",
    "change-access",
    "change-bucket",
    "change-chart",
    "change-cluster",
    "change-function",
    "change-key",
    "change-permissions",
    "change-ports",
    "change-trust",
    "deploy",
    "escalate",
    "feed",
    "invoke",
    "join-group",
    "lead-to-code",
    "open-session",
    "pass",
    "reach",
    "run-as",
    "take-credentials",
    "unknown",
    "write-objects",
]

WORDS: Final[Mapping[Ability, str]] = {
    "act-as": "acts as",
    "administer-cluster": "runs pods through",
    "assume": "may assume",
    "change-access": "may change who administers",
    "change-bucket": "may change who writes",
    "change-chart": "may replace",
    "change-cluster": "may change",
    "change-function": "may change",
    "change-key": "may change who uses",
    "change-permissions": "may widen the permissions of",
    "change-ports": "may open",
    "change-trust": "may change who assumes",
    "deploy": "may deploy",
    "escalate": "may make itself",
    "feed": "is copied from by",
    "invoke": "may invoke",
    "join-group": "may join",
    "lead-to-code": "leads to code on",
    "open-session": "may open a shell on nodes of",
    "pass": "may pass",
    "reach": "reaches",
    "run-as": "runs as",
    "take-credentials": "may make credentials of",
    "unknown": "may or may not reach",
    "write-objects": "may write",
}
"""How to say what a step is, between its source and its target."""


@dataclass(frozen=True, slots=True)
class Node:
    """Somebody or something on the map.

    Attributes:
        id: Unique on the map, the same whenever the same templates are read.
        kind: What it is.
        label: How to call it: the logical id, the ARN, or words.
        role: What it is to the cluster, in words; empty if it is nothing in particular.
        outside: Whether the templates do not make it, so that they do not tell all about it.
        effect: What getting there does; empty if it only leads on to others.
        note: What a reader must know of it.
        logical_id: Logical id, of a resource of the templates.
        resource_type: Its CloudFormation type.
        file: File it stands in, if known.
        line: Line in the file, if known.
    """

    id: str
    kind: Kind
    label: str
    role: str = ""
    outside: bool = False
    effect: str = ""
    note: str = ""
    logical_id: str | None = None
    resource_type: str | None = None
    file: str | None = None
    line: int | None = None

    @property
    def is_principal(self) -> bool:
        """Whether it acts of itself."""
        return self.kind in PRINCIPALS

    @property
    def words(self) -> str:
        """How to call it in a sentence."""
        kind = self.kind if self.kind in ("bucket", "function", "group", "key", "role", "user") else ""
        return f"{self.role or kind} {self.label}".strip()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A statement or property of a template that lets somebody do something, or refuses it.

    Attributes:
        logical_id: Resource that holds it.
        resource_type: Its CloudFormation type.
        path: Where, below ``Properties``; empty for the whole resource.
        text: What it says, in words.
        sid: Its ``Sid``, if it has one.
        file: File it stands in, if known.
        line: Line in the file, if known.
    """

    logical_id: str
    resource_type: str
    path: FaultPath
    text: str
    sid: str | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that one node can do to another.

    Attributes:
        source: Id of who or what acts.
        ability: What it can do.
        target: Id of what it does it to.
        certainty: Whether it can.
        actions: IAM actions it may call, or traffic it may send.
        evidence: What lets it, or refuses it where the certainty is ``no``.
        note: What the evidence does not say.
        when: Under which parameter values and conditions, if not under all.
    """

    source: str
    ability: Ability
    target: str
    certainty: Certainty
    actions: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """How one principal gets to something that leads to code on the nodes, or is kept from it.

    Attributes:
        principal: Id of the principal.
        target: Id of what leads to code on the nodes.
        certainty: That of its least certain step.
        steps: From the principal to the target.
    """

    principal: str
    target: str
    certainty: Certainty
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class TrustMap:
    """Who can run code on the training nodes, as far as templates tell.

    Attributes:
        nodes: Everybody and everything on the map, by id.
        steps: Everything that one of them can do to another.
        ways: For each principal and each of its first steps, the surest and shortest way to each target.
        limits: What the map cannot show, in words.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    ways: tuple[Way, ...] = ()
    limits: tuple[str, ...] = ()

    def ways_of(self, principal: str) -> tuple[Way, ...]:
        """Return the ways of one principal.

        Args:
            principal: Its id or its label.
        """
        return tuple(
            way for way in self.ways if principal in (way.principal, self.nodes[way.principal].label)
        )

    def text(self) -> str:
        """Write the map as plain text, at most 100 columns wide where names allow."""
        from hyperpod_policy.trust_map.text import text

        return text(self)

    def to_json(self) -> dict[str, Any]:
        """Return the map as JSON values, in the schema that ``docs/trust-map.md`` describes."""
        from hyperpod_policy.trust_map.serialized import serialized

        return serialized(self)
