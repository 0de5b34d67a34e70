"""The kind of a group's network interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.checks.instance_types import listed_type, named_types
from hyperpod_model.checks.reading import absent, at, quoted, text
from hyperpod_model.faults import Fault

_PATH = ("NetworkInterface", "InterfaceType")


def check_network_interfaces(group: Mapping[str, Any]) -> list[Fault]:
    """Check that the interfaces are of a kind, and that the instance types have EFA."""
    if isinstance(at(group, "NetworkInterface"), Mapping) and absent(group, *_PATH):
        kinds = quoted(instance_group().at(*_PATH).enum)
        return [Fault(_PATH, f"is required by CloudFormation, though not by the API: {kinds}")]
    kind = text(group, *_PATH)
    if kind is None:
        return []
    without = [
        name
        for _, name in named_types(group)
        if (found := listed_type(name)) is not None and found.efa_interfaces.if_certain(1) == 0
    ]
    if not without:
        return []
    return [
        Fault(
            _PATH,
            f"{kind!r} needs instance types with EFA, got {quoted(dict.fromkeys(without))}; leave it out, or "
            "choose a larger type",
        )
    ]
