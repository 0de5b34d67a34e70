"""The Kubernetes API is reached from inside the VPC."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from hyperpod_policy.eks_clusters import control_planes, foreign_control_planes
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, truth

_NETWORK = "ResourcesVpcConfig"
_PUBLIC_ALLOWED = "no public endpoint, or one for listed ranges"
_PRIVATE_ALLOWED = "a private endpoint, through which nodes join"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the endpoints of each EKS cluster."""
    for control_plane in control_planes(template):
        verdicts = [*_public(control_plane), *_private(control_plane)]
        yield from verdicts if verdicts else [passed(control_plane, _NETWORK)]
    for found in foreign_control_planes(template):
        yield undetermined(
            found.cluster,
            *found.path,
            found=f"EKS cluster {found.arn} is not in this template",
            allowed=_PUBLIC_ALLOWED,
        )


def _public(control_plane: Resource) -> Iterator[Verdict]:
    path = (_NETWORK, "EndpointPublicAccess")
    value = control_plane.get(*path, default=True)
    if isinstance(value, Unresolved):
        yield undetermined(control_plane, *path, found=f"is {value}", allowed=_PUBLIC_ALLOWED)
        return
    if truth(value) is False:
        return
    path = (_NETWORK, "PublicAccessCidrs")
    ranges, complete = elements(control_plane.get(*path))
    if not complete:
        yield undetermined(control_plane, *path, found="is not known", allowed=_PUBLIC_ALLOWED)
    elif not ranges:
        yield failed(
            control_plane,
            *path,
            found="is not set on a public endpoint, so every address reaches it",
            allowed=_PUBLIC_ALLOWED,
        )
    for position, cidr in enumerate(ranges):
        wide = _is_world(cidr)
        if wide is not False:
            answer = undetermined if wide is None else failed
            yield answer(control_plane, *path, position, found=f"admits {cidr}", allowed=_PUBLIC_ALLOWED)


def _private(control_plane: Resource) -> Iterator[Verdict]:
    path = (_NETWORK, "EndpointPrivateAccess")
    value = control_plane.get(*path, default=False)
    if isinstance(value, Unresolved):
        yield undetermined(control_plane, *path, found=f"is {value}", allowed=_PRIVATE_ALLOWED)
    elif truth(value) is not True:
        yield failed(control_plane, *path, found="is off", allowed=_PRIVATE_ALLOWED)


def _is_world(cidr: object) -> bool | None:
    if not isinstance(cidr, str):
        return None
    try:
        return ipaddress.ip_network(cidr, strict=False).prefixlen <= 1
    except ValueError:
        return None


RULE = Rule(
    id="EksEndpointAccess",
    title="the Kubernetes API is reached from inside the VPC, or from listed ranges",
    severity="error",
    why=(
        "Who has the API and a stolen token starts pods on the training nodes. A public endpoint is open to "
        "every address unless ranges are listed, and without a private one nodes join across the internet."
    ),
    fix=(
        "set EndpointPrivateAccess to true and EndpointPublicAccess to false, or list the ranges of people "
        "who need it in PublicAccessCidrs"
    ),
    source="EKS user guide, cluster-endpoint",
    check=check,
)
