"""Tags that record on a cluster what a reviewer cannot see in its other properties."""

from __future__ import annotations

from typing import Final

SPARE_NODES: Final = "hyperpod:spare-nodes"
"""Number of accelerated nodes that jobs leave free."""

REPLACEMENT_WAIT: Final = "hyperpod:replacement-wait"
"""What two more hours for a replacement mean: ``tolerable``, ``avoid`` or ``intolerable``."""

OWN: Final = (SPARE_NODES, REPLACEMENT_WAIT)
"""Keys of the tags that every cluster made here has, beside those of its user."""
