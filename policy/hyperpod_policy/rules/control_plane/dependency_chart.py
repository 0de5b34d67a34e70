"""HyperPod's Helm chart is installed before its nodes come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.add_ons import CHART_FOLDER, CHART_RELEASE, CHART_REPOSITORY
from hyperpod_policy.add_ons import names_control_plane
from hyperpod_policy.dependencies import before, deployed_together
from hyperpod_policy.eks_clusters import Orchestration, orchestrations
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Text

_MARKS: Final = (CHART_RELEASE, CHART_FOLDER.rpartition("/")[2].lower(), CHART_REPOSITORY, "hyperpod-helm")
_STACK: Final = "AWS::CloudFormation::Stack"
_ALLOWED: Final = f"the chart {CHART_FOLDER.rpartition('/')[2]} before the HyperPod cluster"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each HyperPod cluster that is deployed together with its EKS cluster."""
    for found in orchestrations(template):
        if found.control_plane is not None and deployed_together(found.control_plane, found.cluster):
            yield _judge(template, found, found.control_plane)


def _judge(template: Template, found: Orchestration, control_plane: Resource) -> Verdict:
    ready = before(found.cluster)
    charts = [
        maker
        for maker in template.custom_resources()
        if _names_the_chart(maker.properties)
        and ("ClusterName" not in maker.properties or names_control_plane(found, maker.get("ClusterName")))
    ]
    if any(chart.key in ready for chart in charts):
        return passed(found.cluster)
    if charts:
        names = ", ".join(f"{chart.logical_id} ({chart.type})" for chart in charts)
        return failed(found.cluster, found=f"does not wait for {names}", allowed=_ALLOWED)
    between = [
        maker for maker in _makers(template) if maker.key in ready and control_plane.key in before(maker)
    ]
    if between:
        names = " or ".join(maker.logical_id for maker in between)
        return undetermined(
            found.cluster, found=f"whether {names} installs the chart cannot be seen", allowed=_ALLOWED
        )
    return failed(
        found.cluster,
        found=f"nothing comes between EKS cluster {control_plane.logical_id} and this that could install it",
        allowed=_ALLOWED,
    )


def _makers(template: Template) -> Iterator[Resource]:
    yield from template.custom_resources()
    yield from template.of_type(_STACK)


def _names_the_chart(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_names_the_chart, value.values()))
    if isinstance(value, list):
        return any(map(_names_the_chart, value))
    if isinstance(value, Text):
        return any(map(_names_the_chart, value.parts))
    return isinstance(value, str) and any(mark in value.lower() for mark in _MARKS)


RULE = Rule(
    id="DependencyChart",
    title="HyperPod's Helm chart is installed before its nodes come",
    severity="error",
    why=(
        "Health monitoring, deep health checks and job recovery run from this chart. Nodes that come before "
        "it are not monitored, fail their deep health checks, and are not replaced."
    ),
    fix=(
        "install the chart with a custom resource that the HyperPod cluster depends on; EksControlPlane does "
        "(dependency_chart)"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-eks-install-packages-using-helm-chart",
    check=check,
)
