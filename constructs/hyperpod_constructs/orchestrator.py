"""What schedules jobs on the nodes."""

from __future__ import annotations

from typing import Any, Literal

from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.checks.reading import is_unknown, quoted
from hyperpod_model.faults import Fault, InvalidInputError

_SLURM = ("Orchestrator", "Slurm", "SlurmConfigStrategy")


class Orchestrator:
    """The orchestrator of a cluster. Make one with ``Orchestrator.slurm(...)``."""

    def __init__(
        self,
        *,
        kind: Literal["slurm"],
        slurm_configuration: SlurmConfiguration,
        slurm_strategy: str | None,
    ) -> None:
        self._kind: Literal["slurm"] = kind
        self._slurm_configuration = slurm_configuration
        self._slurm_strategy = slurm_strategy

    @classmethod
    def slurm(
        cls, *, configuration: SlurmConfiguration | None = None, strategy: str | None = None
    ) -> Orchestrator:
        """Let Slurm schedule the jobs.

        Args:
            configuration: Who configures Slurm. Default: ``SlurmConfiguration.BY_HYPERPOD``, which cannot
                be undone for a cluster; see there.
            strategy: How HyperPod treats changes to ``slurm.conf`` made by hand, ``Overwrite``, ``Managed``
                or ``Merge``. Must be left out with continuous provisioning, and should be given without it,
                since the documentation disagrees on the default. Under ``Managed`` an edit by hand makes
                updates fail. Source: SageMaker AI developer guide,
                sagemaker-hyperpod-slurm-api-config-migration.

        Raises:
            InvalidInputError: If the strategy is none of these, or the scripts configure Slurm and leave
                nothing for a strategy to decide.
        """
        chosen = SlurmConfiguration.BY_HYPERPOD if configuration is None else configuration
        strategies = cluster_request().at(*_SLURM).enum
        faults = []
        if not isinstance(chosen, SlurmConfiguration):
            faults.append(
                Fault(
                    ("Slurm orchestrator",),
                    f"configuration must be SlurmConfiguration.BY_HYPERPOD or BY_LIFECYCLE_SCRIPTS, got "
                    f"{configuration!r}",
                )
            )
        if strategy is not None and not is_unknown(known(strategy)) and strategy not in strategies:
            faults.append(
                Fault(
                    ("Slurm orchestrator",), f"strategy must be one of {quoted(strategies)}, got {strategy!r}"
                )
            )
        if strategy is not None and chosen == SlurmConfiguration.BY_LIFECYCLE_SCRIPTS:
            faults.append(
                Fault(
                    ("Slurm orchestrator",),
                    f"strategy {strategy!r} needs SlurmConfiguration.BY_HYPERPOD; leave it out "
                    "where lifecycle scripts configure Slurm",
                )
            )
        if faults:
            raise InvalidInputError(faults)
        return cls(kind="slurm", slurm_configuration=chosen, slurm_strategy=strategy)

    @property
    def kind(self) -> Literal["slurm"]:
        """Name of the orchestrator in rules and tables."""
        return self._kind

    @property
    def slurm_configuration(self) -> SlurmConfiguration:
        """Who configures Slurm."""
        return self._slurm_configuration

    @property
    def slurm_strategy(self) -> str | None:
        """How HyperPod treats changes to ``slurm.conf`` made by hand."""
        return self._slurm_strategy

    @property
    def takes_node_types(self) -> bool:
        """Whether the service is told each group's node type and partition."""
        return self._slurm_configuration == SlurmConfiguration.BY_HYPERPOD

    @property
    def script_hook(self) -> Literal["OnInitComplete", "OnCreate"]:
        """Member of ``LifeCycleConfig`` that names the entry point of the lifecycle scripts."""
        return "OnInitComplete" if self.takes_node_types else "OnCreate"

    def to_request(self) -> dict[str, Any] | None:
        """Return ``Orchestrator`` of a ``CreateCluster`` request; ``None`` where scripts configure Slurm."""
        if not self.takes_node_types:
            return None
        strategy = self._slurm_strategy
        return {"Slurm": {} if strategy is None else {"SlurmConfigStrategy": strategy}}
