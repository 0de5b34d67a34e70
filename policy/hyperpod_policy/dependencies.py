"""What must exist before a resource, directly or through others."""

from __future__ import annotations

from hyperpod_policy.template import Resource


def before(resource: Resource) -> set[str]:
    """Return the keys of all that a resource depends on, transitively."""
    found: set[str] = set()
    waiting = [resource]
    while waiting:
        for other in waiting.pop().dependencies():
            if other.key not in found:
                found.add(other.key)
                waiting.append(other)
    return found


def deployed_together(one: Resource, other: Resource) -> bool:
    """Tell whether two resources belong to one deployment: the same template, or nested stacks of one."""
    return one.root == other.root
