"""HyperPod supports the version of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.checks.kubernetes import check_kubernetes_version, newest_kubernetes_version
from hyperpod_policy.eks_clusters import control_planes, foreign_control_planes
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, scalar_text

_MEMBER: Final = "Version"
_ALLOWED: Final = f"a version that HyperPod supports, such as {newest_kubernetes_version()}"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the version of each EKS cluster."""
    for control_plane in control_planes(template):
        version = control_plane.get(_MEMBER)
        if version is None:
            found = "is not set, so EKS takes its newest, which HyperPod may not support yet"
            yield undetermined(control_plane, _MEMBER, found=found, allowed=_ALLOWED)
            continue
        text = scalar_text(version)
        if isinstance(text, Unresolved):
            yield undetermined(control_plane, _MEMBER, found=f"is {version}", allowed=_ALLOWED)
            continue
        faults = check_kubernetes_version(text)
        for fault in faults:
            yield failed(control_plane, _MEMBER, found=fault.message, allowed="", severity=fault.severity)
        if not faults:
            yield passed(control_plane, _MEMBER)
    for found_elsewhere in foreign_control_planes(template):
        yield undetermined(
            found_elsewhere.cluster,
            *found_elsewhere.path,
            found=f"EKS cluster {found_elsewhere.arn} is not in this template",
            allowed=_ALLOWED,
        )


RULE = Rule(
    id="EksKubernetesVersion",
    title="HyperPod supports the version of Kubernetes",
    severity="error",
    why=(
        "HyperPod refuses an EKS cluster of a version that it does not support, after network and control "
        "plane were made, and EKS takes no step back: another cluster has to be made."
    ),
    fix=f"set Version to {newest_kubernetes_version()}, which every source has",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites, sagemaker-eks-operator-install",
    check=check,
)
