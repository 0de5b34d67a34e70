"""The whole job, as a user says it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from hyperpod_model.catalog.instances import accelerated_instance_types
from hyperpod_model.catalog.jobs import ENVIRONMENT_VARIABLE, JOB_NAME, OPERATORS, TEAM, OperatorName
from hyperpod_model.catalog.names import KUBERNETES_NAMESPACE, KUBERNETES_SERVICE_ACCOUNT, NameRule
from hyperpod_model.checks.jobs.defaults import namespace_of
from hyperpod_model.checks.jobs.job import check_job
from hyperpod_model.faults import Fault, refuse
from hyperpod_model.job_spec.auto_resume import AutoResumeSpec
from hyperpod_model.job_spec.checkpoint import CheckpointSpec
from hyperpod_model.job_spec.checkpointless import CheckpointlessTrainingSpec
from hyperpod_model.job_spec.elastic import ElasticSpec
from hyperpod_model.job_spec.environment import environment_of
from hyperpod_model.job_spec.launch import Launch, launch_of
from hyperpod_model.job_spec.log_monitoring import LogMonitoringSpec
from hyperpod_model.job_spec.metadata import job_annotations, job_labels, pod_annotations
from hyperpod_model.job_spec.names_elsewhere import NAMES_ELSEWHERE
from hyperpod_model.job_spec.persistent_volume_claim import PersistentVolumeClaimSpec
from hyperpod_model.job_spec.placement import Placement, placement_of
from hyperpod_model.job_spec.plain_values import plain_values
from hyperpod_model.job_spec.resolved import (
    backoff_limit_of,
    processes_per_node_of,
    resources_of,
)
from hyperpod_model.job_spec.tiered_checkpointing import TieredCheckpointsSpec
from hyperpod_model.job_spec.toleration import TolerationSpec
from hyperpod_model.job_spec.topology import TopologySpec
from hyperpod_model.pod_resources import NodeSetup, PodResources
from hyperpod_model.spec_files.spec_model import Items, SpecModel

CapacityType = Literal["on-demand", "spot"]
Rendezvous = Literal["c10d", "master"]


def _keywords(rule: NameRule) -> dict[str, Any]:
    return {"pattern": f"^(?:{rule.pattern})$", "minLength": rule.min_length, "maxLength": rule.max_length}


_INSTANCE_TYPE: dict[str, Any] = {
    "anyOf": [{"enum": list(accelerated_instance_types())}, {"pattern": r"^ml\.[a-z0-9-]+\.[a-z0-9]+$"}]
}

_CLEAN_POD_POLICY: dict[str, Any] = {
    "enum": [*sorted({name for found in OPERATORS.values() for name in found.clean_pod_policies}), None]
}


class JobSpec(SpecModel):
    """A training job on a SageMaker HyperPod cluster with EKS.

    Raises:
        pydantic.ValidationError: If a field is wrong, or what the fields say together cannot become a job
            that starts. ``load_job`` reports the same with lines, as ``InvalidInputError``.
    """

    names_elsewhere = NAMES_ELSEWHERE

    name: str = Field(
        description=(
            "Name of the job: lower-case letters, digits and hyphens, beginning with a letter. Pods are "
            "named "
            "after it."
        ),
        json_schema_extra=_keywords(JOB_NAME),
    )
    operator: OperatorName = Field(
        default="kubeflow",
        description=(
            "What runs the job. 'kubeflow': the Kubeflow training operator, by a PyTorchJob. 'hyperpod': the "
            "HyperPod training operator, by a HyperPodPyTorchJob, which can restart single processes. By "
            "default 'kubeflow'."
        ),
    )
    namespace: str | None = Field(
        default=None,
        description=(
            "Kubernetes namespace. Kubeflow jobs resume by themselves in kubeflow and in namespaces that "
            "begin with hyperpod. By default that of the team, hyperpod-ns-<team>; without one, kubeflow for "
            "operator 'kubeflow', and none for 'hyperpod', where it is required."
        ),
        json_schema_extra=_keywords(KUBERNETES_NAMESPACE),
    )
    team: str | None = Field(
        default=None,
        description=(
            "Team in HyperPod task governance whose quota and queue the job uses. By default none: the job "
            "starts when nodes are free, and does not queue."
        ),
        json_schema_extra=_keywords(TEAM),
    )
    priority_class: str | None = Field(
        default=None,
        description=(
            "Priority class of task governance, such as training, without the ending -priority. Needs team. "
            "By default the lowest."
        ),
        json_schema_extra=_keywords(TEAM),
    )
    pod_priority_class: str | None = Field(
        default=None,
        description="Kubernetes PriorityClass of the pods. By default that of the cluster.",
    )
    image: str = Field(
        description=(
            "Container image with registry and tag or digest, such as "
            "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.4.0. Not the tag latest, which changes "
            "while the job restarts."
        )
    )
    instance_type: str = Field(
        description="Instance type of the nodes, with its ml. prefix.",
        json_schema_extra=_INSTANCE_TYPE,
    )
    nodes: int | None = Field(
        default=None,
        description="Number of nodes, each with one pod. Required unless elastic says how many.",
        json_schema_extra={"minimum": 1},
    )
    elastic: ElasticSpec | None = Field(
        default=None,
        description="Between which numbers of nodes the job may change while it runs. By default it does "
        "not.",
    )
    spares: int = Field(
        default=0,
        description=(
            "Further nodes that the queue keeps free for the job, so that it goes on at once after a fault. "
            "Operator 'hyperpod' with team only. By default 0."
        ),
        json_schema_extra={"minimum": 0},
    )
    capacity_type: CapacityType = Field(
        default="on-demand",
        description=(
            "What capacity the nodes are: 'on-demand' or 'spot'. It is only checked against the rest. By "
            "default 'on-demand'."
        ),
    )
    script: str | None = Field(
        default=None,
        description="Training script in the image, such as /workspace/train.py. Required unless command "
        "says it.",
    )
    script_args: Items[str] = Field(default=(), description="Arguments of the script. By default none.")
    command: Items[str] = Field(
        default=(),
        description=(
            "Whole command, in place of script: program and arguments, each an item. It is not run by a "
            "shell, so that SIGTERM reaches it. By default torchrun, or hyperpodrun for operator 'hyperpod', "
            "with the script."
        ),
    )
    processes_per_node: int | None = Field(
        default=None,
        description=(
            "Processes a node. By default one for each GPU or logical Neuron core of the pod, 1 without any."
        ),
        json_schema_extra={"minimum": 1},
    )
    rendezvous: Rendezvous = Field(
        default="c10d",
        description=(
            "How the processes of a Kubeflow job find each other. 'c10d': any pod may be replaced. 'master': "
            "one of the nodes is the master, by its address. By default 'c10d'."
        ),
    )
    rendezvous_id: str | None = Field(
        default=None,
        description="Id by which the processes of this job, and no others, meet. By default the job's name.",
    )
    environment: dict[str, str] = Field(
        default={},
        description=(
            "Environment variables of the training processes, besides those for EFA and NCCL that the "
            "instance type asks for. A value given here wins. By default none."
        ),
        json_schema_extra={"propertyNames": {"pattern": f"^(?:{ENVIRONMENT_VARIABLE.pattern})$"}},
    )
    service_account: str | None = Field(
        default=None,
        description=(
            "Kubernetes service account of the pods, by which they get their AWS role. By default the "
            "namespace's default, which has none."
        ),
        json_schema_extra=_keywords(KUBERNETES_SERVICE_ACCOUNT),
    )
    persistent_volume_claims: Items[PersistentVolumeClaimSpec] = Field(
        default=(), description="Volumes that the pods mount. By default none."
    )
    accelerators: int | None = Field(
        default=None,
        description=(
            "Accelerators a pod; with gpu_partition, partitions. By default all of the node, so that a pod "
            "has a node to itself."
        ),
        json_schema_extra={"minimum": 1},
    )
    gpu_partition: str | None = Field(
        default=None,
        description=(
            "Profile of the partitions of a GPU that the pod takes, such as mig-1g.10gb, in place of whole "
            "GPUs. By default whole GPUs."
        ),
        json_schema_extra={"pattern": r"^mig-\d+g\.\d+gb$"},
    )
    efa_interfaces: int | None = Field(
        default=None,
        description=(
            "EFA interfaces a pod. By default all of the instance type, in proportion for a part of a node; "
            "none for partitions and where their number is uncertain."
        ),
        json_schema_extra={"minimum": 0},
    )
    huge_pages_mib: int | None = Field(
        default=None,
        description=(
            "Huge pages of 2 MiB a pod, in MiB, from which EFA takes its buffers; 0 for none. By default "
            "5120 "
            "with EFA, none without."
        ),
        json_schema_extra={"minimum": 0, "multipleOf": 2},
    )
    vcpu: int | None = Field(
        default=None,
        description=(
            "Virtual CPUs a pod. By default what the node leaves after the system's share, in proportion for "
            "a part of a node; where no cluster is given, what there is with one thread a core."
        ),
        json_schema_extra={"minimum": 1},
    )
    memory_gib: int | None = Field(
        default=None,
        description=(
            "Memory a pod in GiB, shared memory included. By default what the node leaves after the shares "
            "of the system, of huge pages and of tiered checkpointing, in proportion for a part of a node."
        ),
        json_schema_extra={"minimum": 1},
    )
    shared_memory_gib: int | None = Field(
        default=None,
        description=(
            "Most of that memory that may be shared memory (/dev/shm) in GiB, for NCCL and data loaders. By "
            "default half of it."
        ),
        json_schema_extra={"minimum": 1},
    )
    host_network: bool = Field(
        default=False,
        description=(
            "Whether the pods are in the network of their node, without a NetworkPolicy. checkpointless asks "
            "for it by itself. By default false."
        ),
    )
    grace_period_seconds: int = Field(
        default=120,
        description=(
            "Seconds from SIGTERM until a pod is killed, for a last checkpoint. By default 120, two minutes."
        ),
        json_schema_extra={"minimum": 1},
    )
    auto_resume: AutoResumeSpec | None = Field(
        default=AutoResumeSpec(),
        description="Restarts after faults; null for none. By default up to 10.",
    )
    deep_health_checked: bool = Field(
        default=False,
        description=(
            "Whether the job runs only on nodes that passed deep health checks. Only nodes of groups with "
            "such checks ever have. By default false."
        ),
    )
    log_monitoring: Items[LogMonitoringSpec] = Field(
        default=(),
        description="Rules on the log by which a hang or a slow job is found. Operator 'hyperpod' only. By "
        "default none.",
    )
    checkpoint: CheckpointSpec | None = Field(
        default=None,
        description=(
            "Where checkpoints are. By default nothing is known of any, and a restart may begin at step 0."
        ),
    )
    tiered_checkpointing: TieredCheckpointsSpec | None = Field(
        default=None,
        description=(
            "Checkpoints in the memory of the nodes, where the cluster has managed tiered checkpointing. By "
            "default none."
        ),
    )
    checkpointless: CheckpointlessTrainingSpec | None = Field(
        default=None,
        description="Checkpointless training. Operator 'hyperpod' only. By default none.",
    )
    operator_version: str | None = Field(
        default=None,
        description=(
            "Version of the training operator in the cluster, such as 1.2.0 in quotes, to be checked. "
            "Required for checkpointless. By default it is not checked."
        ),
    )
    elastic_agent_version: str | None = Field(
        default=None,
        description=(
            "Version of hyperpod-elastic-agent in the image, such as 1.1.3 in quotes, to be checked. By "
            "default it is not checked."
        ),
    )
    torch_version: str | None = Field(
        default=None,
        description=(
            "Version of PyTorch in the image, such as 2.7.1 in quotes, to be checked. By default it is not "
            "checked."
        ),
    )
    python_version: str | None = Field(
        default=None,
        description=(
            "Version of Python in the image, such as 3.12 in quotes, to be checked. Required for "
            "checkpointless. By default it is not checked."
        ),
    )
    node_selector: dict[str, str] = Field(
        default={},
        description=(
            "Labels of the nodes that the job runs on, besides instance type and health. By default none."
        ),
    )
    tolerations: Items[TolerationSpec] = Field(
        default=(),
        description="Taints that the pods put up with, besides those of accelerators. By default none.",
    )
    topology: TopologySpec | None = Field(
        default=None,
        description="How near each other the nodes are in EC2's network. By default any.",
    )
    active_deadline_seconds: int | None = Field(
        default=None,
        description="Seconds after which the job is ended. By default it may run without end.",
        json_schema_extra={"minimum": 1},
    )
    ttl_seconds_after_finished: int = Field(
        default=86400,
        description="Seconds that a finished job is kept, for its log. By default 86400, a day.",
        json_schema_extra={"minimum": 0},
    )
    clean_pod_policy: str | None = Field(
        default=None,
        description=(
            "What becomes of the pods of a finished job: 'All' are deleted, 'None', or 'Running' ones "
            "(operator 'kubeflow') and 'OnlyComplete' (operator 'hyperpod'). By default 'Running' for "
            "'kubeflow' and 'None' for 'hyperpod', so that logs stay."
        ),
        json_schema_extra=_CLEAN_POD_POLICY,
    )
    labels: dict[str, str] = Field(default={}, description="Labels of the job and its pods. By default none.")

    @model_validator(mode="after")
    def _refuse_what_cannot_work(self) -> JobSpec:
        refuse(self.faults())
        return self

    def faults(self) -> list[Fault]:
        """Errors, and warnings of what is probably not meant."""
        return check_job(plain_values(self))

    @property
    def min_nodes(self) -> int:
        """Fewest nodes that the job runs on."""
        return self.elastic.min_nodes if self.elastic is not None else _said(self.nodes)

    @property
    def max_nodes(self) -> int:
        """Most nodes that the job runs on, spares not counted."""
        return self.elastic.max_nodes if self.elastic is not None else _said(self.nodes)

    @property
    def resolved_namespace(self) -> str:
        """Namespace with the default applied."""
        return str(_said(namespace_of(plain_values(self))))

    @property
    def resolved_processes_per_node(self) -> int:
        """Processes a node with the default applied."""
        return processes_per_node_of(self)

    @property
    def resolved_rendezvous_id(self) -> str:
        """Rendezvous id with the default applied."""
        return self.name if self.rendezvous_id is None else self.rendezvous_id

    @property
    def resolved_clean_pod_policy(self) -> str:
        """Policy for the pods of a finished job with the default applied."""
        own = OPERATORS[self.operator].default_clean_pod_policy
        return own if self.clean_pod_policy is None else self.clean_pod_policy

    @property
    def resolved_tiered_namespace(self) -> str | None:
        """Name in the memory tier with the default applied, None where the job does not write through it."""
        if self.tiered_checkpointing is None:
            return None
        said = self.tiered_checkpointing.namespace
        return self.name if said is None else said

    @property
    def max_retries(self) -> int:
        """Most restarts, 0 where the job does not resume by itself."""
        return 0 if self.auto_resume is None else self.auto_resume.max_retries

    @property
    def backoff_limit(self) -> int:
        """Most restarts of containers over all pods: a fault restarts those of every node."""
        return backoff_limit_of(self)

    @property
    def uses_host_network(self) -> bool:
        """Whether the pods are in the network of their node."""
        return self.host_network or self.checkpointless is not None

    @property
    def uses_kueue(self) -> bool:
        """Whether the job waits in a queue of task governance."""
        return self.team is not None

    def resources(self, node: NodeSetup | None = None) -> PodResources:
        """What each pod asks for.

        Args:
            node: How the cluster sets the nodes up, see :func:`node_setup_on`. By default so that the pods
                fit any cluster: with one thread a core, and less the share of memory in
                ``tiered_checkpointing``.
        """
        return resources_of(self, node)

    def launch(self) -> Launch:
        """What each pod runs."""
        return launch_of(self)

    def environment_variables(self) -> dict[str, str]:
        """Environment of the training container: what the instance type asks for, then the job's own."""
        return environment_of(self)

    def placement(self) -> Placement:
        """On which nodes the pods run."""
        return placement_of(self)

    def labels_of_job(self) -> dict[str, str]:
        """Labels of the job: its own, and those of its queue."""
        return job_labels(self)

    def annotations_of_job(self) -> dict[str, str]:
        """Annotations of the job, which make HyperPod resume it. All values are text."""
        return job_annotations(self)

    def annotations_of_pods(self) -> dict[str, str]:
        """Annotations of the pods, by which the queue places them."""
        return pod_annotations(self)


def _said(value: Any) -> Any:
    if value is None:
        raise ValueError("the job has not been checked: a field that it requires is missing")
    return value
