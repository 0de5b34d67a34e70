"""Time spans for people."""

from __future__ import annotations


def span(seconds: float) -> str:
    """Write a time span for people.

    Args:
        seconds: How long.
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.0f} days"
