"""File systems: made where the network lets their servers reach each other, described, changed, deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.ec2.models import ec2_backends

from aws_double import ACCOUNT, usage
from aws_double.network_view import ALL_TRAFFIC, NetworkView, Place, Wanted
from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request, page
from aws_double.services.fsx.api import API, FileSystem, new_id, region_of
from aws_double.services.fsx.backups import back_up
from aws_double.services.fsx.description import CONFIGURATIONS, describe
from hyperpod_model.catalog.ports import LUSTRE


@API.operation("CreateFileSystem")
def create_file_system(request: Request) -> dict[str, Any]:
    return {"FileSystem": describe(create(request, request.asked))}


@API.operation("CreateFileSystemFromBackup")
def create_file_system_from_backup(request: Request) -> dict[str, Any]:
    asked = dict(request.asked)
    backup = region_of(request).backups.get(asked.pop("BackupId"))
    if backup is None:
        raise ApiError("BackupNotFound", f"Backup '{request.asked['BackupId']}' does not exist.")
    before = {key: value for key, value in backup.asked.items() if key not in ("Tags", "SecurityGroupIds")}
    changed = {
        key: {**before[key], **value} if key in CONFIGURATIONS and key in before else value
        for key, value in asked.items()
    }
    return {"FileSystem": describe(create(request, {**before, **changed}))}


@API.operation("DescribeFileSystems")
def describe_file_systems(request: Request) -> dict[str, Any]:
    state = region_of(request)
    if "FileSystemIds" in request.asked:
        found = [state.file_system(one) for one in request.asked["FileSystemIds"]]
    else:
        found = [one for one in state.file_systems.values() if one.lifecycle != "GONE"]
    shown, more = page(
        [describe(one) for one in found], request.asked, size=100, limit="MaxResults", token="NextToken"
    )
    return {"FileSystems": shown, **more}


@API.operation("UpdateFileSystem")
def update_file_system(request: Request) -> dict[str, Any]:
    asked = {key: value for key, value in request.asked.items() if key != "ClientRequestToken"}
    found = region_of(request).available(asked.pop("FileSystemId"))
    for key, value in asked.items():
        found.asked[key] = {**found.asked.get(key, {}), **value} if key in CONFIGURATIONS else value
    return {"FileSystem": describe(found)}


@API.operation("DeleteFileSystem")
def delete_file_system(request: Request) -> dict[str, Any]:
    state = region_of(request)
    found = state.file_system(request.asked["FileSystemId"])
    answer: dict[str, Any] = {"FileSystemId": found.id, "Lifecycle": "DELETING"}
    if found.deletion is not None:
        return answer
    wanted = request.asked.get("LustreConfiguration", {})
    if not wanted.get("SkipFinalBackup", True):
        last = back_up(state, found, tags=wanted.get("FinalBackupTags", []), token=None)
        answer["LustreResponse"] = {"FinalBackupId": last.id, "FinalBackupTags": last.tags}
    found.deletion = Progress("DELETING", "GONE")
    for association in state.linked(found.id):
        del state.associations[association.id]
    for interface in found.interfaces:
        ec2_backends[ACCOUNT][request.region].delete_network_interface(interface)
    usage.release(found.arn)
    return answer


def create(request: Request, asked: Mapping[str, Any]) -> FileSystem:
    """Make a file system.

    Raises:
        ApiError: If its subnets or groups are absent, or its groups keep its own servers from each other.
    """
    network = NetworkView(request.region)
    place = Place(tuple(asked["SubnetIds"]), tuple(asked.get("SecurityGroupIds", ())))
    absent = network.absent(place)
    if absent:
        raise ApiError("InvalidNetworkSettings", f"These do not exist: {', '.join(absent)}.")
    vpcs = network.vpcs(place)
    if len(vpcs) != 1:
        raise ApiError(
            "InvalidNetworkSettings", f"Subnets and groups are of several VPCs: {', '.join(sorted(vpcs))}."
        )
    (vpc_id,) = vpcs
    if not place.groups:
        place = Place(place.subnets, (network.default_group(vpc_id),))
    if asked["FileSystemType"] == "LUSTRE":
        _check_servers_reach_each_other(network, place, asked.get("LustreConfiguration", {}))
    kept = {
        key: dict(value) if key in CONFIGURATIONS else value
        for key, value in asked.items()
        if key != "ClientRequestToken"
    }
    made = FileSystem(
        id=new_id("fs"),
        region=request.region,
        asked=kept,
        vpc_id=vpc_id,
        place=place,
        interfaces=[],
    )
    for subnet in place.subnets:
        made.interfaces.append(
            network.interface(subnet, place.groups, f"Created by Amazon FSx for {made.id}")
        )
    region_of(request).file_systems[made.id] = made
    usage.hold(made.arn, [*place.subnets, *place.groups])
    return made


def _check_servers_reach_each_other(network: NetworkView, place: Place, lustre: Mapping[str, Any]) -> None:
    wanted: Sequence[Wanted] = (ALL_TRAFFIC,) if lustre.get("EfaEnabled") else LUSTRE
    blocked = network.blocked(place, place, wanted)
    if blocked:
        raise ApiError(
            "InvalidNetworkSettings",
            "The file system cannot be created because the security groups do not permit Lustre LNET network "
            f"traffic: {'; '.join(blocked)}.",
        )
