"""Slurm that lifecycle scripts configure: who does what, and what is added to ``slurm.conf``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import (
    WorkerGroup,
    render_provisioning_parameters,
)
from hyperpod_model.checks.slurm_settings import check_slurm_settings
from hyperpod_model.faults import Fault, refuse


@dataclass(frozen=True, kw_only=True)
class ClassicSlurm:
    """A Slurm cluster whose package's own ``on_create.sh`` starts the daemons.

    HyperPod makes ``slurm.conf`` of a ``provisioning_parameters.json`` rendered from this, and the scripts
    add the rest. Not together with node types and partitions that the service is told: an update with both
    fails and rolls back.

    Args:
        controller_group: Name of the instance group, of one instance, that runs ``slurmctld``.
        worker_groups: The groups that run jobs, at least one, each with its partition.
        login_group: Name of the instance group where people log in. None by default.
        accounting: Whether a database on the controller keeps what jobs used. It is set up before
            ``slurmctld`` starts for the first time, goes with the controller's root volume, and cannot be
            added to a cluster that runs. Default: no accounting.
        settings: Further parameters of ``slurm.conf`` by name. None by default.

    Raises:
        InvalidInputError: With everything that HyperPod or Slurm would stop at.
    """

    controller_group: str
    worker_groups: Sequence[WorkerGroup]
    login_group: str | None = None
    accounting: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = check_slurm_settings(self.settings, accounting=self.accounting)
        faults = [fault._replace(path=("settings", *fault.path)) for fault in found]
        if not isinstance(self.accounting, bool):
            faults.append(Fault(("accounting",), f"must be true or false, got {self.accounting!r}"))
        refuse(faults)
        self.provisioning_parameters()

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """Settings that are legal and probably not meant."""
        found = check_slurm_settings(self.settings, accounting=self.accounting)
        return tuple(fault._replace(path=("settings", *fault.path)) for fault in found)

    def provisioning_parameters(self) -> str:
        """Return ``provisioning_parameters.json``, of which HyperPod makes ``slurm.conf``."""
        return render_provisioning_parameters(
            controller_group=self.controller_group,
            login_group=self.login_group,
            worker_groups=self.worker_groups,
        )

    def to_parameters(self) -> dict[str, Any]:
        """Return ``slurm`` of the scripts' ``parameters.json``."""
        parameters: dict[str, Any] = {
            "mode": "lifecycle",
            "controller_group": self.controller_group,
            "worker_groups": [group.instance_group_name for group in self.worker_groups],
            "accounting": self.accounting,
            "settings": [f"{name}={value}" for name, value in sorted(self.settings.items())],
        }
        if self.login_group is not None:
            parameters["login_group"] = self.login_group
        return parameters
