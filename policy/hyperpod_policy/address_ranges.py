"""Address ranges that rules, routes and subnets name."""

from __future__ import annotations

import ipaddress
from typing import Any, Final, TypeAlias

Network: TypeAlias = "ipaddress.IPv4Network | ipaddress.IPv6Network"

_WIDEST: Final = {4: 8, 6: 16}
"""Prefix lengths by IP version; a wider range of public addresses is no single holder's."""

_PRIVATE: Final[tuple[Network, ...]] = tuple(
    ipaddress.ip_network(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)


def network_of(value: Any) -> Network | None:
    """Return an address range; ``None`` if only deployment can tell, or if it is none."""
    if not isinstance(value, str):
        return None
    try:
        return ipaddress.ip_network(value, strict=False)
    except ValueError:
        return None


def within(inner: Network, outer: Network) -> bool:
    """Tell whether one address range lies in another; ranges of two IP versions never do."""
    if isinstance(inner, ipaddress.IPv4Network) and isinstance(outer, ipaddress.IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(inner, ipaddress.IPv6Network) and isinstance(outer, ipaddress.IPv6Network):
        return inner.subnet_of(outer)
    return False


def is_wide_and_public(network: Network) -> bool:
    """Tell whether a range holds more public addresses than one holder has."""
    return network.prefixlen < _WIDEST[network.version] and not any(
        within(network, private) for private in _PRIVATE
    )
