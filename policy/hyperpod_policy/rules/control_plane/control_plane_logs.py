"""The control plane keeps its logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hyperpod_policy.eks_clusters import control_planes, foreign_control_planes
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements

_PATH: Final = ("Logging", "ClusterLogging", "EnabledTypes")
_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_ALLOWED: Final = ", ".join(_TYPES)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the log types of each EKS cluster."""
    for control_plane in control_planes(template):
        listed, complete = elements(control_plane.get(*_PATH))
        kinds = [item.get("Type") if isinstance(item, Mapping) else item for item in listed]
        missing = [kind for kind in _TYPES if kind not in kinds]
        if not missing:
            yield passed(control_plane, *_PATH)
        elif not complete or any(isinstance(kind, Unresolved) for kind in kinds):
            yield undetermined(control_plane, *_PATH, found="is not known", allowed=_ALLOWED)
        else:
            yield failed(control_plane, *_PATH, found=f"lacks {', '.join(missing)}", allowed=_ALLOWED)
    for found in foreign_control_planes(template):
        yield undetermined(
            found.cluster,
            *found.path,
            found=f"EKS cluster {found.arn} is not in this template",
            allowed=_ALLOWED,
        )


RULE = Rule(
    id="EksControlPlaneLogs",
    title="the control plane keeps all its logs",
    severity="error",
    why=(
        "Who started which pod with which role stands in the audit and authenticator logs alone, and why a "
        "job was not scheduled in those of scheduler and controller manager. Logs that were off cannot be "
        "had afterwards."
    ),
    fix="enable all log types in Logging.ClusterLogging.EnabledTypes",
    source="EKS user guide, control-plane-logs",
    check=check,
)
