"""HyperPod's operator knows within which time restarts count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, is_deferred, mapping, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_PATH = ("spec", "runPolicy", "restartPolicy")
_PERIOD = "evalPeriodSeconds"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the restart policy of each HyperPod job."""
    for job in training_jobs(manifests):
        if not job.is_kubeflow:
            yield from judged(job.manifest, _PATH, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    policy = job.run_policy.get(_PATH[-1])
    if policy is None:
        yield failed(
            job.manifest,
            *_PATH,
            found="no restartPolicy",
            allowed=f"a restartPolicy with {_PERIOD}, numRestartBeforeFullJobRestart and maxFullJobRestarts",
            severity="warning",
        )
        return
    for name, least in (
        (_PERIOD, 1),
        ("numRestartBeforeFullJobRestart", 0),
        ("maxFullJobRestarts", 0),
    ):
        written = mapping(policy).get(name)
        count = integer(written)
        allowed = f"a whole number, {least} or more"
        if is_deferred(written):
            yield undetermined(job.manifest, *_PATH, name, found=f"{name} {written}", allowed=allowed)
        elif written is None:
            if name == _PERIOD:
                yield failed(job.manifest, *_PATH, name, found=f"no {name}", allowed=allowed)
        elif count is None or count < least or isinstance(written, str):
            yield failed(job.manifest, *_PATH, name, found=f"{name} {shown(written)}", allowed=allowed)


RULE = ManifestRule(
    id="RestartEvaluation",
    title="HyperPod's operator knows within which time restarts count",
    severity="error",
    why=(
        "The operator restarts processes first and the whole job after some restarts within a period. The "
        "period is required where there is a restart policy, and without one nothing tells a job that "
        "recovers from one that loops."
    ),
    fix="set runPolicy.restartPolicy.evalPeriodSeconds, such as 3600, and both limits",
    source="PyPI hyperpod-pytorch-job-template 1.5.0; AWS docs sagemaker-eks-operator-usage",
    check=check,
)
