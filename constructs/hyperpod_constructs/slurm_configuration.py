"""Who configures Slurm on the nodes."""

from __future__ import annotations

from typing import ClassVar

from hyperpod_model.faults import Fault, InvalidInputError


class SlurmConfiguration:
    """Who writes ``slurm.conf`` and starts the daemons."""

    BY_HYPERPOD: ClassVar[SlurmConfiguration]
    """HyperPod, from the node types and partitions of the groups (API-driven).

    The lifecycle scripts run at the end, as ``OnInitComplete``. **There is no way back**: a cluster that
    HyperPod has configured cannot be given back to scripts. A ``provisioning_parameters.json`` must not be
    anywhere under the scripts' prefix, or updates fail. Needs a HyperPod image of January 2026 or later.
    Source: SageMaker AI developer guide, sagemaker-hyperpod-slurm-api-config-migration.
    """

    BY_LIFECYCLE_SCRIPTS: ClassVar[SlurmConfiguration]
    """The lifecycle scripts, which run first and do everything, as ``OnCreate``: the long-standing way.

    HyperPod knows nothing of node types and partitions then and mounts no file system.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @classmethod
    def of(cls, name: str) -> SlurmConfiguration:
        """Return the configuration of a name of ``slurm.mode`` in a cluster specification.

        Args:
            name: ``api`` or ``lifecycle``.

        Raises:
            InvalidInputError: If it is another.
        """
        if name not in _NAMES:
            raise InvalidInputError(
                [Fault((), f"no Slurm configuration {name!r}; allowed: {', '.join(_NAMES)}")]
            )
        return cls(name)

    @property
    def name(self) -> str:
        """``api`` or ``lifecycle``."""
        return self._name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlurmConfiguration) and other.name == self._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"SlurmConfiguration.of({self._name!r})"


_NAMES = ("api", "lifecycle")
SlurmConfiguration.BY_HYPERPOD = SlurmConfiguration.of("api")
SlurmConfiguration.BY_LIFECYCLE_SCRIPTS = SlurmConfiguration.of("lifecycle")
