"""Requests and limits of a container go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.reading import is_deferred, mapping, quantity, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_HUGE_PAGES = "hugepages-"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the resources of each container of a training job."""
    for job in training_jobs(manifests):
        for _, container in job.containers(init=True):
            path = (*container.path, "resources")
            yield from judged(job.manifest, path, _faults(job.manifest, container))


def _faults(manifest: Manifest, container: Container) -> Iterator[ManifestVerdict]:
    resources = mapping(container.body.get("resources"))
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    path = (*container.path, "resources")
    readable = True
    for kind, amounts in (("requests", requests), ("limits", limits)):
        for name, written in _named(amounts):
            amount = quantity(written)
            allowed = "a whole number" if _is_whole(name) else "a quantity such as 512Gi or 1500m"
            if is_deferred(written):
                readable = False
                yield undetermined(manifest, *path, kind, name, found=f"{name} {written}", allowed=allowed)
            elif amount is None or amount < 0 or (_is_whole(name) and amount.denominator != 1):
                readable = False
                yield failed(manifest, *path, kind, name, found=f"{name} {shown(written)}", allowed=allowed)
    if readable:
        yield from _compared(manifest, container)


def _compared(manifest: Manifest, container: Container) -> Iterator[ManifestVerdict]:
    resources = mapping(container.body.get("resources"))
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    path = (*container.path, "resources", "requests")
    for name, written in _named(requests):
        asked, limit = quantity(written), quantity(limits.get(name))
        if limit is None and (_is_whole(name) or name.startswith(_HUGE_PAGES)):
            yield failed(
                manifest,
                *path,
                name,
                found=f"{name} {shown(written)} requested without a limit",
                allowed="the same in limits, which devices and huge pages need",
            )
        elif asked is None or limit is None or asked == limit:
            continue
        elif _is_whole(name) or name.startswith(_HUGE_PAGES):
            yield failed(
                manifest,
                *path,
                name,
                found=f"{name} {shown(written)} requested, {shown(limits[name])} as limit",
                allowed="the same in both, since devices and huge pages are never overcommitted",
            )
        elif asked > limit:
            yield failed(
                manifest,
                *path,
                name,
                found=f"{name} {shown(written)} requested",
                allowed=f"no more than the limit {shown(limits[name])}",
            )
    names = {name for amounts in (limits, requests) for name, _ in _named(amounts)}
    if any(name.startswith(_HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield failed(
            manifest,
            *path[:-1],
            found="huge pages without CPU or memory",
            allowed="CPU or memory beside huge pages",
        )


def _named(amounts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((name, written) for name, written in amounts.items() if isinstance(name, str))


def _is_whole(name: str) -> bool:
    """Whether it is a device, of which there are whole ones only."""
    return "/" in name


RULE = ManifestRule(
    id="ResourceRequests",
    title="requests and limits of a container go together",
    severity="error",
    why=(
        "The server refuses a pod that requests more than its limit, or devices and huge pages in two "
        "different amounts. It does so when the operator creates the pod: the job itself was accepted."
    ),
    fix="give requests and limits the same amounts",
    source="Kubernetes docs, extended resources and manage huge pages; core validation of pods",
    check=check,
)
