"""HyperPod's agent lets training processes save before it kills them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import (
    AGENT_GRACEFUL_SIGNAL,
    AGENT_SIGNAL_FLAG,
    AGENT_TIMEOUT_FLAG,
)
from hyperpod_model.catalog.manifest_vocabulary import (
    AGENT_SHUTDOWN_TIMEOUT_SECONDS,
    DEFAULT_GRACE_PERIOD_SECONDS,
)
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import integer
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the agent's options in each HyperPod job."""
    for job in training_jobs(manifests):
        for pod, container, launch in job.launches():
            if launch.launcher != "hyperpodrun":
                continue
            path = (*container.path, "command")
            signal = launch.options.get(_name(AGENT_SIGNAL_FLAG))
            written = launch.options.get(_name(AGENT_TIMEOUT_FLAG))
            seconds = AGENT_SHUTDOWN_TIMEOUT_SECONDS if written is None else integer(written)
            grace = _grace(pod)
            if signal != AGENT_GRACEFUL_SIGNAL:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"no {AGENT_SIGNAL_FLAG}" if signal is None else f"{AGENT_SIGNAL_FLAG} {signal}",
                    allowed=f"{AGENT_SIGNAL_FLAG}={AGENT_GRACEFUL_SIGNAL}",
                )
            elif written is None or (seconds is not None and grace is not None and seconds >= grace):
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{seconds} s from SIGTERM to SIGKILL in a pod with a grace period of {grace} s",
                    allowed=f"{AGENT_TIMEOUT_FLAG} of nearly the grace period, and less than it",
                )
            else:
                yield passed(job.manifest, *path)


def _name(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def _grace(pod: Pod) -> int | None:
    return integer(pod.spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_PERIOD_SECONDS))


RULE = ManifestRule(
    id="AgentShutdown",
    title="HyperPod's agent lets training processes save before it kills them",
    severity="warning",
    why=(
        "By default the agent sends SIGKILL to the processes it started, and with SIGTERM waits 15 seconds. "
        "The pod's grace period does not help: it is the agent that gets the signal, and not the training."
    ),
    fix="give hyperpodrun --shutdown-signal=SIGTERM and a --shutdown-timeout a little below the grace period",
    source="PyPI hyperpod-elastic-agent 1.1.3, README and run.py",
    check=check,
)
