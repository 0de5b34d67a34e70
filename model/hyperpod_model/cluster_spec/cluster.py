"""The whole cluster, as a user says it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.catalog.regions import regions_with_hyperpod
from hyperpod_model.cluster_spec.checkpoint_bucket import CheckpointBucketSpec
from hyperpod_model.cluster_spec.commissioning import steps_due
from hyperpod_model.cluster_spec.deep_health_checks import deep_health_checks_of
from hyperpod_model.cluster_spec.file_system import FileSystemSpec
from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec
from hyperpod_model.cluster_spec.lifecycle_scripts import DEFAULT_ENTRY_POINTS, LifecycleScriptsSpec
from hyperpod_model.cluster_spec.network import NetworkSpec
from hyperpod_model.cluster_spec.request import request_of
from hyperpod_model.cluster_spec.resilience import ResilienceSpec
from hyperpod_model.cluster_spec.rules import faults_of
from hyperpod_model.cluster_spec.slurm import SlurmSpec
from hyperpod_model.cluster_spec.spec_model import Items, SpecModel, schema_of
from hyperpod_model.faults import Fault, refuse


class ClusterSpec(SpecModel):
    """A SageMaker HyperPod cluster: what it is called, what it is made of, and how it behaves.

    Raises:
        pydantic.ValidationError: If a field is wrong, or what the fields say together cannot become a working
            cluster. ``load_cluster`` reports the same with lines, as ``InvalidInputError``.
    """

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
    orchestrator: Literal["slurm"] = Field(
        default="slurm", description="What schedules jobs. By default 'slurm', the only one so far."
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
        default=SlurmSpec(), description="Who configures Slurm. By default HyperPod, see slurm.mode."
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
        description="The groups of instances, at least one.",
        json_schema_extra={"minItems": 1, "maxItems": cluster_request().at("InstanceGroups").max},
    )
    lifecycle_scripts: LifecycleScriptsSpec = Field(
        default=LifecycleScriptsSpec(),
        description="The scripts that nodes run when they join. By default the package's own.",
    )
    file_system: FileSystemSpec | None = Field(
        default=FileSystemSpec(),
        description=(
            "The FSx for Lustre file system; null for none. By default one of 4800 GiB, mounted at /fsx."
        ),
    )
    checkpoint_bucket: CheckpointBucketSpec | None = Field(
        default=CheckpointBucketSpec(),
        description=(
            "The locked bucket for checkpoints; null for none. By default one that only the nodes write."
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
        named = self.lifecycle_scripts.entry_point
        return DEFAULT_ENTRY_POINTS[self.slurm.mode] if named is None else named

    def faults(self) -> list[Fault]:
        """Errors, and warnings of what is probably not meant, in the specification's own terms."""
        return faults_of(self)

    def steps_due(self) -> tuple[str, ...]:
        """What the user has to do next, or should know, where deep health checks do not run throughout."""
        return steps_due(self)

    def deep_health_checks_of(self, group: InstanceGroupSpec) -> tuple[str, ...]:
        """Deep health checks that the nodes of a group pass: its own, else what resilience asks for.

        Args:
            group: One of the ``instance_groups``.
        """
        checks: tuple[str, ...] = deep_health_checks_of(group, self.resilience)
        return checks

    def to_request(self) -> dict[str, Any]:
        """The ``CreateCluster`` request, with ``UNKNOWN`` for what exists only at deployment.

        The terms are also those of the CloudFormation type ``AWS::SageMaker::Cluster``.
        """
        return request_of(self)
