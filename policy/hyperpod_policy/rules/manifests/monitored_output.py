"""The log that rules watch is written where the agent reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_model.launcher_options import LauncherOptions, assigned_variables
from hyperpod_model.monitored_output import MONITORED_OUTPUT_FLAG, keeps_output
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import Launch
from hyperpod_policy.manifests.reading import items
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_RULES = "logMonitoringConfiguration"
_START = "expectedStartCutOffInSeconds"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the output of each HyperPod job whose log is watched."""
    for job in training_jobs(manifests):
        if job.is_kubeflow or not list(items(job.run_policy.get(_RULES))):
            continue
        for _, container, launch in job.launches():
            if launch.launcher == "hyperpodrun":
                yield _judged(job, container, launch)


def _judged(job: TrainingJob, container: Container, launch: Launch) -> ManifestVerdict:
    path = (*container.path, "command")
    kept = keeps_output(LauncherOptions(launch.options, launch.says_all_options), _variables(container))
    allowed = f"{MONITORED_OUTPUT_FLAG}, or --tee=3 for all of the output"
    if kept:
        return passed(job.manifest, *path)
    if kept is None or container.reads_more_variables:
        found = "options of hyperpodrun that are in a variable, or variables that are elsewhere"
        return undetermined(job.manifest, *path, found=found, allowed=allowed)
    watches_start = any(_START in rule for _, rule in items(job.run_policy.get(_RULES)))
    ends = f"{_START} faults a healthy job again and again" if watches_start else "no rule says anything"
    return failed(
        job.manifest,
        *path,
        found=f"no file with standard output of each node's first process, so that {ends}",
        allowed=allowed,
    )


def _variables(container: Container) -> Mapping[str, str | None]:
    found = {name: value if isinstance(value, str) else None for _, name, value in container.variables()}
    return {**found, **assigned_variables(container.words)}


RULE = ManifestRule(
    id="MonitoredOutput",
    title="the log that rules watch is written where the agent reads it",
    severity="error",
    why=(
        "The agent reads the standard output of each node's first process in a file, which hyperpodrun "
        "writes only with --tee or --redirects. While it waits for the file, the time of each rule runs: a "
        "rule with a start time ends as a hang in a healthy job, which is restarted until its retries are "
        "used up. Standard error, where Python's logging writes by default, is not read."
    ),
    fix=f"give hyperpodrun {MONITORED_OUTPUT_FLAG} or --tee=3, and log to standard output",
    source=(
        "PyPI hyperpod-elastic-agent 1.1.3, logagent/log_agent.py; torch 2.13.0, DefaultLogsSpecs; AWS docs "
        "sagemaker-eks-operator-usage"
    ),
    check=check,
)
