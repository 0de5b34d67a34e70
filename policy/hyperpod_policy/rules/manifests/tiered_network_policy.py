"""A job with a memory tier is closed off by a network policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.features import tiered_at
from hyperpod_policy.manifests.reading import listed
from hyperpod_policy.manifests.selectors import selects_pods
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_KIND = "NetworkPolicy"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge whether a network policy stands beside each job with a memory tier."""
    policies = [manifest for manifest in manifests if manifest.kind == _KIND]
    for job in training_jobs(manifests):
        at = tiered_at(job)
        if at is None:
            continue
        if all(pod.flag("hostNetwork") for pod in job.pods()):
            yield undetermined(
                job.manifest,
                *at,
                found="pods in the host's network, for which network policies do not hold",
                allowed=f"{listed(TIERED_CHECKPOINTING)} open to nodes of the cluster only",
                fix="check the cluster's template: hyperpod-review cdk.out, rule CheckpointPorts",
            )
        elif any(_selects(policy, job) for policy in policies):
            yield passed(job.manifest, *at)
        else:
            yield failed(
                job.manifest,
                *at,
                found="no NetworkPolicy for its pods among these manifests",
                allowed="one that lets only members of the job and the memory tier in",
            )


def _selects(policy: Manifest, job: TrainingJob) -> bool:
    namespaces = {policy.namespace, job.manifest.namespace} - {None}
    return len(namespaces) < 2 and selects_pods(policy.get("spec", "podSelector"), job)


RULE = ManifestRule(
    id="TieredNetworkPolicy",
    title="a job with a memory tier is closed off by a network policy",
    severity="advice",
    why=(
        "Checkpoints in memory are read back as pickles. Any pod of the cluster that reaches the ports of "
        "that tier, or of the job, can hand the training code of its own."
    ),
    fix="add a NetworkPolicy for the job's pods, such as the platform chart of this project renders",
    source="AWS docs managed-tier-checkpointing-setup, security considerations",
    check=check,
)
