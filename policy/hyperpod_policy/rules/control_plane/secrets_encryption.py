"""Kubernetes secrets are encrypted with a key of the account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_policy.eks_clusters import control_planes, foreign_control_planes
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements

_MEMBER = "EncryptionConfig"
_ALLOWED = "a KMS key for the resource secrets"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the encryption of each EKS cluster."""
    for control_plane in control_planes(template):
        configured, complete = elements(control_plane.get(_MEMBER))
        unclear = not complete or any(isinstance(item, Unresolved) for item in configured)
        covered = any(
            isinstance(item, Mapping)
            and "secrets" in elements(item.get("Resources"))[0]
            and isinstance(item.get("Provider"), Mapping)
            and item["Provider"].get("KeyArn")
            for item in configured
        )
        if covered:
            yield passed(control_plane, _MEMBER)
        elif unclear:
            yield undetermined(control_plane, _MEMBER, found="is not known", allowed=_ALLOWED)
        else:
            yield failed(control_plane, _MEMBER, found="names no key for secrets", allowed=_ALLOWED)
    for found in foreign_control_planes(template):
        yield undetermined(
            found.cluster,
            *found.path,
            found=f"EKS cluster {found.arn} is not in this template",
            allowed=_ALLOWED,
        )


RULE = Rule(
    id="EksSecretsEncryption",
    title="Kubernetes secrets are encrypted with a key of the account",
    severity="error",
    why=(
        "Tokens for registries, data and experiment tracking are Kubernetes secrets. With a key of the "
        "account, its use is logged and can be taken away; encryption cannot be changed later without "
        "another cluster."
    ),
    fix="give EncryptionConfig a key for the resource secrets when the cluster is made",
    source="EKS user guide, enable-kms",
    check=check,
)
