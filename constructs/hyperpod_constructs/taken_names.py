"""Names that an account has once in a region, such as those of alarms."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from aws_cdk import Stack, Token
from constructs import Construct, IConstruct

from hyperpod_model.faults import Fault, FaultPath

_TAKEN: WeakKeyDictionary[IConstruct, dict[tuple[str, str], list[Construct]]] = WeakKeyDictionary()


def claim_name(scope: Construct, kind: str, name: str, *, path: FaultPath, way_out: str) -> list[Fault]:
    """Take a name for a construct, unless another one of the app has it where both are deployed.

    Stacks whose account or region is known only at deployment are not compared with others.

    Args:
        scope: Construct that makes what has the name.
        kind: What has it, such as ``alarm``.
        name: The name; a Token is compared within its stack.
        path: Argument by which the name comes.
        way_out: What to do, such as ``pass idle_hours=None``.
    """
    holders = _TAKEN.setdefault(scope.node.root, {}).setdefault((kind, name), [])
    for holder in holders:
        if _meet(holder, scope, name):
            message = (
                f"the {kind} of '{name}' is made by '{holder.node.path}' already, and an account has "
                f"one of that name in a region; {way_out}"
            )
            return [Fault(path, message)]
    holders.append(scope)
    return []


def _meet(one: Construct, other: Construct, name: str) -> bool:
    first, second = Stack.of(one), Stack.of(other)
    if first is second:
        return True
    places = (first.account, first.region), (second.account, second.region)
    known = not any(Token.is_unresolved(part) for part in (name, *places[0], *places[1]))
    return known and places[0] == places[1]
