"""What checkpointless training needs of a cluster, an image and a job."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from hyperpod_model.catalog.versions import (
    CHECKPOINTLESS_FAMILIES,
    CHECKPOINTLESS_FRAMEWORKS,
    CHECKPOINTLESS_IMAGE_MISSING_REGIONS,
    CHECKPOINTLESS_IMAGE_REGIONS,
    CHECKPOINTLESS_WITH_TIERED,
    DATA_FORMATS,
    MIN_CHECKPOINTLESS_NODES,
    MIN_CHECKPOINTLESS_PACKAGE,
    MIN_OPERATOR_FOR_CHECKPOINTLESS,
)
from hyperpod_model.checks.images import check_image, image_region
from hyperpod_model.checks.instance_types import listed_type, named_types
from hyperpod_model.checks.reading import is_unknown, number, quoted
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, Unknown

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?")


def check_checkpointless(
    settings: Mapping[str, Any],
    *,
    orchestrator: Literal["slurm", "eks"] | Unknown,
    groups: Iterable[Mapping[str, Any]] | Unknown = UNKNOWN,
    region: str | Unknown | None = None,
    tiered_checkpointing: bool | Unknown = False,
) -> list[Fault]:
    """Check the prerequisites of checkpointless training. Each value that is ``UNKNOWN`` passes.

    A healthy peer holds what a failed process is restored from. Where no peer is left, and after a stop of
    the whole cluster, only a durable checkpoint is, so that its interval stays required. Source: SageMaker
    developer guide, sagemaker-eks-checkpointless; release notes of the checkpointless training package.

    Args:
        settings: ``operator_version``, ``framework``, ``data_format``, ``image_uri``,
            ``durable_interval_steps`` and ``package_version``. ``None`` counts as absent, and all are
            required.
        orchestrator: ``slurm`` or ``eks``.
        groups: Instance groups in API terms.
        region: Region of the cluster. Default: no check of where images are.
        tiered_checkpointing: Whether managed tiered checkpointing is on as well.

    Returns:
        Faults whose path is a setting's name, or empty where the cluster is meant.
    """
    return [
        *_check_cluster(orchestrator, groups),
        *_check_version(settings, "operator_version", MIN_OPERATOR_FOR_CHECKPOINTLESS, ""),
        *_check_choice(settings, "framework", CHECKPOINTLESS_FRAMEWORKS),
        *_check_choice(settings, "data_format", DATA_FORMATS),
        *_check_image(settings, region),
        *_check_version(
            settings,
            "package_version",
            MIN_CHECKPOINTLESS_PACKAGE,
            ": before, the fault handling thread took a wrong CUDA device",
        ),
        *_check_durable_interval(settings),
        *_check_pair(tiered_checkpointing),
    ]


def _check_cluster(
    orchestrator: Literal["slurm", "eks"] | Unknown, groups: Iterable[Mapping[str, Any]] | Unknown
) -> list[Fault]:
    faults = []
    if orchestrator == "slurm":
        faults.append(
            Fault(
                (),
                "goes with the EKS orchestrator only; on Slurm, jobs resume from checkpoints",
            )
        )
    if isinstance(groups, Unknown):
        return faults
    nodes: int | None = 0
    others: list[str] = []
    for group in groups:
        names = [name for _, name in named_types(group)]
        accelerated = [listed is not None and listed.is_accelerated for listed in map(listed_type, names)]
        is_unlisted = not names or any(listed_type(name) is None for name in names)
        count = number(group, "InstanceCount")
        if is_unlisted or (any(accelerated) and count is None):
            nodes = None
        elif any(accelerated) and nodes is not None and count is not None:
            nodes += count
        others += [
            name
            for name, is_accelerated in zip(names, accelerated, strict=True)
            if is_accelerated and not name.startswith(CHECKPOINTLESS_FAMILIES.value)
        ]
    if nodes is not None and nodes < MIN_CHECKPOINTLESS_NODES:
        faults.append(
            Fault(
                (),
                f"needs {MIN_CHECKPOINTLESS_NODES} accelerated nodes or more, got {nodes}: a failed process "
                "is restored from a peer on another node; raise instance_count",
            )
        )
    faults += [
        Fault(
            (),
            f"is recommended on {' and '.join(CHECKPOINTLESS_FAMILIES.value)} types, got {name!r}; try the "
            "recovery there before relying on it",
            "warning",
        )
        for name in dict.fromkeys(others)
    ]
    return faults


def _check_version(settings: Mapping[str, Any], name: str, least: str, reason: str) -> list[Fault]:
    value = settings.get(name)
    if is_unknown(value):
        return []
    if value is None:
        return [Fault((name,), f"is required, {least} or later{reason}")]
    found = _VERSION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return [Fault((name,), f"must be a version such as {least!r}, got {value!r}")]
    if tuple(map(int, found.groups())) >= tuple(map(int, least.split("."))):
        return []
    return [Fault((name,), f"must be {least} or later{reason}; got {value!r}")]


def _check_choice(settings: Mapping[str, Any], name: str, choices: Sequence[str]) -> list[Fault]:
    value = settings.get(name)
    if is_unknown(value) or value in choices:
        return []
    if value is None:
        return [Fault((name,), f"is required, one of {quoted(choices)}")]
    lowered = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(str(value).lower(), lowered, n=1)
    hint = f"; did you mean {lowered[close[0]]!r}" if close else ""
    return [Fault((name,), f"must be one of {quoted(choices)}, got {value!r}{hint}")]


def _check_image(settings: Mapping[str, Any], region: str | Unknown | None) -> list[Fault]:
    path: FaultPath = ("image_uri",)
    faults = []
    where = region if isinstance(region, str) else None
    if where is not None and where not in CHECKPOINTLESS_IMAGE_REGIONS:
        known = (
            "which the release notes name as an opt-in Region without one"
            if where in CHECKPOINTLESS_IMAGE_MISSING_REGIONS
            else "which the release notes do not name"
        )
        faults.append(
            Fault(
                path,
                f"AWS publishes no image of checkpointless training in {where}, {known}; copy one from a "
                f"Region that has it, which are {', '.join(CHECKPOINTLESS_IMAGE_REGIONS)}",
                "warning",
            )
        )
    value = settings.get("image_uri")
    if is_unknown(value):
        return faults
    if value is None:
        return [
            *faults,
            Fault(
                path,
                "is required: checkpointless training runs in an image of its own, whose path differs by "
                "Region and release; take it from the release notes of the package",
            ),
        ]
    faults += check_image(value, path)
    published = image_region(value)
    if published is not None and where is not None and published != where:
        faults.append(
            Fault(
                path,
                f"lies in {published} and the cluster in {where}: every replacement node pulls it "
                "from there, and a closed network cannot; use an image in the cluster's Region",
                "warning",
            )
        )
    return faults


def _check_durable_interval(settings: Mapping[str, Any]) -> list[Fault]:
    path: FaultPath = ("durable_interval_steps",)
    value = settings.get("durable_interval_steps")
    if is_unknown(value):
        return []
    if value is None:
        return [
            Fault(
                path,
                "is required: peers restore a failed process, but after a stop of the whole cluster only a "
                "durable checkpoint is left",
            )
        ]
    steps = number(settings, "durable_interval_steps")
    return [] if steps is not None and steps >= 1 else [Fault(path, f"must be 1 or more, got {value!r}")]


def _check_pair(tiered_checkpointing: bool | Unknown) -> list[Fault]:
    if tiered_checkpointing is not True or CHECKPOINTLESS_WITH_TIERED.certain:
        return []
    against = next(claim for claim in CHECKPOINTLESS_WITH_TIERED.claims if not claim.value)
    return [
        Fault(
            (),
            "complements managed tiered checkpointing, one recovers and the other endures, but a source "
            f"says that they do not work in one job ({against.source}, {against.checked_on}); try both "
            "together before relying on it",
            "warning",
        )
    ]
