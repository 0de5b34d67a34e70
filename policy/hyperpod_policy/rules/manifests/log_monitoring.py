"""Rules that watch a job's log can match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.jobs import FAULT_ON_MATCH, LOG_COMPARISONS, LOG_PATTERNS_BEGIN_LINES
from hyperpod_model.faults import FaultPath
from hyperpod_model.monitored_output import begins_with_text
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import items, listed, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged, undetermined

_PATH = ("spec", "runPolicy", "logMonitoringConfiguration")
_MAX_PATTERN = 2000
_TIMES = ("expectedStartCutOffInSeconds", "expectedRecurringFrequencyInSeconds")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the log monitoring of each HyperPod job."""
    for job in training_jobs(manifests):
        if not job.is_kubeflow:
            yield from judged(job.manifest, _PATH, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    entries = list(items(job.run_policy.get(_PATH[-1])))
    if not entries:
        yield failed(
            job.manifest,
            *_PATH,
            found="nothing watches the log",
            allowed="rules for a job that hangs, whose loss is no number, or that is slow",
            severity="advice",
        )
    names: set[str] = set()
    for position, entry in entries:
        name = entry.get("name")
        if isinstance(name, str) and name in names:
            yield failed(
                job.manifest, *_PATH, position, "name", found=f"name {name!r} again", allowed="another name"
            )
        names.add(str(name))
        for member, found, allowed in _of_entry(entry):
            yield failed(job.manifest, *_PATH, position, *member, found=found, allowed=allowed)
        for written in ("logPattern", "stopPattern"):
            pattern = entry.get(written)
            if LOG_PATTERNS_BEGIN_LINES.value and isinstance(pattern, str) and begins_with_text(pattern):
                yield failed(
                    job.manifest,
                    *_PATH,
                    position,
                    written,
                    found=f"pattern {shown(pattern)}, which only matches where a line begins so",
                    allowed=".* before it, or ^ if lines begin so",
                    severity="warning",
                )
        if "faultOnMatch" in entry and not FAULT_ON_MATCH.certain:
            yield undetermined(
                job.manifest,
                *_PATH,
                position,
                "faultOnMatch",
                found=f"faultOnMatch, of which {FAULT_ON_MATCH.doubt}",
                allowed="a member that the operator on the cluster knows",
            )


def _of_entry(entry: Mapping[str, Any]) -> Iterator[tuple[FaultPath, str, str]]:
    if not isinstance(entry.get("name"), str) or not entry["name"]:
        yield ("name",), "no name", "a name"
    pattern = entry.get("logPattern")
    groups = None
    if not isinstance(pattern, str) or not pattern:
        yield ("logPattern",), "no logPattern", "a regular expression"
    elif len(pattern) <= _MAX_PATTERN:
        try:
            groups = re.compile(pattern).groups
        except (re.error, OverflowError, RecursionError) as error:
            yield ("logPattern",), f"pattern {shown(pattern)}: {error}", "a regular expression"
    threshold, comparison = entry.get("metricThreshold"), entry.get("operator")
    if (threshold is None) != (comparison is None):
        given, missing = (
            ("metricThreshold", "operator") if comparison is None else ("operator", "metricThreshold")
        )
        yield (given,), f"{given} without {missing}, so that nothing is compared", "both or neither"
    if comparison is not None and comparison not in LOG_COMPARISONS:
        yield (
            ("operator",),
            f"operator {shown(comparison)}{hint(comparison, LOG_COMPARISONS)}",
            listed(LOG_COMPARISONS),
        )
    if threshold is not None and groups == 0:
        yield (
            ("logPattern",),
            "a threshold for a pattern without a group",
            "a group in parentheses around the number",
        )
    if threshold is None and all(entry.get(name) is None for name in (*_TIMES, "faultOnMatch")):
        yield (
            (),
            "a rule without time and threshold, which never says anything",
            listed([*_TIMES, "metricThreshold"]),
        )


RULE = ManifestRule(
    id="LogMonitoring",
    title="rules that watch a job's log can match",
    severity="error",
    why=(
        "A job that hangs in a collective fails no health check: only its log stands still. The schema "
        "takes a rule that cannot match or compares nothing, and the job is then watched on paper only."
    ),
    fix="give each rule a name, a pattern that compiles, and a time or a threshold with its operator",
    source="PyPI hyperpod-pytorch-job-template 1.5.0; AWS docs sagemaker-eks-operator-usage",
    check=check,
)
