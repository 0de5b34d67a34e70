"""Add-ons are recent enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.add_ons import ADD_ONS
from hyperpod_model.checks.kubernetes import check_add_on_versions
from hyperpod_policy.add_ons import all_add_ons
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved

_MEMBER: Final = "AddonVersion"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the versions that add-ons name, where HyperPod asks for one."""
    for found in all_add_ons(template):
        for name, add_on in found.by_name.items():
            minimum = ADD_ONS[name].minimum if name in ADD_ONS else None
            version = add_on.get(_MEMBER)
            if minimum is not None and version is not None:
                yield _judge(add_on, name, version, allowed=f"{minimum} or later")


def _judge(add_on: Resource, name: str, version: Any, *, allowed: str) -> Verdict:
    if isinstance(version, Unresolved):
        return undetermined(add_on, _MEMBER, found=f"is {version}", allowed=allowed)
    faults = check_add_on_versions({name: version})
    if faults:
        return failed(add_on, _MEMBER, found=f"{name} {faults[0].message}", allowed="")
    return passed(add_on, _MEMBER)


RULE = Rule(
    id="EksAddOnVersions",
    title="add-ons that name a version name one that HyperPod takes",
    severity="error",
    why=(
        "Older releases of the VPC CNI do not know HyperPod's nodes: pods get no address, and nodes stay "
        "NotReady until somebody updates the add-on."
    ),
    fix="name the version that the finding asks for, or none, which is EKS's default for the cluster",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites",
    check=check,
)
