"""Manifests hold no credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_SECRET = re.compile(
    r"(?:^|_)(?:SECRET(?:_ACCESS)?(?:_KEY)?|PASSWORD|API_KEY|ACCESS_KEY_ID|SESSION_TOKEN|TOKEN)$"
)
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the environment of each container of a training job."""
    for job in training_jobs(manifests):
        for _, container in job.containers(init=True):
            path = (*container.path, "env")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(
                        job.manifest,
                        *path,
                        position,
                        found=f"a value for {name}, which looks like a credential",
                        allowed="valueFrom.secretKeyRef, or a role in place of keys",
                    )
                    for position, name, value in container.variables()
                    if isinstance(value, str)
                    and value
                    and not is_deferred(value)
                    and not value.startswith("/")
                    and (_SECRET.search(name.upper()) or _KEY_ID.search(value))
                ),
            )


RULE = ManifestRule(
    id="LiteralSecrets",
    title="manifests hold no credentials",
    severity="error",
    why=(
        "Whoever reads the manifest, the job in the cluster or this repository has the key. Keys of AWS are "
        "not needed at all: pods get a role through their service account."
    ),
    fix="take the value from a Secret, or use Pod Identity or IRSA for AWS",
    source="Kubernetes docs, secrets good practices; AWS docs EKS Pod Identity",
    check=check,
)
