"""IP ranges as EC2 reads and tells them."""

from __future__ import annotations

import ipaddress

from aws_double.services.ec2.overriding import invalid


def canonical_range(cidr: str, *, version: int) -> str:
    """Return a range as EC2 keeps it: 10.0.0.5/16 is 10.0.0.0/16.

    Raises:
        EC2ClientError: If it is no range of that IP version.
    """
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        raise invalid(f"Value ({cidr}) for parameter cidrBlock is invalid. It is no CIDR block.") from None
    if network.version != version or "/" not in cidr:
        raise invalid(f"Value ({cidr}) for parameter cidrBlock is invalid. It is no IPv{version} CIDR block.")
    return str(network)
