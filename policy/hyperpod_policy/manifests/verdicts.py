"""Answers of rules about manifests, in short."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.manifests.rule import ManifestVerdict
from hyperpod_policy.rule import Severity


def passed(manifest: Manifest, *path: str | int) -> ManifestVerdict:
    """Answer that an object keeps the promise."""
    return ManifestVerdict("pass", manifest, path)


def failed(
    manifest: Manifest,
    *path: str | int,
    found: str,
    allowed: str,
    fix: str | None = None,
    severity: Severity | None = None,
) -> ManifestVerdict:
    """Answer that an object breaks the promise."""
    return ManifestVerdict("fail", manifest, path, found, allowed, fix, severity)


def undetermined(
    manifest: Manifest, *path: str | int, found: str, allowed: str, fix: str | None = None
) -> ManifestVerdict:
    """Answer that only the cluster can tell, or what is filled in before the manifest is applied."""
    return ManifestVerdict("undetermined", manifest, path, found, allowed, fix)


def judged(
    manifest: Manifest, path: FaultPath, problems: Iterable[ManifestVerdict]
) -> Iterator[ManifestVerdict]:
    """Yield what is wrong, or that the promise is kept if nothing is.

    Args:
        manifest: The object.
        path: Where the promise is kept.
        problems: What is wrong.
    """
    none = True
    for problem in problems:
        none = False
        yield problem
    if none:
        yield passed(manifest, *path)


def hint(word: object, known: Iterable[str]) -> str:
    """Return the end of a sentence that names the known word that a wrong one looks like; empty if none."""
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(str(word).lower(), by_lower, n=1)
    return f"; did you mean {by_lower[near[0]]}" if near else ""
