"""What the package's own scripts know of the cluster: ``parameters.json`` beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from hyperpod_lifecycle.slurm_configuration.classic_slurm import ClassicSlurm
from hyperpod_model.catalog.job_figures import (
    CHECK_MINUTES,
    CLUSTER_DIMENSION,
    FIGURES_BY_KEY,
    QUEUE_DIMENSION,
    SLURM_OTHER_WAITS,
)
from hyperpod_model.catalog.logs import METRIC_NAMESPACE

PARAMETERS_FILE = "parameters.json"
"""Name of the file, at the top of the folder of scripts."""

Mount: TypeAlias = Mapping[str, str]
"""A file system that scripts mount, from :func:`lustre_mount` or :func:`openzfs_mount`."""


def lustre_mount(*, dns_name: str, mount_name: str, mount_path: str) -> Mount:
    """An FSx for Lustre file system.

    Args:
        dns_name: Its DNS name.
        mount_name: Its mount name.
        mount_path: Where nodes have it.
    """
    return {"type": "lustre", "dns_name": dns_name, "mount_name": mount_name, "mount_path": mount_path}


def openzfs_mount(*, dns_name: str, mount_path: str, volume_path: str = "/fsx") -> Mount:
    """An FSx for OpenZFS file system.

    Args:
        dns_name: Its DNS name.
        mount_path: Where nodes have it.
        volume_path: The volume. Default: ``/fsx``, the root volume.
    """
    return {"type": "openzfs", "dns_name": dns_name, "volume_path": volume_path, "mount_path": mount_path}


class RecoveryRecordsFolder(NamedTuple):
    """Where the resume library's records are, and who ships them.

    Attributes:
        group: Instance group that does, of one node: others have the same folder.
        folder: Folder on a shared file system.
    """

    group: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class NodeParameters:
    """Values of a cluster that its nodes' scripts need. Absent ones leave their step without work.

    Args:
        orchestrator: ``slurm`` or ``eks``.
        required_mounts: Paths by instance group that must be mounted and take writes. None by default.
        mounts: File systems by instance group that scripts mount, where HyperPod does not. None by default.
        efa_interfaces: EFA interfaces that a node has to show, by instance type. None by default.
        second_volume_groups: Instance groups whose nodes have a second volume, which is waited for. None by
            default.
        gpus: NVIDIA GPUs that a node has to show, by instance type. None by default.
        users_file: CSV on a shared file system with name, uid and home of each user. None by default.
        shared_folder: Folder on a shared file system where nodes leave each other their keys. None by
            default.
        log_files: Files by name of the log stream, shipped to the cluster's log group. None by default.
        recovery_records: Records of recoveries, shipped to the cluster's log group. None by default.
        job_figures_group: Instance group of the controller, which puts figures of jobs into CloudWatch.
            By default nobody does.
        slurm: Slurm, where the scripts configure it. By default HyperPod does.
    """

    orchestrator: Literal["slurm", "eks"]
    required_mounts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mounts: Mapping[str, Sequence[Mount]] = field(default_factory=dict)
    efa_interfaces: Mapping[str, int] = field(default_factory=dict)
    second_volume_groups: Sequence[str] = ()
    gpus: Mapping[str, int] = field(default_factory=dict)
    users_file: str | None = None
    shared_folder: str | None = None
    log_files: Mapping[str, str] = field(default_factory=dict)
    recovery_records: RecoveryRecordsFolder | None = None
    job_figures_group: str | None = None
    slurm: ClassicSlurm | None = None

    def render(self) -> str:
        """Return the file, with a line feed at its end; values that are Tokens stay as they are."""
        content: dict[str, Any] = {
            "orchestrator": self.orchestrator,
            "required_mounts": _lists(self.required_mounts),
            "mounts": _lists(self.mounts),
            "efa_interfaces": dict(self.efa_interfaces),
            "second_volume_groups": list(self.second_volume_groups),
            "gpus": dict(self.gpus),
            "users_file": self.users_file,
            "shared_folder": self.shared_folder,
            "log_shipping": self._log_shipping(),
            "job_figures": None if self.job_figures_group is None else self._job_figures(),
            "slurm": None if self.slurm is None else self.slurm.to_parameters(),
        }
        said = {name: value for name, value in content.items() if value not in (None, {}, [])}
        return json.dumps(said, indent=2, sort_keys=True) + "\n"

    def _log_shipping(self) -> dict[str, Any]:
        records = self.recovery_records
        content = {
            "files": dict(self.log_files),
            "records": {} if records is None else records._asdict(),
        }
        return {name: value for name, value in content.items() if value}

    def _job_figures(self) -> dict[str, Any]:
        return {
            "group": self.job_figures_group,
            "minutes": CHECK_MINUTES,
            "namespace": METRIC_NAMESPACE,
            "figures": dict(FIGURES_BY_KEY),
            "cluster_dimension": CLUSTER_DIMENSION,
            "queue_dimension": QUEUE_DIMENSION,
            "other_waits": list(SLURM_OTHER_WAITS),
        }


def _lists(by_group: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {group: list(items) for group, items in by_group.items()}
