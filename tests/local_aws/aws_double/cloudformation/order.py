"""The order of work that is worst for a template which forgot a dependency.

CloudFormation works on everything at once whose declared dependencies are met. What goes first then is luck,
and a forgotten dependency shows one day in ten. Here it shows every time: what fails without its surroundings
goes as early as the declarations allow, and what others need goes as late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_double.cloudformation.errors import Refused

SENSITIVE: Final = (
    "AWS::EKS::Addon",
    "AWS::SageMaker::Cluster",
    "AWS::FSx::",
    "AWS::EKS::Cluster",
    "AWS::EKS::",
    "Custom::",
    "AWS::CloudFormation::CustomResource",
)
"""Types, or how they begin, that fail without their surroundings; the most demanding first."""

NEEDED: Final = (
    "AWS::IAM::Policy",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::SubnetNetworkAclAssociation",
    "AWS::EC2::Route",
    "AWS::EC2::",
    "AWS::S3::BucketPolicy",
    "AWS::KMS::",
)
"""Types, or how they begin, that others need while they are deleted; the most needed first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A resource as far as the order goes.

    Attributes:
        type: CloudFormation type.
        depends_on: Logical ids of what must exist before it and outlive it.
    """

    type: str
    depends_on: frozenset[str]


def creation(nodes: Mapping[str, Node]) -> list[str]:
    """Return the order to create resources in.

    Raises:
        Refused: If they depend on each other in a circle.
    """
    _refuse_circles(nodes)
    before = {name: node.depends_on & nodes.keys() for name, node in nodes.items()}
    return _ordered(nodes, before, first=SENSITIVE)


def deletion(nodes: Mapping[str, Node]) -> list[str]:
    """Return the order to delete resources in."""
    _refuse_circles(nodes)
    before: dict[str, set[str]] = {name: set() for name in nodes}
    for name, node in nodes.items():
        for target in node.depends_on & nodes.keys():
            before[target].add(name)
    return _ordered(nodes, before, first=NEEDED, last=SENSITIVE)


def _ordered(
    nodes: Mapping[str, Node],
    before: Mapping[str, frozenset[str] | set[str]],
    *,
    first: tuple[str, ...],
    last: tuple[str, ...] = (),
) -> list[str]:
    """Put each resource right after what must precede it, the most urgent resource with its train first."""
    trains = {name: _closure(name, before) for name in nodes}
    # CDK writes a resource after most of what it needs: the template's end is the place to look for gaps.
    position = {name: -place for place, name in enumerate(nodes)}

    def urgency(name: str) -> tuple[int, int, int]:
        rank = _rank(nodes[name].type, first)
        if rank == len(first) and last:
            rank += len(last) - _rank(nodes[name].type, last)
        return rank, len(trains[name]), position[name]

    done: dict[str, None] = {}

    def place(names: set[str] | frozenset[str]) -> None:
        for name in sorted(names, key=urgency):
            if name not in done:
                place(trains[name] - done.keys())
                done[name] = None

    place(set(nodes))
    return list(done)


def _rank(type_name: str, beginnings: tuple[str, ...]) -> int:
    for rank, beginning in enumerate(beginnings):
        if type_name == beginning or (beginning.endswith("::") and type_name.startswith(beginning)):
            return rank
    return len(beginnings)


def _closure(name: str, before: Mapping[str, frozenset[str] | set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(before[name])
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += before[one]
    return found


def _refuse_circles(nodes: Mapping[str, Node]) -> None:
    left = {name: set(node.depends_on & nodes.keys()) for name, node in nodes.items()}
    while left:
        free = [name for name, needs in left.items() if not needs & left.keys()]
        if not free:
            raise Refused(f"Circular dependency between resources: [{', '.join(sorted(left))}]")
        for name in free:
            del left[name]
