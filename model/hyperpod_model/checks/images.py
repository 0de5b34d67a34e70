"""Container images: where they come from and which one is meant."""

from __future__ import annotations

import re
from typing import Any

from hyperpod_model.checks.reading import is_unknown
from hyperpod_model.faults import Fault, FaultPath

_IMAGE = re.compile(
    r"(?P<registry>[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?)/(?P<name>[a-z0-9]+([._/-]+[a-z0-9]+)*)"
    r"(:(?P<tag>[\w][\w.-]{0,127}))?(@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)
_ECR = re.compile(r"\d{12}\.dkr[.-]ecr\.(?P<region>[a-z0-9-]+)\..+")
_EXAMPLE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.4.0"


def check_image(value: Any, path: FaultPath) -> list[Fault]:
    """Check that an image is found, and stays the same when pods are made anew.

    Args:
        value: The image. ``UNKNOWN`` passes.
        path: Path of the faults.
    """
    if is_unknown(value):
        return []
    found = _IMAGE.fullmatch(value) if isinstance(value, str) else None
    if found is None or (found["tag"] is None and found["digest"] is None):
        return [
            Fault(
                path, f"must be an image with registry and tag or digest, such as {_EXAMPLE}, got {value!r}"
            )
        ]
    if found["tag"] == "latest" and found["digest"] is None:
        return [Fault(path, "must not have the tag 'latest', which changes under a job; pin a version")]
    return []


def image_region(value: Any) -> str | None:
    """Region of an image in Amazon ECR, None for any other.

    Args:
        value: The image.
    """
    found = _IMAGE.fullmatch(value) if isinstance(value, str) else None
    registry = None if found is None else _ECR.fullmatch(found["registry"])
    return None if registry is None else registry["region"]
