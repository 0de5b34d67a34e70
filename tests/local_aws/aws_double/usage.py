"""Who holds what: a network resource or role that a running service still uses cannot go.

EC2 and IAM of moto delete a security group, subnet or role whoever uses it. On AWS network interfaces of a
cluster or a file system stand in the way, and a cluster whose role is gone hangs in ``Deleting``.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

_LOCK = Lock()
_HELD: dict[str, frozenset[str]] = {}


def hold(holder: str, ids: Iterable[str]) -> None:
    """Note that a holder uses some resources, instead of those it used before.

    Args:
        holder: ARN of what uses them.
        ids: Ids of subnets and security groups, ARNs of roles and keys.
    """
    with _LOCK:
        _HELD[holder] = frozenset(ids)


def release(holder: str) -> None:
    """Note that a holder is gone."""
    with _LOCK:
        _HELD.pop(holder, None)


def holders(resource_id: str) -> list[str]:
    """Return the ARNs of those who use a resource."""
    with _LOCK:
        return sorted(holder for holder, ids in _HELD.items() if resource_id in ids)
