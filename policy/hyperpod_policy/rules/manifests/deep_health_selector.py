"""A selector for deeply checked nodes matches some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.labels import DEEP_HEALTH_CHECK_STATUS
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import listed
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, undetermined

_KEY = DEEP_HEALTH_CHECK_STATUS.key
_PASSED = "Passed"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the selector of each training job's pods that has one on deep health checks."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            found = pod.selection(_KEY)
            if found is None:
                continue
            if set(map(str, found.values)) == {_PASSED}:
                yield undetermined(
                    job.manifest,
                    *found.path,
                    found=f"{_KEY}: {_PASSED}",
                    allowed="this selector where the instance group has deep health checks",
                )
            else:
                yield failed(
                    job.manifest, *found.path, found=f"{_KEY}: {listed(found.values)}", allowed=_PASSED
                )


RULE = ManifestRule(
    id="DeepHealthSelector",
    title="a selector for deeply checked nodes matches some",
    severity="error",
    why=(
        "Only nodes of groups with OnStartDeepHealthChecks carry this label. On any other cluster the "
        "selector matches nothing, and the job waits without an end."
    ),
    fix="remove the selector, or check the job against its cluster: hyperpod-jobs validate --cluster",
    source=(
        "AWS docs sagemaker-hyperpod-eks-resiliency-node-labels, "
        "sagemaker-hyperpod-eks-resiliency-deep-health-checks"
    ),
    check=check,
)
