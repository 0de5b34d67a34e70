"""The second EBS volume of a group, where nobody says its size."""

from __future__ import annotations

DEFAULT_ACCELERATED_SECONDARY_VOLUME_GIB = 500
"""Container images and package caches of training jobs fill the root volume, whose size cannot be chosen."""


def secondary_volume_gib(said: int | None, *, is_accelerated: bool) -> int | None:
    """Return the size in GiB of a group's second EBS volume, None for no volume.

    Args:
        said: The size somebody asked for; 0 asks for none, None for the default.
        is_accelerated: Whether the instance type is known to have accelerators. Only these get a volume by
            default.
    """
    if said is None:
        return DEFAULT_ACCELERATED_SECONDARY_VOLUME_GIB if is_accelerated else None
    return None if said == 0 else said
