"""A trust map in the making."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from hyperpod_policy.iam.evaluation import account_of
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.trust_map.actors import Actor, actors
from hyperpod_policy.trust_map.asking import Asked
from hyperpod_policy.trust_map.model import CERTAINTIES, Ability, Certainty, Evidence, Kind, Node, Step
from hyperpod_policy.trust_map.sayings import evidence_of, say
from hyperpod_policy.values import Parameter, Pseudo, Text, Unresolved, single

ADMINISTRATORS: Final = "account"
ANYONE: Final = "anyone"
ROOT_USER: Final = "root-user"
TRAINING_NODES: Final = "nodes"
STACK: Final = "stack"

_KINDS: Final[dict[str, Kind]] = {
    "AWS::IAM::Role": "role",
    "AWS::IAM::User": "user",
    "AWS::IAM::Group": "group",
    "AWS::S3::Bucket": "bucket",
    "AWS::KMS::Key": "key",
    "AWS::Lambda::Function": "function",
    "AWS::SageMaker::Cluster": "cluster",
    "AWS::EKS::Cluster": "kubernetes",
    "AWS::EC2::SecurityGroup": "ports",
}


class Draft:
    """Nodes and steps that are found one after the other; what is found again is merged."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.nodes: dict[str, Node] = {}
        self.steps: dict[tuple[str, Ability, str], Step] = {}
        self.limits: dict[str, None] = {}
        self.actors: list[Actor] = actors(template)
        self._by_principal = {actor.principal: actor for actor in self.actors}

    def resource(self, resource: Resource, *, role: str = "", effect: str = "", note: str = "") -> str:
        """Put a resource of the templates on the map, and return its id."""
        return self.node(
            Node(
                id=resource.key,
                kind=_KINDS.get(resource.type, "identity"),
                label=resource.logical_id,
                role=role,
                effect=effect,
                note=note,
                logical_id=resource.logical_id,
                resource_type=resource.type,
                file=resource.document.file,
                line=resource.document.line_of(resource.logical_id),
            )
        )

    def node(self, node: Node) -> str:
        """Put a node on the map, and return its id; words that it lacked are added to one that is there."""
        known = self.nodes.get(node.id)
        if known is not None:
            node = replace(
                known,
                role=known.role or node.role,
                effect=known.effect or node.effect,
                note=known.note or node.note,
            )
        self.nodes[node.id] = node
        return node.id

    def step(
        self,
        source: str,
        ability: Ability,
        target: str,
        certainty: Certainty,
        *,
        actions: Iterable[str] = (),
        evidence: Iterable[Evidence] = (),
        note: str = "",
    ) -> None:
        """Add a step; of two with the same ends the surer counts, and both their evidence."""
        key = (source, ability, target)
        found = Step(source, ability, target, certainty, tuple(actions), tuple(evidence), note)
        known = self.steps.get(key)
        if known is not None:
            surer = min(known, found, key=lambda step: CERTAINTIES.index(step.certainty))
            found = replace(
                surer,
                actions=tuple(dict.fromkeys((*known.actions, *found.actions))),
                evidence=tuple(dict.fromkeys((*known.evidence, *found.evidence))),
                note=surer.note or known.note,
            )
        self.steps[key] = found

    def asked(
        self,
        actor: Actor,
        ability: Ability,
        target: str,
        answer: Asked,
        *,
        note: str = "",
        at_most: Certainty = "yes",
    ) -> None:
        """Add what an actor may do, if it may do anything."""
        if not answer:
            return
        certainty: Certainty = "yes" if answer.allowed and at_most == "yes" else "undetermined"
        source = self.resource(actor.resource)
        self.step(
            source,
            ability,
            target,
            certainty,
            actions=answer.actions,
            evidence=evidence_of(answer.grants),
            note=note,
        )

    def administrators(
        self,
        ability: Ability,
        target: str,
        *,
        actions: Iterable[str],
        certainty: Certainty = "yes",
        evidence: Iterable[Evidence] = (),
        note: str = "",
    ) -> None:
        """Add what the identity policies of the account decide, which the templates do not show."""
        source = self.node(
            Node(
                ADMINISTRATORS,
                "account",
                "administrators of the account",
                outside=True,
                note="any identity whose own policies allow it; who, cannot be told from the templates",
            )
        )
        self.step(source, ability, target, certainty, actions=actions, evidence=evidence, note=note)

    def leads_to_code(
        self, source: str, how: str, certainty: Certainty = "yes", evidence: Iterable[Evidence] = ()
    ) -> None:
        """Say how something leads to code on the training nodes."""
        self.nodes[source] = replace(self.nodes[source], effect=how)
        target = self.node(Node(TRAINING_NODES, "nodes", "training nodes"))
        self.step(source, "lead-to-code", target, certainty, evidence=evidence, note=how)

    def actor_of(self, kind: str, value: Any) -> Actor | None:
        """Return the role or user of the templates that a principal of a policy is."""
        return self._by_principal.get(single(value)) if kind in ("AWS", "*") else None

    def owns(self, value: Any, holder: Resource) -> bool:
        """Whether a principal means the account of a resource as a whole."""
        account = account_of(value)
        if account is None:
            return False
        own = holder.document.account
        return account == own or (isinstance(account, Pseudo) and account.name == "AWS::AccountId")

    def outsider(self, kind: str, value: Any, *, note: str = "") -> str:
        """Put a principal of a policy that the templates do not make on the map, and return its id."""
        said = say(value)
        if value == "*" and kind in ("*", "AWS"):
            return self.node(Node(ANYONE, "anyone", "anyone, also outside AWS", outside=True))
        if kind == "Service":
            return self.node(Node(f"service {said}", "service", f"service {said}", outside=True))
        if kind == "Federated":
            return self.node(
                Node(f"federated {said}", "federated", f"federated by {said}", outside=True, note=note)
            )
        account = account_of(value)
        if account is not None:
            account = say(account)
            return self.node(
                Node(
                    f"account {account}",
                    "account",
                    f"account {account}",
                    outside=True,
                    note="who, is decided there",
                )
            )
        label = said if kind == "AWS" else f"{kind} {said}"
        if isinstance(value, Parameter):
            label = f"parameter {label}"
        return self.node(
            Node(
                label,
                "identity",
                label,
                outside=True,
                note=note or "its policies are not in the templates",
            )
        )


def conditions_of(statement: Statement) -> str:
    """Say that a statement holds under conditions only, if so."""
    if not statement.conditions:
        return ""
    return "only if " + " and ".join(f"{item} {say(item.values)}" for item in statement.conditions)


def is_of_another_account(value: Any, holder: Resource) -> bool:
    """Whether an ARN names another account than that of a resource."""
    text = value.parts[0] if isinstance(value, Text) and isinstance(value.parts[0], str) else value
    if isinstance(text, Unresolved) or not isinstance(text, str):
        return False
    segments = text.split(":")
    account = segments[4] if len(segments) > 4 and segments[0] == "arn" else ""
    return account.isdigit() and account != holder.document.account
