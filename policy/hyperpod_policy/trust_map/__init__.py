"""The trust map: who can run code on the training nodes."""

from hyperpod_policy.trust_map.making import trust_map
from hyperpod_policy.trust_map.model import Evidence, Node, Step, TrustMap, Way

__all__ = ["Evidence", "Node", "Step", "TrustMap", "Way", "svg", "trust_map"]


def svg(trust_map: TrustMap) -> str:
    """Draw a trust map as an SVG of its own, for light and dark pages.

    Args:
        trust_map: The map.
    """
    from hyperpod_policy.trust_map.drawing import svg as drawn

    return drawn(trust_map)
