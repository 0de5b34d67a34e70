"""Ports that nodes listen on, and the local port ranges in use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from hyperpod_model.catalog._tables import table


class PortRange(NamedTuple):
    """Ports of one protocol, both ends included."""

    protocol: Literal["tcp", "udp"]
    first: int
    last: int

    def overlaps(self, protocol: str, first: int | None = None, last: int | None = None) -> bool:
        """Whether a rule reaches one of these ports.

        Args:
            protocol: ``tcp``, ``udp``, its number as text (``6``, ``17``) or ``-1`` for all traffic.
            first: First port of the rule. All ports if None, or if -1 as CloudFormation has it.
            last: Last port of the rule. The same as ``first`` if None.
        """
        wanted = _PROTOCOL_NUMBERS.get(protocol.lower(), protocol.lower())
        if wanted == "-1":
            return True
        if wanted != self.protocol:
            return False
        if first is None or first == -1:
            return True
        return first <= self.last and (first if last is None else last) >= self.first

    def __str__(self) -> str:
        ports = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.protocol} {ports}"


_PROTOCOL_NUMBERS = {"6": "tcp", "17": "udp", "all": "-1"}


def _ranges(entry: Iterable[Any]) -> tuple[PortRange, ...]:
    return tuple(PortRange(protocol, first, last) for protocol, first, last in entry)


_PORTS = table("ports")["ports"]

TIERED_CHECKPOINTING_LISTENERS = _ranges(_PORTS["tiered_checkpointing_listeners"])
"""Exactly the ports that managed tiered checkpointing opens on each node."""

TIERED_CHECKPOINTING = _ranges(_PORTS["tiered_checkpointing"])
"""The ranges to close around the listeners: they cover the ports between them too, for shorter rule lists."""

LUSTRE = _ranges(_PORTS["lustre"])
"""FSx for Lustre, between clients and file system and within the file system."""

OPENZFS = _ranges(_PORTS["openzfs"])
"""FSx for OpenZFS, over NFS."""

SLURM_ACCOUNTING_DATABASE = _ranges(_PORTS["slurm_accounting_database"])
OPERATOR_AGENT = _ranges(_PORTS["operator_agent"])
"""The elastic agent in each training pod, called by the training operator."""

OPERATOR_METRICS = _ranges(_PORTS["operator_metrics"])
CHECKPOINTLESS = _ranges(_PORTS["checkpointless"])
"""What checkpointless training adds on the host network: the agent and peer recovery."""

EKS_CONTROL_PLANE = _ranges(_PORTS["eks_control_plane"])
"""The least that a node and the control plane need of each other, DNS included."""

HTTP = _ranges(_PORTS["http"])
HTTPS = _ranges(_PORTS["https"])
DNS = _ranges(_PORTS["dns"])
TIME_SYNC = _ranges(_PORTS["time_sync"])

LINUX_EPHEMERAL = _ranges(_PORTS["linux_ephemeral"])
"""Local ports of outgoing connections with the Linux default."""

CHECKPOINTLESS_EPHEMERAL = _ranges(_PORTS["checkpointless_ephemeral"])
"""Local ports of outgoing connections with the sysctl that checkpointless training asks for."""

NAT_GATEWAY_EPHEMERAL = _ranges(_PORTS["nat_gateway_ephemeral"])
"""Local ports of a NAT gateway: what answers to a public subnet come back on."""
