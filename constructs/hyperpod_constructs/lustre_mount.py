"""A Lustre file system that HyperPod mounts on the nodes of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.cluster_properties import without_absent
from hyperpod_constructs.value_faults import refuse_value, shape_faults
from hyperpod_model.catalog.cluster_request import instance_group

_PROPS = {"DnsName": "dns_name", "MountName": "mount_name", "MountPath": "mount_path"}


@dataclass(frozen=True, kw_only=True)
class LustreMount:
    """An FSx for Lustre file system, such as an existing one, and where nodes have it.

    HyperPod mounts file systems where it configures Slurm. Nodes need a way to it on Lustre's ports. A
    change reaches only new nodes. Source: SageMaker AI developer guide, HyperPod Slurm pages.

    Args:
        dns_name: DNS name, such as ``fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com``.
        mount_name: Mount name, at most 8 letters, digits, ``_`` and ``-``.
        mount_path: Where nodes have it. Default: ``/fsx``.

    Raises:
        InvalidInputError: If a value is of another form.
    """

    dns_name: str
    mount_name: str
    mount_path: str | None = None

    def __post_init__(self) -> None:
        model = instance_group().at("InstanceStorageConfigs", "FsxLustreConfig")
        refuse_value("Lustre mount", shape_faults(self.to_request(), model, _PROPS))

    def to_request(self) -> dict[str, Any]:
        """Return ``FsxLustreConfig`` of a ``CreateCluster`` request."""
        return without_absent(
            {"DnsName": self.dns_name, "MountName": self.mount_name, "MountPath": self.mount_path}
        )
