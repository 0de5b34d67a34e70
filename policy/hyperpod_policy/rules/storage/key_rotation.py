"""Every key of the stack rotates."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.clusters import clusters
from hyperpod_policy.keys import KEY
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.rules.storage.key_policies import users_of_keys
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, truth

_SYMMETRIC = "SYMMETRIC_DEFAULT"
_OWN_MATERIAL = "AWS_KMS"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the keys beside a cluster, but for those of buckets and file systems, which their rules judge."""
    if not clusters(template):
        return
    judged = users_of_keys(template)
    for key in template.of_type(KEY):
        if key.key not in judged and _can_rotate(key):
            rotates = key.get("EnableKeyRotation", default=False)
            if isinstance(rotates, Unresolved):
                yield undetermined(key, "EnableKeyRotation", found=f"is {rotates}", allowed="true")
            elif truth(rotates) is not True:
                yield failed(key, "EnableKeyRotation", found="the key never rotates", allowed="true")
            else:
                yield passed(key, "EnableKeyRotation")


def _can_rotate(key: Resource) -> bool:
    spec, origin = key.get("KeySpec", default=_SYMMETRIC), key.get("Origin", default=_OWN_MATERIAL)
    return bool(spec == _SYMMETRIC and origin == _OWN_MATERIAL)


RULE = Rule(
    id="KeyRotation",
    title="the keys beside the cluster rotate",
    severity="warning",
    why=(
        "Flow logs, volumes and Kubernetes secrets stay encrypted with one key for years. Rotation limits "
        "what a leaked or broken one opens, and costs no change of any resource."
    ),
    fix="set EnableKeyRotation to true",
    source="KMS developer guide, rotating KMS keys",
    check=check,
)
