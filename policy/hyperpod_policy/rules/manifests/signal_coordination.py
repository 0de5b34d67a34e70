"""An elastic HyperPod job notices that it is to change its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import SIGNAL_COORDINATION
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_NAME, _VALUE = SIGNAL_COORDINATION


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the environment of each elastic HyperPod job."""
    for job in training_jobs(manifests):
        if job.is_kubeflow or job.elastic_policy is None:
            continue
        for _, container in job.trainers():
            variable = container.variable(_NAME)
            allowed = f"{_NAME}={_VALUE}"
            path = (*container.path, "env", *(() if variable is None else (variable[0],)))
            if container.text_of(_NAME) == _VALUE:
                yield passed(job.manifest, *path)
            elif variable is None and not container.reads_more_variables:
                yield failed(job.manifest, *path, found=f"no {_NAME}", allowed=allowed)
            elif variable is None or variable[1] is None:
                yield undetermined(
                    job.manifest, *path, found=f"{_NAME} from elsewhere, if it is there", allowed=allowed
                )
            else:
                yield failed(job.manifest, *path, found=f"{_NAME}={variable[1]}", allowed=allowed)


RULE = ManifestRule(
    id="SignalCoordination",
    title="an elastic HyperPod job notices that it is to change its size",
    severity="error",
    why=(
        "Coordination of signals is off by default. Training then never sees the event that asks it to save "
        "and end, and is killed at each change of size with the work since the last checkpoint."
    ),
    fix="set HYPERPOD_SIGNAL_COORDINATION to distributed in the training container",
    source=(
        "PyPI hyperpod-elastic-agent 1.1.3, elastic_event_handler.py; AWS docs sagemaker-eks-elastic-training"
    ),
    check=check,
)
