"""EKS takes its users from access entries."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.versions import EKS_AUTHENTICATION_MODES
from hyperpod_policy.eks_clusters import control_planes, foreign_control_planes
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved

_PATH = ("AccessConfig", "AuthenticationMode")
_ONLY = "API"
_ALLOWED = f"{_ONLY}; HyperPod takes {' and '.join(EKS_AUTHENTICATION_MODES)}"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the authentication mode of each EKS cluster."""
    for control_plane in control_planes(template):
        mode = control_plane.get(*_PATH)
        if isinstance(mode, Unresolved):
            yield undetermined(control_plane, *_PATH, found=f"is {mode}", allowed=_ALLOWED)
        elif mode == _ONLY:
            yield passed(control_plane, *_PATH)
        elif mode in EKS_AUTHENTICATION_MODES:
            yield failed(
                control_plane,
                *_PATH,
                found=f"is {mode}, so whoever edits the ConfigMap aws-auth becomes an administrator",
                allowed=_ALLOWED,
                severity="warning",
            )
        else:
            found = "is not set, which means CONFIG_MAP" if mode is None else f"is {mode}"
            yield failed(control_plane, *_PATH, found=found, allowed=_ALLOWED)
    for found_elsewhere in foreign_control_planes(template):
        yield undetermined(
            found_elsewhere.cluster,
            *found_elsewhere.path,
            found=f"EKS cluster {found_elsewhere.arn} is not in this template",
            allowed=_ALLOWED,
        )


RULE = Rule(
    id="EksAuthentication",
    title="EKS takes its users from access entries",
    severity="error",
    why=(
        "HyperPod lets its nodes in by an access entry that it makes itself, which an EKS cluster with "
        "CONFIG_MAP refuses: the HyperPod cluster fails. Beside access entries, the ConfigMap is a second "
        "list of administrators that no IAM policy guards."
    ),
    fix="set AccessConfig.AuthenticationMode to API",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites; EKS user guide, access entries",
    check=check,
)
