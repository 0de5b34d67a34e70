"""ARNs of a specification: of the right kind, partition, region and account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog import names
from hyperpod_model.catalog.regions import regions
from hyperpod_model.faults import Fault, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_PARTITION, _REGION, _ACCOUNT = 1, 3, 4
_JUDGED_IN_THE_REQUEST = ("execution_role_arn", "role_arn")
_KEY_FIELDS = ("root_volume_kms_key_arn", "secondary_volume_kms_key_arn")


def check_arns(spec: ClusterSpec) -> list[Fault]:
    """Check the ARNs of roles, keys and topics, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    faults: list[Fault] = []
    roles = [*_listed_roles(spec), *_single_roles(spec), *_execution_roles(spec)]
    for path, arn in roles:
        if names.ROLE_ARN.matches(arn):
            faults += _check_partition(spec, path, arn)
        elif path[-1] not in _JUDGED_IN_THE_REQUEST:
            faults.append(Fault(path, f"must be {names.ROLE_ARN.in_words}, got {arn!r}"))
    for path, arn in _keys(spec):
        if names.KMS_KEY_ARN.matches(arn):
            faults += _check_region(spec, path, arn)
        else:
            faults.append(
                Fault(
                    path,
                    f"must be {names.KMS_KEY_ARN.in_words}, got {arn!r}; `aws kms describe-key` says it",
                )
            )
    for path, arn in _topics(spec):
        if names.TOPIC_ARN.matches(arn):
            faults += _check_topic_region(spec, path, arn)
        else:
            faults.append(Fault(path, f"must be {names.TOPIC_ARN.in_words}, got {arn!r}"))
    return faults + _check_accounts(_execution_roles(spec))


def _topics(spec: ClusterSpec) -> Iterator[tuple[FaultPath, str]]:
    said = spec.observability
    if said is not None and known(said) and said.topic_arn is not None and known(said.topic_arn):
        yield ("observability", "topic_arn"), said.topic_arn


def _listed_roles(spec: ClusterSpec) -> Iterator[tuple[FaultPath, str]]:
    lists: dict[FaultPath, Any] = {("administrator_role_arns",): spec.administrator_role_arns}
    bucket = spec.checkpoint_bucket
    if bucket is not None and known(bucket):
        lists["checkpoint_bucket", "reader_role_arns"] = bucket.reader_role_arns
    key = spec.checkpoint_signing_key
    if key is not None and known(key):
        lists["checkpoint_signing_key", "verifier_role_arns"] = key.verifier_role_arns
    if known(spec.eks):
        lists["eks", "administrator_role_arns"] = spec.eks.administrator_role_arns
    for path, arns in lists.items():
        if known(arns):
            yield from (((*path, index), arn) for index, arn in enumerate(arns) if known(arn))


def _single_roles(spec: ClusterSpec) -> Iterator[tuple[FaultPath, str]]:
    found: dict[FaultPath, Any] = {}
    if known(spec.eks):
        found["eks", "kubectl_role_arn"] = spec.eks.kubectl_role_arn
    if spec.auto_scaling is not None and known(spec.auto_scaling):
        found["auto_scaling", "role_arn"] = spec.auto_scaling.role_arn
    yield from ((path, arn) for path, arn in found.items() if arn is not None and known(arn))


def _of_groups(spec: ClusterSpec, fields: tuple[str, ...]) -> list[tuple[FaultPath, str]]:
    kinds: dict[str, Any] = {
        "instance_groups": spec.instance_groups,
        "restricted_instance_groups": spec.restricted_instance_groups,
    }
    return [
        ((kind, index, field), arn)
        for kind, groups in kinds.items()
        if known(groups)
        for index, group in enumerate(groups)
        if known(group)
        for field in fields
        if (arn := getattr(group, field, None)) is not None and known(arn)
    ]


def _execution_roles(spec: ClusterSpec) -> list[tuple[FaultPath, str]]:
    return _of_groups(spec, ("execution_role_arn",))


def _keys(spec: ClusterSpec) -> list[tuple[FaultPath, str]]:
    return _of_groups(spec, _KEY_FIELDS)


def _check_partition(spec: ClusterSpec, path: FaultPath, arn: str) -> list[Fault]:
    region = regions().get(spec.region) if isinstance(spec.region, str) else None
    partition = arn.split(":")[_PARTITION]
    if region is None or partition == region.partition:
        return []
    return [
        Fault(
            path,
            f"must be of partition {region.partition!r}, as {region.name} is, got {partition!r}; "
            "partitions share no roles",
        )
    ]


def _check_region(spec: ClusterSpec, path: FaultPath, arn: str) -> list[Fault]:
    region = arn.split(":")[_REGION]
    if not isinstance(spec.region, str) or region == spec.region:
        return []
    return [
        Fault(
            path,
            f"is of region {region!r}, the cluster is in {spec.region!r}; use a key of the same region, or "
            "the replica there of a multi-Region key",
        )
    ]


def _check_topic_region(spec: ClusterSpec, path: FaultPath, arn: str) -> list[Fault]:
    region = arn.split(":")[_REGION]
    if not isinstance(spec.region, str) or region == spec.region:
        return []
    return [
        Fault(
            path,
            f"is of region {region!r}, the cluster is in {spec.region!r}; rules and alarms publish in their "
            "own region only",
        )
    ]


def _check_accounts(roles: list[tuple[FaultPath, str]]) -> list[Fault]:
    legal = [(path, arn) for path, arn in roles if names.ROLE_ARN.matches(arn)]
    if not legal:
        return []
    (kind, group, _), first = legal[0]
    account = first.split(":")[_ACCOUNT]
    return [
        Fault(
            path,
            f"is of account {other}, that of {kind}[{group}] of account {account}; a cluster's "
            "execution roles are of the cluster's own account",
        )
        for path, arn in legal
        if (other := arn.split(":")[_ACCOUNT]) != account
    ]
