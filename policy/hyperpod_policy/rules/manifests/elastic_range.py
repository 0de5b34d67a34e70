"""The sizes that an elastic job may have are possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, is_deferred, listed, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_PATH: FaultPath = ("spec", "elasticPolicy")
_LEAST, _MOST = "minReplicas", "maxReplicas"
_STEP, _VALUES = "replicaIncrementStep", "replicaDiscreteValues"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the elastic policy of each training job that has one."""
    for job in training_jobs(manifests):
        policy = job.elastic_policy
        if policy is not None:
            yield from judged(job.manifest, _PATH, _faults(job, policy))


def _faults(job: TrainingJob, policy: Mapping[str, Any]) -> Iterator[ManifestVerdict]:
    least, most = integer(policy.get(_LEAST)), integer(policy.get(_MOST))
    for name, value in ((_LEAST, least), (_MOST, most)):
        written = policy.get(name)
        if is_deferred(written):
            yield undetermined(job.manifest, *_PATH, name, found=f"{name} {written}", allowed="1 or more")
        elif (written is None and not job.is_kubeflow) or (
            written is not None and (value is None or value < 1 or isinstance(written, str))
        ):
            yield failed(
                job.manifest,
                *_PATH,
                name,
                found=f"{name} {'missing' if written is None else shown(written)}",
                allowed="a whole number, 1 or more",
            )
    if job.is_kubeflow and (policy.get(_LEAST) is None) != (policy.get(_MOST) is None):
        yield failed(
            job.manifest,
            *_PATH,
            found="one of minReplicas and maxReplicas",
            allowed="both, or neither for as many nodes as the job has workers",
        )
    if least is not None and most is not None:
        yield from _of_range(job, least, most)
    if not job.is_kubeflow:
        yield from _of_steps(job, policy, least, most)


def _of_range(job: TrainingJob, least: int, most: int) -> Iterator[ManifestVerdict]:
    if least > most:
        yield failed(
            job.manifest,
            *_PATH,
            _LEAST,
            found=f"minReplicas {least} over maxReplicas {most}",
            allowed=f"{most} or less",
        )
        return
    counts = [replicas.count for replicas in job.replicas]
    known = [count for count in counts if count is not None]
    if known and len(known) == len(counts) and not least <= sum(known) <= most:
        yield failed(
            job.manifest,
            *job.replicas_path,
            found=f"{sum(known)} replicas",
            allowed=f"from minReplicas {least} to maxReplicas {most}",
        )


def _of_steps(
    job: TrainingJob, policy: Mapping[str, Any], least: int | None, most: int | None
) -> Iterator[ManifestVerdict]:
    has_step, has_values = policy.get(_STEP) is not None, policy.get(_VALUES) is not None
    if has_step == has_values:
        yield failed(
            job.manifest,
            *_PATH,
            found=f"{'both' if has_step else 'neither'} of {_STEP} and {_VALUES}",
            allowed="exactly one: they say the same in two ways",
        )
    step = integer(policy.get(_STEP))
    if step is None or least is None or most is None or most < least:
        pass
    elif step < 1 or (most - least) % step:
        yield failed(
            job.manifest,
            *_PATH,
            _STEP,
            found=f"steps of {step} from {least}, which never come to {most}",
            allowed=f"a step of 1 or more that divides {most - least}",
            severity="error" if step < 1 else "warning",
        )
    values = policy.get(_VALUES)
    if isinstance(values, list) and least is not None and most is not None:
        sizes = [integer(value) for value in values]
        wrong = [
            value
            for value, size in zip(values, sizes, strict=True)
            if size is None or not least <= size <= most
        ]
        if wrong:
            yield failed(
                job.manifest,
                *_PATH,
                _VALUES,
                found=f"sizes {listed(wrong)}",
                allowed=f"from minReplicas {least} to maxReplicas {most}",
            )


RULE = ManifestRule(
    id="ElasticRange",
    title="the sizes that an elastic job may have are possible",
    severity="error",
    why=(
        "The schemas know no relation between these numbers. A job outside its own range waits for pods "
        "that never come, and of two ways to say the steps the operator takes one without a word."
    ),
    fix="let minReplicas <= replicas <= maxReplicas, and name either a step or discrete values",
    source="AWS docs sagemaker-eks-elastic-training; kubeflow/training-operator v1.8.1, elastic.go",
    check=check,
)
