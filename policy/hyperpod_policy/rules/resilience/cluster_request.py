"""The cluster's properties are what the service takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import RequestField, cluster_request
from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.vocabulary import in_request_terms
from hyperpod_model.faults import UNKNOWN, dotted
from hyperpod_policy.clusters import clusters, groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import integer, request_terms, truth

_JUDGED_ELSEWHERE = ("NodeRecovery",)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the properties of each cluster as a CreateCluster request."""
    for cluster in clusters(template):
        request = {
            "ClusterName": UNKNOWN,
            **_as_request(request_terms(cluster.properties), cluster_request()),
        }
        faults = [
            fault
            # Whether a type exists and the region offers it is a rule of its own, acknowledged on its own.
            for fault in check_cluster(request, unlisted_instance_types=_types_of(cluster))
            if fault.path != _JUDGED_ELSEWHERE or fault.severity == "error"
        ]
        for fault in faults:
            yield failed(
                cluster,
                *fault.path,
                found=f"{dotted(fault.path)} {in_request_terms(fault)}".lstrip(),
                allowed="",
                severity=fault.severity,
            )
        if "ClusterName" not in cluster.properties:
            yield undetermined(
                cluster,
                "ClusterName",
                found="is not set, which CloudFormation documents as legal and CreateCluster as not",
                allowed="a name",
            )
        elif not faults:
            yield passed(cluster)


def _types_of(cluster: Resource) -> tuple[str, ...]:
    return tuple(
        name for group in groups(cluster) for name in group.instance_types[0] if isinstance(name, str)
    )


def _as_request(value: Any, field: RequestField | None) -> Any:
    """Read text as numbers and booleans where the request has such, as CloudFormation does."""
    if field is None:
        return value
    if isinstance(value, Mapping):
        return {
            key: _as_request(item, field.members.get(key) if field.members else field.item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_as_request(item, field.item) for item in value]
    if field.type == "integer" and isinstance(value, str):
        number = integer(value)
        return value if number is None else number
    if field.type == "boolean" and isinstance(value, str):
        answer = truth(value)
        return value if answer is None else answer
    if field.type == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


RULE = Rule(
    id="ClusterRequest",
    title="the service takes the cluster's properties together",
    severity="error",
    why=(
        "The CloudFormation schema accepts combinations that CreateCluster refuses, so that a deployment "
        "fails and rolls back after the network and file system were made, or starts a cluster that can "
        "never train."
    ),
    fix="change the property as the finding says",
    source="SageMaker API reference, CreateCluster; developer guide, SageMaker HyperPod",
    check=check,
)
