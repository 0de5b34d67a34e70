"""Whether existing subnets are there, belong together and have an address for everything that takes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import ClusterThere, Situation
from hyperpod_lifecycle.preflight.wanted import WantedGroup
from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.checks.addresses import addresses_with_efa_only, file_system_addresses, node_addresses

ABOUT = About("subnet")


def check_subnets(situation: Situation) -> Iterator[Finding]:
    """Check the existing subnets that the specification names.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    wanted = situation.wanted
    if not wanted.subnet_ids:
        yield ABOUT.not_applicable("the network is made, and its size is checked at synthesis")
        return
    there = situation.subnets()
    for id in wanted.subnet_ids:
        yield from _existence(situation, id, there.get(id))
    vpcs = sorted({str(row["VpcId"]) for row in there.values()})
    if len(vpcs) > 1:
        yield ABOUT.problem(
            ", ".join(there), f"they are of {len(vpcs)} VPCs: {', '.join(vpcs)}", remedy="keep to one VPC"
        )
    sets: dict[tuple[str, ...], list[WantedGroup]] = {}
    for group in wanted.groups:
        if group.subnet_ids is not None:
            sets.setdefault(group.subnet_ids, []).append(group)
    same = situation.same_cluster()
    for ids, groups in sets.items():
        rows = [there[id] for id in ids if id in there]
        if rows:
            yield from _addresses(situation, rows, groups, same)


def _existence(situation: Situation, id: str, row: Mapping[str, Any] | None) -> Iterator[Finding]:
    vpc = situation.wanted.spec.network.vpc_id
    if row is None:
        yield ABOUT.problem(
            id,
            f"there is no such subnet in {situation.wanted.region} for account {situation.account}",
            remedy=f"name one of 'aws ec2 describe-subnets --region {situation.wanted.region}'",
        )
    elif row["State"] != "available":
        yield ABOUT.problem(id, f"it is {row['State']}", remedy="wait until it is available, or name another")
    elif vpc is not None and row["VpcId"] != vpc:
        yield ABOUT.problem(
            id, f"it is of {row['VpcId']}, and network.vpc_id is {vpc}", remedy="name a subnet of that VPC"
        )


def _addresses(
    situation: Situation,
    rows: Sequence[Mapping[str, Any]],
    groups: Sequence[WantedGroup],
    same: ClusterThere | None,
) -> Iterator[Finding]:
    subject = ", ".join(str(row["SubnetId"]) for row in rows)
    unknown = [group.name for group in groups if not group.known_types]
    needed, estimated = 0, False
    words = []
    for group in groups:
        if not group.known_types:
            continue
        each, is_estimate = _each(situation, group)
        more = max(0, group.count - (0 if same is None else same.count_of(group.name)))
        needed += more * each
        estimated = estimated or (is_estimate and more > 0)
        words.append(f"{group.name} {more} x {'~' if is_estimate else ''}{each}")
    files = _file_system(situation, rows, same)
    if files:
        words.append(f"file system ~{files}")
        needed, estimated = needed + files, True
    free: dict[str, int] = {}
    for row in rows:
        zone = str(row["AvailabilityZoneId"])
        free[zone] = free.get(zone, 0) + int(row["AvailableIpAddressCount"])
    most = max(free.values())
    zones = ", ".join(f"{count} free addresses in {zone}" for zone, count in free.items())
    said = f"{zones}, {needed} needed ({', '.join(words)}{'; ~ is an estimate' if estimated else ''})"
    if needed > most:
        yield ABOUT.problem(
            subject,
            said,
            remedy="free addresses, name a larger subnet, or set network_interface_type: efa-only",
        )
    elif unknown:
        yield ABOUT.cannot_tell(subject, f"{said}, but the catalog has no type of {', '.join(unknown)}")
    elif needed > min(free.values()):
        yield ABOUT.cannot_tell(
            subject,
            f"{said}: not every zone has enough, and HyperPod takes one of them; name those of one",
        )
    else:
        yield ABOUT.ok(subject, said)


def _each(situation: Situation, group: WantedGroup) -> tuple[int, bool]:
    """Addresses of one node of the hungriest type, and whether that is an estimate."""
    orchestrator = situation.wanted.orchestrator
    hungriest = max(group.known_types, key=lambda found: node_addresses(found, orchestrator))
    fewer = addresses_with_efa_only([(hungriest.name, group.interface_type)], orchestrator)
    if hungriest.name in fewer:
        return fewer[hungriest.name], not hungriest.max_pods.certain
    return node_addresses(hungriest, orchestrator), not _is_certain(hungriest, orchestrator)


def _is_certain(found: InstanceType, orchestrator: str) -> bool:
    return (found.eks_addresses if orchestrator == "eks" else found.slurm_addresses).certain


def _file_system(situation: Situation, rows: Sequence[Mapping[str, Any]], same: ClusterThere | None) -> int:
    """Addresses of the file system, which is made in the first subnet together with the cluster."""
    spec = situation.wanted.spec
    shared = spec.network.subnet_ids
    if spec.file_system is None or same is not None or not shared:
        return 0
    if shared[0] not in {row["SubnetId"] for row in rows}:
        return 0
    return file_system_addresses(spec.file_system.storage_capacity_gib)
