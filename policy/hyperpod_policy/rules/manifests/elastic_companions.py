"""An elastic HyperPod job uses nothing that does not go with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import INCOMPATIBLE_WITH_ELASTIC
from hyperpod_model.catalog.manifest_vocabulary import SPOT_LABELS
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.features import checkpointless_at, tiered_at
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge what each elastic HyperPod job uses beside."""
    for job in training_jobs(manifests):
        if job.is_kubeflow or job.elastic_policy is None:
            continue
        yield from judged(
            job.manifest,
            ("spec", "elasticPolicy"),
            (
                failed(
                    job.manifest,
                    *path,
                    found=f"{name.replace('_', ' ')} in a job with elasticPolicy",
                    allowed="one of the two",
                )
                for name, path in _companions(job)
                if path is not None and name in INCOMPATIBLE_WITH_ELASTIC
            ),
        )


def _companions(job: TrainingJob) -> Iterator[tuple[str, FaultPath | None]]:
    yield "checkpointless", checkpointless_at(job)
    yield "tiered_checkpointing", tiered_at(job)
    for pod in job.pods():
        for label, value in SPOT_LABELS.items():
            found = pod.selection(label)
            if found is not None and value in found.values:
                yield "spot", found.path


RULE = ManifestRule(
    id="ElasticCompanions",
    title="an elastic HyperPod job uses nothing that does not go with it",
    severity="error",
    why=(
        "Elastic training reloads a checkpoint at each change of size. Peers that hold the state, a memory "
        "tier laid out for one world size, and nodes that vanish without notice do not fit it."
    ),
    fix="remove elasticPolicy, or what stands beside it",
    source="AWS docs sagemaker-eks-elastic-training, sagemaker-eks-checkpointless-considerations",
    check=check,
)
