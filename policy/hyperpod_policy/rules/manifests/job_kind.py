"""Kind and API version of a training job are spelled as the operators have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge kind and version of each training job."""
    for job in training_jobs(manifests):
        manifest, operator = job.manifest, job.operator
        if manifest.kind != operator.kind:
            yield failed(manifest, "kind", found=f"kind {manifest.kind}", allowed=operator.kind)
        elif manifest.api_version != operator.api_version:
            yield failed(
                manifest,
                "apiVersion",
                found=f"API version {manifest.api_version}",
                allowed=operator.api_version,
            )
        else:
            yield passed(manifest, "kind")


RULE = ManifestRule(
    id="JobKind",
    title="kind and API version of a training job are those of the operator",
    severity="error",
    why=(
        "Kinds are told apart by case. One that no operator has is refused when it is applied, and a tool "
        "that applies a whole directory may go on without it. A sample in the documentation is misspelled "
        "itself."
    ),
    fix="write PyTorchJob of kubeflow.org/v1, or HyperPodPyTorchJob of sagemaker.amazonaws.com/v1",
    source="PyPI sagemaker-hyperpod 3.12.0; kubeflow/training-operator v1.8.1",
    check=check,
)
