"""Pods in the host's network find names within the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import DNS_POLICY_WITH_HOST_NETWORK
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_MEMBER = "dnsPolicy"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the DNS policy of each pod in the host's network."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            if not pod.flag("hostNetwork"):
                continue
            policy = pod.spec.get(_MEMBER)
            if policy == DNS_POLICY_WITH_HOST_NETWORK:
                yield passed(job.manifest, *pod.at(_MEMBER))
            elif policy == "None" and pod.spec.get("dnsConfig"):
                yield undetermined(
                    job.manifest,
                    *pod.at("dnsConfig"),
                    found="name servers of its own",
                    allowed="ones that know the names within the cluster",
                )
            else:
                yield failed(
                    job.manifest,
                    *pod.at(_MEMBER),
                    found="no dnsPolicy" if policy is None else f"dnsPolicy {policy}",
                    allowed=DNS_POLICY_WITH_HOST_NETWORK,
                )


RULE = ManifestRule(
    id="HostNetworkDns",
    title="pods in the host's network find names within the cluster",
    severity="error",
    why=(
        "The default policy quietly becomes that of the node in the host's network. The names of other pods "
        "and of the memory tier are then unknown: the rendezvous fails, and tiered checkpoints are not "
        "written."
    ),
    fix="set dnsPolicy to ClusterFirstWithHostNet",
    source="Kubernetes docs, DNS for services and pods; AWS docs managed-tier-checkpointing-setup",
    check=check,
)
