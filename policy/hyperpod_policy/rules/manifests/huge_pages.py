"""Pods with EFA ask for huge pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.labels import EFA_RESOURCE, HUGE_PAGES_RESOURCE
from hyperpod_model.catalog.pod_resources import HUGE_PAGES_MIB, NODE_HUGE_PAGES_MIB
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_MIB = 1024**2


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the huge pages of each training container with EFA."""
    for job in training_jobs(manifests):
        for _, container in job.trainers():
            efa, pages = container.amount(EFA_RESOURCE), container.amount(HUGE_PAGES_RESOURCE)
            if not efa or pages is None:
                continue
            path = (*container.path, "resources", "limits", HUGE_PAGES_RESOURCE)
            usual = HUGE_PAGES_MIB.assuming(because="it is advice, and what AWS's own samples ask for")
            most = NODE_HUGE_PAGES_MIB.value
            if pages == 0:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"no {HUGE_PAGES_RESOURCE} beside {efa} EFA interfaces",
                    allowed=f"{usual}Mi",
                    severity="advice",
                )
            elif pages > most * _MIB:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{float(pages / _MIB):.0f} MiB of huge pages",
                    allowed=f"{most} MiB at most, which a node sets apart",
                )
            else:
                yield passed(job.manifest, *path)


RULE = ManifestRule(
    id="HugePages",
    title="pods with EFA ask for the huge pages that a node sets apart",
    severity="error",
    why=(
        "libfabric takes its buffers from huge pages, which a node of HyperPod with EFA sets apart anyway. "
        "Without them it falls back to small pages; more of them than there are fit on no node."
    ),
    fix="set hugepages-2Mi in requests and limits, with memory and CPU beside it",
    source="AWS docs sagemaker-eks-operator-usage; libfabric fi_efa man page, FI_EFA_USE_HUGE_PAGE",
    check=check,
)
