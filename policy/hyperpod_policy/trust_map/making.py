"""Makes the trust map of templates, in all worlds that they leave open."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hyperpod_policy.choices import World
from hyperpod_policy.documents import Document
from hyperpod_policy.review import documents_of
from hyperpod_policy.template import Template
from hyperpod_policy.trust_map.building import built
from hyperpod_policy.trust_map.draft import ADMINISTRATORS, TRAINING_NODES, Draft
from hyperpod_policy.trust_map.model import CERTAINTIES, Ability, Node, Step, TrustMap
from hyperpod_policy.trust_map.ways import ways_over

MAX_WORLDS: Final = 16
"""How many combinations of parameter values and conditions one map looks at."""

_ALWAYS: Final = (
    "policies of the organization (SCP, RCP), which can only take away",
    "identities, policies and rules that are made outside the templates",
)


def trust_map(
    template: Mapping[str, Any] | Document | Sequence[Document],
    *,
    region: str | None = None,
    account: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    file: str | None = None,
    checkpoint_buckets: Collection[str] = (),
) -> TrustMap:
    """Tell who can run code on the training nodes of templates under review together.

    Args:
        template: A decoded template, or documents that know their nested stacks.
        region: Region of a decoded template, such as ``us-east-1``. By default unknown.
        account: Account id of a decoded template. By default unknown.
        parameters: Parameter values of a decoded template, by name. By default those the template tells.
        file: File a decoded template was read from. By default none.
        checkpoint_buckets: Names or logical ids of checkpoint buckets, beside those that their use tells.

    Returns:
        The map; it is empty for templates without a HyperPod cluster.
    """
    documents = documents_of(template, region=region, account=account, parameters=parameters, file=file)
    drafts: list[tuple[str, Draft]] = []
    waiting, seen = deque([World()]), {_identity(World())}
    while waiting and len(drafts) < MAX_WORLDS:
        world = waiting.popleft()
        draft = built(Template(documents, world=world, checkpoint_buckets=checkpoint_buckets))
        drafts.append((str(world), draft))
        for neighbour in world.neighbours():
            identity = _identity(neighbour)
            if identity not in seen:
                seen.add(identity)
                waiting.append(neighbour)
    nodes, steps = _together(drafts)
    if not steps:
        return TrustMap()
    kept = _relevant(nodes, steps)
    limits = dict.fromkeys(_ALWAYS)
    for _, draft in drafts:
        limits |= draft.limits
    if waiting:
        limits[f"{len(waiting)} or more further combinations of parameter values and conditions"] = None
    used = {end for step in kept for end in (step.source, step.target)}
    return TrustMap(
        nodes={name: node for name, node in nodes.items() if name in used},
        steps=kept,
        ways=ways_over(nodes, kept),
        limits=tuple(limits),
    )


def _identity(world: World) -> frozenset[tuple[Hashable, Hashable]]:
    return frozenset((key, str(value)) for key, value in world.decided.items())


def _together(drafts: Sequence[tuple[str, Draft]]) -> tuple[dict[str, Node], tuple[Step, ...]]:
    """Merge what holds in several worlds; what does not hold in all of them says when it does."""
    nodes: dict[str, Node] = {}
    found: dict[tuple[str, Ability, str], list[tuple[str, Step]]] = {}
    for world, draft in drafts:
        nodes = {**draft.nodes, **nodes}
        for key, step in draft.steps.items():
            found.setdefault(key, []).append((world, step))
    steps = []
    for versions in found.values():
        world, step = min(versions, key=lambda item: CERTAINTIES.index(item[1].certainty))
        everywhere = len(versions) == len(drafts)
        if everywhere and len({version.certainty for _, version in versions}) == 1:
            steps.append(step)
            continue
        when = world if world else "parameters and conditions have their defaults"
        certainty = "undetermined" if step.certainty == "yes" else step.certainty
        steps.append(replace(step, certainty=certainty, when=when))
    return nodes, tuple(steps)


def _relevant(nodes: Mapping[str, Node], steps: Sequence[Step]) -> tuple[Step, ...]:
    """Leave out steps to what leads nowhere."""
    reaching = {name for name, node in nodes.items() if node.effect}
    reaching |= {TRAINING_NODES, ADMINISTRATORS}
    grown = True
    while grown:
        more = {step.source for step in steps if step.target in reaching and step.certainty != "no"}
        grown = not more <= reaching
        reaching |= more
    return tuple(step for step in steps if step.target in reaching)
