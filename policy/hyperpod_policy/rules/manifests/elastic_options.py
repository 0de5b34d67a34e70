"""A command does not override what elasticPolicy says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, mapping
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_RENDEZVOUS = (
    "rdzv_endpoint",
    "rdzv_backend",
    "rdzv_id",
    "rdzv_conf",
    "master_addr",
    "master_port",
    "node_rank",
)


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the options of torchrun in each Kubeflow job with an elastic policy."""
    for job in training_jobs(manifests):
        if not job.is_kubeflow or job.elastic_policy is None:
            continue
        for _, container, launch in job.launches():
            path = (*container.path, "command")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(
                        job.manifest,
                        *path,
                        found=found,
                        allowed=allowed,
                        severity="error" if breaks else "warning",
                    )
                    for found, allowed, breaks in _faults(job, launch.options)
                ),
            )


def _faults(job: TrainingJob, options: Mapping[str, str]) -> Iterator[tuple[str, str, bool]]:
    policy = mapping(job.elastic_policy)
    least, most = integer(policy.get("minReplicas")), integer(policy.get("maxReplicas"))
    nodes = options.get("nnodes")
    if nodes is not None:
        said = "as many nodes as workers" if least is None or most is None else f"{least}:{most}"
        is_range = least is not None and most is not None and least < most
        if is_range and nodes != said:
            yield (
                f"--nnodes={nodes}, which wins over elasticPolicy's {said}: the job is not elastic at all",
                "no --nnodes",
                True,
            )
        else:
            differs = said not in (nodes, f"{nodes}:{nodes}") and least is not None
            yield f"--nnodes={nodes} beside elasticPolicy, and it wins", "no --nnodes", differs
    for name in _RENDEZVOUS:
        if name in options:
            yield (
                f"--{name}={options[name]} beside elasticPolicy, and it wins",
                f"no --{name}: elasticPolicy sets it",
                False,
            )


RULE = ManifestRule(
    id="ElasticOptions",
    title="a command does not override what elasticPolicy says",
    severity="error",
    why=(
        "The operator says nodes, back end and endpoint in variables (PET_NNODES, PET_RDZV_*), and options "
        "of torchrun win over variables. The job then runs by the options, whatever is changed in "
        "elasticPolicy: fewer nodes than asked for never start, more are never used."
    ),
    fix="run plain torchrun with the script, and say the rest in elasticPolicy and nprocPerNode",
    source="kubeflow/training-operator v1.8.1, elastic.go; PyTorch, torchrun: PET_ variables",
    check=check,
)
