"""A job specification as Kubernetes objects."""

from __future__ import annotations

from cdk8s import Chart
from constructs import Construct

from hyperpod_charts.checked_arguments import check_is, refuse_arguments
from hyperpod_charts.elastic_range import ElasticRange
from hyperpod_charts.hyperpod_pytorch_job import HyperPodPyTorchJob
from hyperpod_charts.job_members import member_labels
from hyperpod_charts.log_monitoring_rule import LogMonitoringRule
from hyperpod_charts.pod_disruption_budget import PodDisruptionBudget
from hyperpod_charts.pod_of_job import pod_of
from hyperpod_charts.pytorch_job import PyTorchJob
from hyperpod_charts.training_network_policy import TrainingNetworkPolicy
from hyperpod_model.job_spec import ElasticSpec, JobSpec, LogMonitoringSpec, NodeSetup


class JobChart(Chart):
    """A training job, and what goes with it.

    - A ``PyTorchJob`` or ``HyperPodPyTorchJob``.
    - A ``NetworkPolicy`` that lets nobody but the job's own pods and its operator in; what its pods call is
      open. None in the network of the nodes, where no policy holds.
    - A ``PodDisruptionBudget`` for an elastic job: draining nodes leaves its fewest pods. None for other
      jobs, which restart as a whole: draining their nodes one by one would restart them each time.

    Attributes:
        job: The job's object.
        network_policy: Its network policy, if any.
        disruption_budget: Its disruption budget, if any.

    Args:
        scope: Parent: a ``cdk8s.App``, or another chart.
        id: Id within the parent.
        job: The job.
        node: How the cluster sets the nodes up, as ``node_setup_on(cluster, job.instance_type)`` has it.
            Default so that the pods fit any cluster.
        network_policy: Whether the network policy is made. Default True. Without it every pod of the cluster
            reaches the ports of the job's processes, which take commands from anybody.

    Raises:
        InvalidInputError: If ``job`` is no ``JobSpec``.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: JobSpec,
        node: NodeSetup | None = None,
        network_policy: bool = True,
    ) -> None:
        refuse_arguments("JobChart", check_is("job", job, JobSpec))
        super().__init__(scope, id, namespace=job.resolved_namespace, disable_resource_name_hashes=True)
        setup = NodeSetup() if node is None else node
        self.job = _kubeflow(self, job, setup) if job.operator == "kubeflow" else _hyperpod(self, job, setup)
        self.network_policy = _network_policy(self, job) if network_policy else None
        self.disruption_budget = _disruption_budget(self, job)


def _kubeflow(scope: Construct, job: JobSpec, node: NodeSetup) -> PyTorchJob:
    resumes = job.auto_resume is not None
    return PyTorchJob(
        scope,
        "Job",
        name=job.name,
        namespace=job.resolved_namespace,
        pod=pod_of(job, node=node),
        replicas=job.max_nodes,
        min_replicas=None if job.elastic is None else job.min_nodes,
        nproc_per_node=job.launch().nproc_per_node,
        # The pods that stay must outlive those that go, whose end fails the processes of all.
        max_restarts=None if job.elastic is None else job.max_retries,
        rdzv_id=job.resolved_rendezvous_id,
        master=job.rendezvous == "master",
        auto_resume_retries=job.max_retries if resumes else None,
        restart_policy="OnFailure" if resumes else "Never",
        backoff_limit=job.backoff_limit,
        clean_pod_policy=job.resolved_clean_pod_policy,
        ttl_seconds_after_finished=job.ttl_seconds_after_finished,
        active_deadline_seconds=job.active_deadline_seconds,
        labels=job.labels_of_job(),
        annotations=job.annotations_of_job(),
    )


def _hyperpod(scope: Construct, job: JobSpec, node: NodeSetup) -> HyperPodPyTorchJob:
    resume = job.auto_resume
    full_restarts = 0 if resume is None else resume.max_full_restarts
    return HyperPodPyTorchJob(
        scope,
        "Job",
        name=job.name,
        namespace=job.resolved_namespace,
        pod=pod_of(job, node=node),
        replicas=None if job.elastic is not None else job.max_nodes,
        elastic=None if job.elastic is None else _elastic_range(job.elastic),
        spares=job.spares,
        nproc_per_node=job.launch().nproc_per_node,
        job_max_retry_count=job.max_retries,
        **({} if resume is None else {"eval_period_seconds": resume.evaluation_period_seconds}),
        restarts_before_full_job_restart=0 if resume is None else resume.restarts_before_full_restart,
        max_full_job_restarts=job.max_retries if full_restarts is None else full_restarts,
        scale_up_snooze_seconds=None if job.elastic is None else job.elastic.scale_up_snooze_seconds,
        log_monitoring=[_rule(rule) for rule in job.log_monitoring],
        clean_pod_policy=job.resolved_clean_pod_policy,
        ttl_seconds_after_finished=job.ttl_seconds_after_finished,
        active_deadline_seconds=job.active_deadline_seconds,
        labels=job.labels_of_job(),
        annotations=job.annotations_of_job(),
    )


def _elastic_range(said: ElasticSpec) -> ElasticRange:
    return ElasticRange(
        min_replicas=said.min_nodes,
        max_replicas=said.max_nodes,
        replica_increment_step=said.step_nodes,
        replica_discrete_values=said.allowed_nodes if said.allowed_nodes else None,
        scaling_timeout_seconds=said.scaling_timeout_seconds,
        graceful_shutdown_timeout_seconds=said.graceful_shutdown_timeout_seconds,
        faulty_scale_down_timeout_seconds=said.faulty_scale_down_timeout_seconds,
    )


def _rule(said: LogMonitoringSpec) -> LogMonitoringRule:
    return LogMonitoringRule(
        name=said.name,
        log_pattern=said.pattern,
        expected_start_cut_off_seconds=said.starts_within_seconds,
        expected_recurring_frequency_seconds=said.repeats_within_seconds,
        operator=said.comparison,
        metric_threshold=said.threshold,
        metric_evaluation_data_points=said.data_points,
        stop_pattern=said.stop_pattern,
        fault_on_match=said.fault_on_match,
    )


def _network_policy(scope: Construct, job: JobSpec) -> TrainingNetworkPolicy | None:
    if job.uses_host_network:
        return None
    return TrainingNetworkPolicy(
        scope,
        "NetworkPolicy",
        name=job.name,
        namespace=job.resolved_namespace,
        pod_labels=member_labels(job.name),
        operator_agent=job.operator == "hyperpod",
        open_egress=True,
    )


def _disruption_budget(scope: Construct, job: JobSpec) -> PodDisruptionBudget | None:
    if job.min_nodes == job.max_nodes:
        return None
    return PodDisruptionBudget(
        scope,
        "DisruptionBudget",
        name=job.name,
        namespace=job.resolved_namespace,
        pod_labels=member_labels(job.name),
        min_available=job.min_nodes,
    )
