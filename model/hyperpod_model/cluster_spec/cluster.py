"""The whole cluster, as a user says it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.catalog.regions import regions_with_hyperpod
from hyperpod_model.cluster_spec.auto_scaling import AutoScalingSpec
from hyperpod_model.cluster_spec.budget import BudgetSpec, budget_steps_due
from hyperpod_model.cluster_spec.checkpoint_bucket import CheckpointBucketSpec
from hyperpod_model.cluster_spec.checkpoint_signing_key import CheckpointSigningKeySpec
from hyperpod_model.cluster_spec.checkpointless import CheckpointlessSpec
from hyperpod_model.cluster_spec.commissioning import steps_due
from hyperpod_model.cluster_spec.deep_health_checks import deep_health_checks_of
from hyperpod_model.cluster_spec.eks import EksSpec
from hyperpod_model.cluster_spec.file_system import FileSystemSpec
from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec
from hyperpod_model.cluster_spec.job_figures import job_figures_steps_due
from hyperpod_model.cluster_spec.lifecycle_hooks import Hook, entry_point_of, hook_of
from hyperpod_model.cluster_spec.lifecycle_scripts import LifecycleScriptsSpec
from hyperpod_model.cluster_spec.metrics import MetricsSpec
from hyperpod_model.cluster_spec.network import NetworkSpec
from hyperpod_model.cluster_spec.observability import ObservabilitySpec, observability_steps_due
from hyperpod_model.cluster_spec.request import request_of
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.cluster_spec.resilience import ResilienceSpec
from hyperpod_model.cluster_spec.restricted_instance_group import (
    RestrictedEnvironmentSpec,
    RestrictedInstanceGroupSpec,
)
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.cluster_spec.slurm import SlurmSpec
from hyperpod_model.cluster_spec.task_governance import TaskGovernanceSpec
from hyperpod_model.cluster_spec.tiered_checkpointing import TieredCheckpointingSpec, tiered_steps_due
from hyperpod_model.cluster_spec.training_pods import TrainingPodsSpec
from hyperpod_model.faults import Fault, refuse
from hyperpod_model.spec_files.spec_model import Items, SpecModel


class ClusterSpec(SpecModel):
    """A SageMaker HyperPod cluster: what it is called, what it is made of, and how it behaves.

    Raises:
        pydantic.ValidationError: If a field is wrong, or what the fields say together cannot become a working
            cluster. ``load_cluster`` reports the same with lines, as ``InvalidInputError``.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {"instance_groups": {"minItems": 1}}},
                {
                    "properties": {"restricted_instance_groups": {"minItems": 1}},
                    "required": ["restricted_instance_groups"],
                },
            ]
        }
    )

    name: str = Field(
        description=(
            "Name of the cluster: letters, digits and hyphens. It never changes; another name is another "
            "cluster and another stack."
        ),
        json_schema_extra=schema_of(cluster_request().at("ClusterName")),
    )
    region: str | None = Field(
        description=(
            "AWS region of the cluster, such as us-west-2. Required. (None, in Python only, stands for the "
            "region of the credentials at deployment.)"
        ),
        json_schema_extra={
            "type": "string",
            "anyOf": [{"enum": list(regions_with_hyperpod())}, {"pattern": "^[a-z-]+-\\d$"}],
        },
    )
    orchestrator: Literal["slurm", "eks"] = Field(
        default="slurm",
        description="What schedules jobs: 'slurm' or 'eks' (Kubernetes). Never changes. By default 'slurm'.",
    )
    node_provisioning_mode: Literal["Continuous"] | None = Field(
        default="Continuous",
        description=(
            "'Continuous': the cluster is in service with partial capacity and missing nodes are retried. "
            "null: the mode is not sent, for lifecycle scripts that configure Slurm. By default 'Continuous'."
        ),
    )
    node_recovery: Literal["Automatic", "None"] = Field(
        default="Automatic",
        description=(
            "'Automatic': HyperPod reboots or replaces faulty accelerated nodes. 'None': it only labels "
            "them. By default 'Automatic'."
        ),
    )
    slurm: SlurmSpec = Field(
        default=SlurmSpec(),
        description="With orchestrator 'slurm': who configures Slurm. By default HyperPod, see slurm.mode.",
    )
    eks: EksSpec = Field(
        default=EksSpec(),
        description=(
            "With orchestrator 'eks': the EKS cluster and what has to be in it. By default one is made; "
            "where dependency_chart comes from has no default."
        ),
    )
    network: NetworkSpec = Field(
        description=(
            "The network: made in one Availability Zone (availability_zone_id), or existing (subnet_ids)."
        )
    )
    resilience: ResilienceSpec = Field(
        default=ResilienceSpec(),
        description=(
            "The situation from which deep health checks are chosen. By default no spare nodes and a "
            "tolerable wait, so that every node is checked."
        ),
    )
    instance_groups: Items[InstanceGroupSpec] = Field(
        description=(
            "The groups of instances, at least one; [] where all groups are restricted_instance_groups."
        ),
        json_schema_extra={"maxItems": cluster_request().at("InstanceGroups").max},
    )
    restricted_instance_groups: Items[RestrictedInstanceGroupSpec] = Field(
        default=(),
        description=(
            "Restricted instance groups, which train models such as Amazon Nova. EKS only. By default none."
        ),
        json_schema_extra={"maxItems": cluster_request().at("RestrictedInstanceGroups").max},
    )
    restricted_environment: RestrictedEnvironmentSpec | None = Field(
        default=None,
        description="The environment that the restricted groups share. By default none.",
    )
    lifecycle_scripts: LifecycleScriptsSpec | None = Field(
        default=LifecycleScriptsSpec(),
        description=(
            "The scripts that nodes run when they join; null for none. By default the package's own. With "
            "EKS they run as OnCreate, the documented way, unless a group says otherwise."
        ),
    )
    file_system: FileSystemSpec | None = Field(
        default=FileSystemSpec(),
        description=(
            "The FSx for Lustre file system; null for none. By default one of 4800 GiB, mounted at /fsx; "
            "with EKS, pods mount it as a volume."
        ),
    )
    checkpoint_bucket: CheckpointBucketSpec | None = Field(
        default=CheckpointBucketSpec(),
        description=(
            "The locked bucket for checkpoints; null for none. By default one that only the nodes write, and "
            "with EKS only the training_pods."
        ),
    )
    checkpoint_signing_key: CheckpointSigningKeySpec | None = Field(
        default=None,
        description=(
            "An HMAC key in KMS by which jobs tell their own checkpoints from others before they load them. "
            "With {} only the nodes sign with it, and with EKS only the training_pods. Jobs use it by its "
            "ARN: KmsKey of hyperpod_lifecycle.training. By default none."
        ),
    )
    training_pods: TrainingPodsSpec | None = Field(
        default=None,
        description=(
            "With EKS: the pods that may write checkpoints, by namespace and service account. By default "
            "none, and no role is made for them."
        ),
    )
    tiered_checkpointing: TieredCheckpointingSpec | None = Field(
        default=None,
        description=(
            "Managed tiered checkpointing: in the memory of the nodes, and from time to time in the bucket. "
            "EKS only. Enabling it saves nothing until the job writes through it. By default nothing is sent."
        ),
    )
    checkpointless: CheckpointlessSpec | None = Field(
        default=None,
        description=(
            "What jobs use for checkpointless training, to have its prerequisites checked. EKS only. By "
            "default nothing is checked."
        ),
    )
    auto_scaling: AutoScalingSpec | None = Field(
        default=None,
        description="Autoscaling of nodes with Karpenter. EKS only. By default nothing is sent.",
    )
    task_governance: TaskGovernanceSpec | None = Field(
        default=None,
        description=(
            "How teams share the cluster: priority classes, quotas and the add-on that enforces them. EKS "
            "only. By default jobs start when nodes are free, whosever they are."
        ),
    )
    observability: ObservabilitySpec | None = Field(
        default=ObservabilitySpec(),
        description=(
            "Who hears of failing nodes, alarms and changes of state; null for nobody. By default a topic "
            "is made with rules and alarms that publish to it; who reads it has no default, see emails."
        ),
    )
    metrics: MetricsSpec | None = Field(
        default=MetricsSpec(),
        description=(
            "Figures beyond the logs; null for none. By default jobs are counted. Prometheus and Grafana, "
            "Container Insights and what recoveries cost are switched on by name: each costs by what is "
            "measured."
        ),
    )
    budget: BudgetSpec | None = Field(
        default=BudgetSpec(),
        description=(
            "What the cluster may cost, with alerts, and an alarm on a fleet without a job; null for "
            "neither. By default the alarm alone, where jobs are counted: the amount is yours to say."
        ),
    )
    administrator_role_arns: Items[str] = Field(
        default=(),
        description=(
            "ARNs of the roles that may change the configuration of the buckets that are made (checkpoints, "
            "lifecycle scripts, access logs), besides the role with which CloudFormation deploys. Needed "
            "where the synthesizer names no such role. By default none."
        ),
    )
    unlisted_instance_types: Items[str] = Field(
        default=(),
        description=(
            "Instance types that you vouch for: they exist and the region has them, although the catalog "
            "does not say so. By default none."
        ),
    )
    acknowledged_findings: dict[str, str] = Field(
        default={},
        description=(
            "Findings of the checks at synthesis that you accept on this cluster's stack: the full id, as "
            "the finding names it, such as HyperPodChecks::LustreRemoval, and your reason, for reviewers. "
            "By default none."
        ),
    )
    tags: dict[str, str] = Field(
        default={},
        description="Tags of the cluster and of all that is made for it: keys and values. By default none.",
        json_schema_extra={"maxProperties": cluster_request().at("Tags").max},
    )

    @model_validator(mode="after")
    def _refuse_what_cannot_work(self) -> ClusterSpec:
        refuse(self.faults())
        return self

    @property
    def entry_point(self) -> str:
        """File name of the lifecycle script that HyperPod starts, with the default applied."""
        return entry_point_of(self)

    @property
    def script_hook(self) -> Hook:
        """When lifecycle scripts run, one for the whole cluster: ``OnCreate`` or ``OnInitComplete``."""
        found: Hook = hook_of(self)
        return found

    def faults(self) -> list[Fault]:
        """Errors, and warnings of what is probably not meant, in the specification's own terms."""
        return faults_of(self)

    def steps_due(self) -> tuple[str, ...]:
        """What the user has to do next, or should know.

        That is where deep health checks do not run throughout, where checkpoints are tiered, and until
        jobs are counted and somebody hears of failures and of costs.
        """
        return (
            *steps_due(self),
            *tiered_steps_due(self.tiered_checkpointing),
            *observability_steps_due(self.observability),
            *job_figures_steps_due(self),
            *budget_steps_due(self),
        )

    def deep_health_checks_of(self, group: InstanceGroupSpec) -> tuple[str, ...]:
        """Deep health checks that the nodes of a group pass: its own, else what resilience asks for.

        Args:
            group: One of the ``instance_groups``.
        """
        checks: tuple[str, ...] = deep_health_checks_of(group, self.resilience, self.orchestrator)
        return checks

    def to_request(self) -> dict[str, Any]:
        """The ``CreateCluster`` request, with ``UNKNOWN`` for what exists only at deployment.

        The terms are also those of the CloudFormation type ``AWS::SageMaker::Cluster``.
        """
        return request_of(self)
