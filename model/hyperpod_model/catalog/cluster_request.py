"""The fields of a ``CreateCluster`` request: types, required members, patterns, lengths, ranges, values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from hyperpod_model.catalog._tables import table

REPORTED_ONLY = frozenset(
    {
        "ActiveOperations",
        "ActiveSoftwareUpdateConfig",
        "ClusterArn",
        "ClusterStatus",
        "CreationTime",
        "CurrentCount",
        "CurrentImageId",
        "CurrentImageReleaseVersion",
        "DesiredImageId",
        "DesiredImageReleaseVersion",
        "FailureMessage",
        "ImageVersionStatus",
        "InstanceTypeDetails",
        "MinCount",
        "SoftwareUpdateStatus",
        "Status",
        "TargetCount",
        "TargetStateCount",
        "TrainingPlanStatus",
    }
)
"""What ``DescribeCluster`` says of a cluster and its groups, and no request can ask for.

Source: botocore 1.44.8, SageMaker, ``DescribeClusterResponse`` and ``ClusterInstanceGroupDetails``.
"""


class RequestField(NamedTuple):
    """What the service's model says about one field, and where CloudFormation says something narrower.

    Attributes:
        type: ``structure``, ``list``, ``map``, ``string``, ``integer``, ``float`` or ``boolean``.
        min: Least value of a number, least length of a string or list.
        max: Greatest value of a number, greatest length of a string or list.
        pattern: Regular expression that the whole string must match. Those of tags hold Unicode classes,
            which the standard library cannot read.
        cloudformation_pattern: The narrower pattern of ``AWS::SageMaker::Cluster``, where it has one.
        in_words: The pattern, said to a person.
        enum: Legal values; empty where any value goes.
        cloudformation_enum: The values that ``AWS::SageMaker::Cluster`` knows, where these are fewer.
        is_instance_type: The value is one of ``hyperpod_model.catalog.instances.instance_types()``.
        members: Members of a structure by name.
        required: Names of the members that must be present.
        item: Field of each item of a list, or of each value of a map.
        key: Field of each key of a map.
        api_only: ``AWS::SageMaker::Cluster`` lacks the field.
    """

    type: str
    min: int | None = None
    max: int | None = None
    pattern: str | None = None
    cloudformation_pattern: str | None = None
    in_words: str | None = None
    enum: tuple[str, ...] = ()
    cloudformation_enum: tuple[str, ...] = ()
    is_instance_type: bool = False
    members: Mapping[str, RequestField] = {}
    required: tuple[str, ...] = ()
    item: RequestField | None = None
    key: RequestField | None = None
    api_only: bool = False

    def at(self, *names: str) -> RequestField:
        """Return the field below, stepping into the items of lists without naming them.

        Args:
            *names: Member names, outermost first, such as ``"InstanceGroups", "InstanceCount"``.

        Raises:
            LookupError: If there is no such field.
        """
        field = self
        for name in names:
            while field.item is not None:
                field = field.item
            if name not in field.members:
                raise LookupError(
                    f"no field {name!r} in a CreateCluster request; fields: {', '.join(field.members)}"
                )
            field = field.members[name]
        return field


def _field(raw: Mapping[str, Any]) -> RequestField:
    item = raw.get("item", raw.get("value"))
    return RequestField(
        type=raw["type"],
        min=raw.get("min"),
        max=raw.get("max"),
        pattern=raw.get("pattern"),
        cloudformation_pattern=raw.get("cloudformation_pattern"),
        in_words=raw.get("in_words"),
        enum=tuple(raw.get("enum", ())),
        cloudformation_enum=tuple(raw.get("cloudformation_enum", ())),
        is_instance_type=raw.get("values") == "instance_types",
        members={name: _field(member) for name, member in raw.get("members", {}).items()},
        required=tuple(raw.get("required", ())),
        item=None if item is None else _field(item),
        key=_field(raw["key"]) if "key" in raw else None,
        api_only=raw.get("api_only", False),
    )


@cache
def cluster_request() -> RequestField:
    """Return the whole ``CreateCluster`` request."""
    return _field(table("cluster_request")["request"])


@cache
def instance_group() -> RequestField:
    """Return one item of ``InstanceGroups``."""
    group = cluster_request().at("InstanceGroups").item
    if group is None:
        raise LookupError("InstanceGroups of a CreateCluster request has no items")
    return group


def source() -> str:
    """Return where the table was read."""
    return str(table("cluster_request")["source"])


def checked_on() -> str:
    """Return the date on which the table was read, as ``YYYY-MM-DD``."""
    return str(table("cluster_request")["checked_on"])
