"""The pods of a job specification."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_charts.pod_volumes import ClaimVolume, NodeFolderVolume, PodVolume
from hyperpod_charts.toleration import Toleration
from hyperpod_charts.training_pod import TrainingPod
from hyperpod_model.catalog.jobs import PORT_RANGE_SYSCTL
from hyperpod_model.catalog.nodes import (
    TIERED_CHECKPOINTING_LOG_FOLDER_IN_CONTAINER,
    TIERED_CHECKPOINTING_LOG_FOLDER_ON_HOST,
)
from hyperpod_model.catalog.ports import CHECKPOINTLESS, OPERATOR_AGENT
from hyperpod_model.job_spec import JobSpec, NodeSetup


def pod_of(job: JobSpec, *, node: NodeSetup) -> TrainingPod:
    """Work out what each pod of a job is.

    Args:
        job: The job.
        node: How the cluster sets the nodes up.
    """
    resources, placement, launch = job.resources(node), job.placement(), job.launch()
    return TrainingPod(
        image=job.image,
        command=launch.command,
        args=launch.args,
        resources=resources.quantities(),
        shared_memory=f"{resources.shared_memory_gib}Gi",
        environment=job.environment_variables(),
        volumes=tuple(_volumes(job)),
        ports=_ports(job),
        node_selector=placement.node_selector,
        tolerations=[
            Toleration(
                key=said.key,
                operator=said.operator,
                value=said.value,
                effect=said.effect,
                toleration_seconds=said.toleration_seconds,
            )
            for said in placement.tolerations
        ],
        topology_key=placement.topology_key,
        topology_required=placement.topology_required,
        service_account_name=job.service_account,
        priority_class_name=job.pod_priority_class,
        termination_grace_period_seconds=job.grace_period_seconds,
        host_network=job.uses_host_network,
        kernel_parameters={} if job.checkpointless is None else dict([PORT_RANGE_SYSCTL]),
        labels=job.labels,
        annotations=job.annotations_of_pods(),
    )


def _volumes(job: JobSpec) -> Iterator[PodVolume]:
    for claim in job.persistent_volume_claims:
        yield ClaimVolume(claim_name=claim.claim_name, mount_path=claim.mount_path, read_only=claim.read_only)
    if job.tiered_checkpointing is not None:
        yield NodeFolderVolume(
            path=TIERED_CHECKPOINTING_LOG_FOLDER_ON_HOST,
            mount_path=TIERED_CHECKPOINTING_LOG_FOLDER_IN_CONTAINER,
        )


def _ports(job: JobSpec) -> dict[str, int]:
    if job.operator != "hyperpod":
        return {}
    (agent,) = OPERATOR_AGENT
    ports = {"agent": agent.first}
    if job.checkpointless is not None:
        recovery = [port for part in CHECKPOINTLESS for port in range(part.first, part.last + 1)]
        ports |= {f"recovery-{port}": port for port in recovery if port != agent.first}
    return ports
