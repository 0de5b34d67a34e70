"""Whether the account's service quotas hold the cluster beside those that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import ClusterThere, Situation
from hyperpod_lifecycle.preflight.wanted import WantedGroup
from hyperpod_model.catalog.limits import (
    EBS_VOLUME_GB_QUOTA_NAME,
    INSTANCES_OF_A_CLUSTER_QUOTA_NAME,
    INSTANCES_OF_AN_ACCOUNT_QUOTA_NAME,
    SPOT_INSTANCES_QUOTA_NAME,
    instance_type_quota_name,
    spot_instance_type_quota_name,
)
from hyperpod_model.catalog.preflight import CLUSTERS_QUOTA_SERVICE, RESERVED_CAPACITY_COUNTS

ABOUT = About("quota")


class Need(NamedTuple):
    """How much of a quota is asked for.

    Attributes:
        certain: What surely counts.
        doubtful: What may count: capacity of training plans, and spare capacity.
        flexible: What may be instances of another type of the same group.
    """

    certain: int
    doubtful: int = 0
    flexible: int = 0

    @property
    def all(self) -> int:
        """Everything that may count."""
        return self.certain + self.doubtful + self.flexible


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
    for is_spot in (False, True):
        yield from _check_types(
            situation,
            quotas,
            [group for group in groups if group.is_spot is is_spot],
            others,
            is_spot=is_spot,
        )
    total = _need(groups)
    yield _judge(situation, quotas, INSTANCES_OF_A_CLUSTER_QUOTA_NAME, total, Need(0))
    yield _judge(situation, quotas, INSTANCES_OF_AN_ACCOUNT_QUOTA_NAME, total, _used(others))
    spare = sum(group.count for group in groups if group.is_spot)
    if spare:
        used = _used(others, is_spot=True)
        yield _judge(situation, quotas, SPOT_INSTANCES_QUOTA_NAME, Need(spare), used)
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


def _check_types(
    situation: Situation,
    quotas: Mapping[str, Quota],
    groups: Sequence[WantedGroup],
    others: list[ClusterThere] | OperationError,
    *,
    is_spot: bool,
) -> Iterator[Finding]:
    """Check the quota of each type, of spare capacity or of all other."""
    name_of = spot_instance_type_quota_name if is_spot else instance_type_quota_name
    needs = {
        name: _need_of_type(name, groups)
        for name in dict.fromkeys(name for row in groups for name in row.types)
    }
    used = {name: _used(others, instance_type=name, is_spot=is_spot) for name in needs}
    for name, need in needs.items():
        if need.all:
            yield _judge(
                situation,
                quotas,
                name_of(name),
                need,
                used[name],
                absence=": perhaps HyperPod lacks the type",
            )
    for group in groups:
        if len(group.types) > 1 and group.training_plan_arn is None:
            rooms = [_room(quotas.get(_key(name_of(name))), needs[name], used[name]) for name in group.types]
            known = [room for room in rooms if room is not None]
            if len(known) == len(rooms) and sum(known) < group.count:
                first = quotas[_key(name_of(group.types[0]))]
                more = group.count - sum(known)
                yield ABOUT.problem(
                    f"{' or '.join(group.types)} for {group.name}",
                    f"the quotas of its types leave room for {sum(known)}, {group.count} needed",
                    remedy=quota_remedy(
                        first,
                        needed=int(first.value) + more,
                        service=CLUSTERS_QUOTA_SERVICE,
                        region=situation.wanted.region,
                    ),
                )


def _room(quota: Quota | None, need: Need, used: Need | OperationError) -> int | None:
    """How many instances of a flexible group a quota takes; None where nobody says it."""
    if quota is None or isinstance(used, OperationError):
        return None
    return max(0, int(quota.value) - used.certain - need.certain)


def _need_of_type(name: str, groups: Sequence[WantedGroup]) -> Need:
    """What the groups need of a type; all of them take spare capacity, or none does."""
    certain = doubtful = flexible = 0
    for group in groups:
        if name not in group.types:
            continue
        if group.training_plan_arn is not None:
            doubtful += group.count
        elif len(group.types) > 1:
            flexible += group.count
        else:
            certain += group.count
    return Need(certain, doubtful, flexible)


def _judge(
    situation: Situation,
    quotas: Mapping[str, Quota],
    name: str,
    need: Need,
    used: Need | OperationError,
    *,
    absence: str = "",
) -> Finding:
    quota = quotas.get(_key(name))
    if quota is None:
        return ABOUT.cannot_tell(
            name, f"Service Quotas lists none of this name in {situation.wanted.region}{absence}"
        )
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
        if need.flexible and used.all + need.certain + need.doubtful <= quota.value:
            return ABOUT.cannot_tell(
                name,
                f"{said}, {need.flexible} of them perhaps of other types of their group",
            )
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
    others: list[ClusterThere] | OperationError,
    *,
    instance_type: str | None = None,
    is_spot: bool | None = None,
) -> Need | OperationError:
    """What other clusters use: of one type or of all, of spare capacity, of all other, or of both."""
    if isinstance(others, OperationError):
        return others
    nodes = [
        each
        for there in others
        for each in there.nodes
        if (instance_type is None or each.instance_type == instance_type)
        and (is_spot is None or each.is_spot is is_spot)
    ]
    doubtful = sum(each.count for each in nodes if each.is_reserved and not (is_spot and each.is_spot))
    return Need(sum(each.count for each in nodes) - doubtful, doubtful)


def _key(name: Any) -> str:
    return " ".join(str(name).lower().split())
