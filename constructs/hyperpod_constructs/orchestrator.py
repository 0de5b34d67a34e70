"""What schedules jobs on the nodes."""

from __future__ import annotations

from typing import Any, Literal, Protocol, cast

from constructs import IDependable

from hyperpod_constructs.accounting_database import AccountingDatabase
from hyperpod_constructs.argument_kinds import ACCOUNTING_DATABASE, EKS_CLUSTER, check_kind
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.tokens import known
from hyperpod_constructs.value_faults import choice_faults, refuse_value, shape_faults
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.checks.reading import is_unknown, quoted
from hyperpod_model.faults import Fault, InvalidInputError

ScriptHook = Literal["OnInitComplete", "OnCreate"]

_SLURM = ("Orchestrator", "Slurm", "SlurmConfigStrategy")
_HOOKS: tuple[ScriptHook, ...] = ("OnInitComplete", "OnCreate")


class ControlPlane(Protocol):
    """An EKS cluster and what has to be in it before nodes come; ``EksControlPlane`` is one."""

    @property
    def cluster_arn(self) -> str:
        """ARN of the EKS cluster."""

    @property
    def dependencies_ready(self) -> IDependable:
        """Add-ons and charts that nodes need."""


class Orchestrator:
    """The orchestrator of a cluster. Make one with ``Orchestrator.slurm(...)`` or ``.eks(...)``."""

    def __init__(
        self,
        *,
        kind: Literal["slurm", "eks"],
        slurm_configuration: SlurmConfiguration | None = None,
        slurm_strategy: str | None = None,
        accounting_database: AccountingDatabase | None = None,
        control_plane: Any = None,
        has_training_operator: bool = False,
        script_hook: ScriptHook | None = None,
    ) -> None:
        self._kind: Literal["slurm", "eks"] = kind
        self._slurm_configuration = slurm_configuration
        self._slurm_strategy = slurm_strategy
        self._accounting_database = accounting_database
        self._control_plane = control_plane
        self._has_training_operator = has_training_operator
        self._script_hook = script_hook

    @classmethod
    def slurm(
        cls,
        *,
        configuration: SlurmConfiguration | None = None,
        strategy: str | None = None,
        accounting_database: AccountingDatabase | None = None,
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
            accounting_database: Database of yours for Slurm's accounting, which a cluster cannot give up
                again. Needs continuous provisioning. Default: one on the controller.

        Raises:
            InvalidInputError: If the strategy is none of these, or the scripts configure Slurm and leave
                nothing for a strategy or a database to decide.
        """
        chosen = SlurmConfiguration.BY_HYPERPOD if configuration is None else configuration
        strategies = cluster_request().at(*_SLURM).enum
        faults = [
            fault._replace(path=("Slurm orchestrator",), message=f"accounting_database {fault.message}")
            for fault in check_kind(accounting_database, ACCOUNTING_DATABASE, ("accounting_database",))
        ]
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
        if accounting_database is not None and chosen == SlurmConfiguration.BY_LIFECYCLE_SCRIPTS:
            faults.append(
                Fault(
                    ("Slurm orchestrator",),
                    "accounting_database needs SlurmConfiguration.BY_HYPERPOD; configure slurmdbd in the "
                    "lifecycle scripts instead",
                )
            )
        if faults:
            raise InvalidInputError(faults)
        return cls(
            kind="slurm",
            slurm_configuration=chosen,
            slurm_strategy=strategy,
            accounting_database=accounting_database,
        )

    @classmethod
    def eks(
        cls,
        control_plane: ControlPlane | str,
        *,
        has_training_operator: bool | None = None,
        script_hook: str = "OnCreate",
    ) -> Orchestrator:
        """Let Kubernetes schedule the jobs.

        The cluster is made after the control plane with its add-ons and charts, which nodes need when they
        join. Another EKS cluster is another HyperPod cluster: it is replaced, nodes and all. It needs
        ``vpc_subnets`` (or ``network``) and ``security_groups``, in the VPC of the EKS cluster. Source:
        CloudFormation, AWS::SageMaker::Cluster; SageMaker AI developer guide,
        sagemaker-hyperpod-eks-prerequisites.

        Args:
            control_plane: ``EksControlPlane``, or the ARN of an existing EKS cluster that has all that nodes
                need already.
            has_training_operator: Whether the HyperPod training operator runs in the EKS cluster. It may read
                only clusters with the tag ``SageMaker=true``, which the cluster then gets. Source: AWS
                Managed Policy Reference, AmazonSageMakerHyperPodTrainingOperatorAccess. Default: what
                the control plane says; ``False`` for an ARN.
            script_hook: When lifecycle scripts run: ``OnCreate`` instead of the set-up that HyperPod makes,
                ``OnInitComplete`` after it. Default: ``OnCreate``, the documented way with EKS.

        Raises:
            InvalidInputError: If the control plane is none, or the hook is another.
        """
        faults = choice_faults(script_hook, _HOOKS, "script_hook")
        if has_training_operator is not None and not isinstance(has_training_operator, bool):
            faults.append(
                Fault(("has_training_operator",), f"must be True or False, got {has_training_operator!r}")
            )
        if isinstance(control_plane, str):
            model = cluster_request().at("Orchestrator", "Eks")
            faults += shape_faults({"ClusterArn": control_plane}, model, {"ClusterArn": "control_plane"})
        else:
            faults += check_kind(control_plane, EKS_CLUSTER, ("control_plane",), required=True)
        refuse_value("EKS orchestrator", faults)
        says = getattr(control_plane, "has_training_operator", False)
        return cls(
            kind="eks",
            control_plane=control_plane,
            has_training_operator=says if has_training_operator is None else has_training_operator,
            script_hook=cast(ScriptHook, script_hook),
        )

    @property
    def kind(self) -> Literal["slurm", "eks"]:
        """Name of the orchestrator in rules and tables."""
        return self._kind

    @property
    def slurm_configuration(self) -> SlurmConfiguration | None:
        """Who configures Slurm; ``None`` with EKS."""
        return self._slurm_configuration

    @property
    def slurm_strategy(self) -> str | None:
        """How HyperPod treats changes to ``slurm.conf`` made by hand."""
        return self._slurm_strategy

    @property
    def accounting_database(self) -> AccountingDatabase | None:
        """The database of Slurm's accounting; ``None`` for the one on the controller."""
        return self._accounting_database

    @property
    def eks_cluster_arn(self) -> str | None:
        """ARN of the EKS cluster; ``None`` with Slurm."""
        if self._kind != "eks":
            return None
        found = self._control_plane
        return found if isinstance(found, str) else str(found.cluster_arn)

    @property
    def has_training_operator(self) -> bool:
        """Whether the HyperPod training operator reads the cluster."""
        return self._has_training_operator

    @property
    def needed_by_nodes(self) -> tuple[IDependable, ...]:
        """What has to be there before the HyperPod cluster."""
        if self._kind != "eks" or isinstance(self._control_plane, str):
            return ()
        ready = getattr(self._control_plane, "dependencies_ready", None)
        return (self._control_plane,) if ready is None else (self._control_plane, ready)

    @property
    def takes_node_types(self) -> bool:
        """Whether the service is told each group's node type and partition."""
        return self._slurm_configuration == SlurmConfiguration.BY_HYPERPOD

    @property
    def script_hook(self) -> ScriptHook:
        """Member of ``LifeCycleConfig`` that names the entry point of the lifecycle scripts."""
        if self._script_hook is not None:
            return self._script_hook
        return "OnInitComplete" if self.takes_node_types else "OnCreate"

    def to_request(self) -> dict[str, Any] | None:
        """Return ``Orchestrator`` of a ``CreateCluster`` request; ``None`` where scripts configure Slurm."""
        if self._kind == "eks":
            return {"Eks": {"ClusterArn": self.eks_cluster_arn}}
        if not self.takes_node_types:
            return None
        slurm: dict[str, Any] = {}
        if self._slurm_strategy is not None:
            slurm["SlurmConfigStrategy"] = self._slurm_strategy
        if self._accounting_database is not None:
            slurm["AccountingDatabase"] = self._accounting_database.to_request()
        return {"Slurm": slurm}
