"""Environment that makes collective communication use EFA, by instance type."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hyperpod_model.catalog._tables import fact, frozen, table
from hyperpod_model.catalog.instances import InstanceType

_TABLE = table("collectives")
_SOCKETS = _TABLE["socket_interfaces"]

PROVIDER: tuple[str, str] = frozen(_TABLE["provider"])
"""Makes libfabric fail where there is no EFA, in place of falling back to TCP."""

DEVICE_RDMA: tuple[str, str] = frozen(_TABLE["device_rdma"])
"""Needed by old libfabric only. Where EFA has no RDMA read, it aborts the process."""

FORK_SAFE: tuple[str, str] = fact("fork safety of EFA on Trainium", _TABLE["fork_safe"], _TABLE).value
SOCKET_INTERFACES: str = _SOCKETS["variable"]
"""Variable with the interfaces over which NCCL finds its peers; ``^`` leaves out what begins with a word."""

POD_NETWORK_INTERFACES: str = _SOCKETS["pod_network"]
HOST_NETWORK_INTERFACES: str = _SOCKETS["host_network"]
"""Leaves out the VPC CNI's ends of other pods' interfaces as well."""

NEURON_SOCKET_INTERFACE: tuple[str, str] = fact(
    "interface of Neuron's collective communication", _TABLE["neuron_socket_interface"], _TABLE
).value
DEBUG: tuple[str, str] = frozen(_TABLE["debug"])
"""So that the log tells which transport NCCL took."""

DEBUG_LEVELS: tuple[str, ...] = tuple(_TABLE["debug_levels"])
WITHOUT_PLUG_IN: Mapping[str, list[str]] = MappingProxyType(
    fact("settings of NCCL without its plug-in", _TABLE["without_plug_in"], _TABLE).value
)
"""Variables, each with the values, in lower case, by which NCCL does not use EFA."""

UNSAFE_VARIABLES: Mapping[str, str] = MappingProxyType(_TABLE["unsafe"])
"""Variables to leave out, each with the reason."""


def aborts_with_device_rdma(instance_type: InstanceType) -> bool:
    """Whether :data:`DEVICE_RDMA` aborts processes on a type: it has EFA, without RDMA read.

    Args:
        instance_type: Any type.
    """
    interfaces = instance_type.efa_interfaces.assuming(because="a flag too few does no harm")
    return interfaces > 0 and not instance_type.rdma_read


def collective_environment(
    instance_type: InstanceType, *, efa_interfaces: int, host_network: bool = False
) -> dict[str, str]:
    """Environment for collective communication of a pod.

    Args:
        instance_type: Type of the node.
        efa_interfaces: EFA interfaces that the pod asks for.
        host_network: Whether the pod is in the host's network. By default it is in its own.
    """
    accelerator = instance_type.accelerator
    variables: list[tuple[str, str]] = []
    if efa_interfaces > 0:
        variables.append(PROVIDER)
        if not aborts_with_device_rdma(instance_type):
            variables.append(DEVICE_RDMA)
    if accelerator is None:
        return dict(variables)
    if accelerator.kind == "neuron":
        if efa_interfaces > 0:
            variables.append(FORK_SAFE)
        if not host_network:
            variables.append(NEURON_SOCKET_INTERFACE)
        return dict(variables)
    interfaces = HOST_NETWORK_INTERFACES if host_network else POD_NETWORK_INTERFACES
    return dict([*variables, (SOCKET_INTERFACES, interfaces), DEBUG])
