"""Whether the account's service quotas hold the cluster beside those that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import ClusterThere, Situation
from hyperpod_lifecycle.preflight.wanted import WantedGroup
from hyperpod_model.catalog.limits import (
    EBS_VOLUME_GB_QUOTA_NAME,
    INSTANCES_OF_A_CLUSTER_QUOTA_NAME,
    INSTANCES_OF_AN_ACCOUNT_QUOTA_NAME,
    instance_type_quota_name,
)
from hyperpod_model.catalog.preflight import CLUSTERS_QUOTA_SERVICE, RESERVED_CAPACITY_COUNTS

ABOUT = About("quota")


class Need(NamedTuple):
    """How much of a quota is asked for.

    Attributes:
        certain: What surely counts.
        doubtful: What may count: capacity of training plans, and spare capacity.
    """

    certain: int
    doubtful: int = 0

    @property
    def all(self) -> int:
        """Everything that may count."""
        return self.certain + self.doubtful


class Quota(NamedTuple):
    """A service quota.

    Attributes:
        code: Such as ``L-1194F27D``.
        value: How much there may be.
    """

    code: str
    value: float


def check_quotas(situation: Situation) -> Iterator[Finding]:
    """Check the quotas of types, of instances in a cluster and in all, and of the size of volumes.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS does not tell the quotas.
    """
    quotas = quotas_of(situation, CLUSTERS_QUOTA_SERVICE)
    others: list[ClusterThere] | OperationError
    try:
        others = [there for there in situation.clusters() if there.name != situation.wanted.name]
    except OperationError as error:
        others = error
    groups = situation.wanted.groups
    for name in dict.fromkeys(name for group in groups for name in group.types):
        need = _need(group for group in groups if name in group.types)
        if need.all:
            quota = instance_type_quota_name(name)
            yield _judge(situation, quotas, quota, need, _used(others, instance_type=name))
    total = _need(groups)
    yield _judge(situation, quotas, INSTANCES_OF_A_CLUSTER_QUOTA_NAME, total, Need(0))
    yield _judge(situation, quotas, INSTANCES_OF_AN_ACCOUNT_QUOTA_NAME, total, _used(others))
    volume = max((group.volume_gib or 0 for group in groups), default=0)
    if volume:
        yield _judge(situation, quotas, EBS_VOLUME_GB_QUOTA_NAME, Need(volume), Need(0))


def quotas_of(situation: Situation, service: str) -> dict[str, Quota]:
    """Quotas of a service by name and by code: those applied to the account, the defaults of all others.

    Args:
        situation: The wanted cluster.
        service: Code of the service, such as ``sagemaker``.

    Raises:
        OperationError: If AWS refuses.
    """
    defaults = situation.reads.all("service-quotas", "ListAWSDefaultServiceQuotas", ServiceCode=service)
    applied = situation.reads.all("service-quotas", "ListServiceQuotas", ServiceCode=service)
    found: dict[str, Quota] = {}
    for row in [*defaults, *applied]:
        if "Value" in row:
            quota = Quota(row["QuotaCode"], row["Value"])
            found[_key(row["QuotaName"])] = quota
            found[_key(row["QuotaCode"])] = quota
    return found


def quota_remedy(quota: Quota, *, needed: int, service: str, region: str) -> str:
    """How to ask for more.

    Args:
        quota: The quota.
        needed: What it must be.
        service: Code of its service.
        region: Region.
    """
    return (
        f"ask for {needed}: aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {quota.code} --desired-value {needed} --region {region}"
    )


def _judge(
    situation: Situation,
    quotas: Mapping[str, Quota],
    name: str,
    need: Need,
    used: Need | OperationError,
) -> Finding:
    quota = quotas.get(_key(name))
    if quota is None:
        return ABOUT.cannot_tell(name, f"Service Quotas lists none of this name in {situation.wanted.region}")
    remedy = _remedy(situation, quota, need, used)
    if isinstance(used, OperationError):
        if need.certain > quota.value:
            return ABOUT.problem(name, f"it is {quota.value:g}, and {need.all} are needed", remedy=remedy)
        return ABOUT.cannot_tell(
            name, f"it is {quota.value:g} and {need.all} are needed, but what others use is unknown: {used}"
        )
    said = f"it is {quota.value:g}, {need.all} needed"
    if used.all:
        said += f" and {used.all} used by other clusters"
    if used.certain + need.certain > quota.value:
        return ABOUT.problem(name, said, remedy=remedy)
    if used.all + need.all > quota.value:
        reserved = used.doubtful + need.doubtful
        return ABOUT.cannot_tell(
            name, f"{said}, {reserved} of them reserved or spare: {RESERVED_CAPACITY_COUNTS.doubt}"
        )
    return ABOUT.ok(name, said)


def _remedy(situation: Situation, quota: Quota, need: Need, used: Need | OperationError) -> str:
    needed = need.all + (0 if isinstance(used, OperationError) else used.all)
    return quota_remedy(quota, needed=needed, service=CLUSTERS_QUOTA_SERVICE, region=situation.wanted.region)


def _need(groups: Iterable[WantedGroup]) -> Need:
    certain = doubtful = 0
    for group in groups:
        if group.is_spot or group.training_plan_arn is not None:
            doubtful += group.count
        else:
            certain += group.count
    return Need(certain, doubtful)


def _used(
    others: list[ClusterThere] | OperationError, *, instance_type: str | None = None
) -> Need | OperationError:
    if isinstance(others, OperationError):
        return others
    nodes = [
        each
        for there in others
        for each in there.nodes
        if instance_type is None or each.instance_type == instance_type
    ]
    return Need(
        sum(each.count for each in nodes if not each.is_reserved),
        sum(each.count for each in nodes if each.is_reserved),
    )


def _key(name: Any) -> str:
    return " ".join(str(name).lower().split())
