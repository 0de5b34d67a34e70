"""Images have a registry and a version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_IMAGE = re.compile(
    r"(?:(?P<registry>[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?)/)?(?P<name>[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)
_MAX_LENGTH = 1000
_MOVING = frozenset({"latest", "main", "master", "nightly", "dev", "stable"})
_ENDS_MOVING = re.compile(rf":({'|'.join(sorted(_MOVING))})$")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the image of each container of a training job."""
    for job in training_jobs(manifests):
        for _, container in job.containers(init=True):
            image = container.body.get("image")
            path = (*container.path, "image")
            allowed = "an image with registry, and with a tag that stays or a digest"
            fault = _fault(image)
            if is_deferred(image):
                yield undetermined(job.manifest, *path, found=f"image {shown(image)}", allowed=allowed)
            elif fault is None:
                yield passed(job.manifest, *path)
            else:
                yield failed(job.manifest, *path, found=f"image {shown(image)}, {fault}", allowed=allowed)


def _fault(image: Any) -> str | None:
    found = _IMAGE.fullmatch(image) if isinstance(image, str) and len(image) <= _MAX_LENGTH else None
    if found is None:
        moving = _ENDS_MOVING.search(image) if isinstance(image, str) else None
        return "which is no image's name" + (f", and whose tag {moving[1]} moves" if moving else "")
    registry = found["registry"]
    if registry is None or ("." not in registry and ":" not in registry and registry != "localhost"):
        return "without a registry, which means Docker Hub"
    if found["digest"] is not None:
        return None
    if found["tag"] is None:
        return "without a tag, which means latest"
    return f"whose tag {found['tag']} moves" if found["tag"] in _MOVING else None


RULE = ManifestRule(
    id="ImagePins",
    title="images have a registry, and a version that stays",
    severity="error",
    why=(
        "A replacement node pulls the image anew. If its tag has moved meanwhile, one rank runs other code "
        "than the rest of the job. An image without registry comes from Docker Hub, whose limits a large "
        "job meets, and from whoever owns the name there. A placeholder left in the name is no image at "
        "all."
    ),
    fix="push the image to ECR under a version of its own, and name it with registry and tag or digest",
    source="Kubernetes docs, images; Docker Hub, pull limits",
    check=check,
)
