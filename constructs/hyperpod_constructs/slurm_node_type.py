"""What a node does in a Slurm cluster."""

from __future__ import annotations

from typing import ClassVar

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.faults import Fault, InvalidInputError


class SlurmNodeType:
    """Role of a group's nodes in Slurm.

    Source of the roles: API reference, ``ClusterSlurmConfig``.
    """

    CONTROLLER: ClassVar[SlurmNodeType]
    """Runs ``slurmctld``. Exactly one group of exactly one instance."""

    LOGIN: ClassVar[SlurmNodeType]
    """Where people log in. At most one group."""

    COMPUTE: ClassVar[SlurmNodeType]
    """Runs jobs. Each group belongs to one partition of the user's, and to ``dev`` besides."""

    def __init__(self, name: str) -> None:
        self._name = name

    @classmethod
    def of(cls, name: str) -> SlurmNodeType:
        """Return the node type of a name.

        Args:
            name: Such as ``Compute``, as the API writes it.

        Raises:
            InvalidInputError: If the service has no such node type.
        """
        names = instance_group().at("SlurmConfig", "NodeType").enum
        if name not in names:
            raise InvalidInputError(
                [Fault((), f"no Slurm node type {name!r}; the service has {', '.join(names)}")]
            )
        return cls(name)

    @property
    def name(self) -> str:
        """The name as the API writes it."""
        return self._name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlurmNodeType) and other.name == self._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"SlurmNodeType.of({self._name!r})"


SlurmNodeType.CONTROLLER = SlurmNodeType.of("Controller")
SlurmNodeType.LOGIN = SlurmNodeType.of("Login")
SlurmNodeType.COMPUTE = SlurmNodeType.of("Compute")
