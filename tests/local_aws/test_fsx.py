"""FSx in the double: file systems, backups and links to buckets, by the API and by CloudFormation."""

from __future__ import annotations

import time
from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, update
from told import assert_gone, assert_told
from training_parts import LUSTRE_PORTS, Parts

from aws_double import usage
from aws_double.progress import BACKUP_SECONDS, CREATION_SECONDS
from aws_double.resource import TYPES
from aws_double.session import InvalidRequestError, Session

KIND = "AWS::FSx::FileSystem"
LINK = "AWS::FSx::DataRepositoryAssociation"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0")


@pytest.fixture
def parts(root: Session) -> Parts:
    return Parts(root)


@pytest.fixture
def fsx(root: Session) -> Any:
    return root.client("fsx")


def lustre(parts: Parts, group: str, **changes: Any) -> dict[str, Any]:
    return {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 4800,
        "StorageType": "SSD",
        "SubnetIds": [parts.subnet],
        "SecurityGroupIds": [group],
        "KmsKeyId": "arn:aws:kms:us-west-2:111122223333:key/11111111-2222-3333-4444-555555555555",
        "LustreConfiguration": {
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 250,
            "DataCompressionType": "LZ4",
            "AutomaticBackupRetentionDays": 7,
            "CopyTagsToBackups": True,
        },
        "Tags": [{"Key": "Name", "Value": "fsx"}],
        **changes,
    }


def test_it_is_available_when_it_is_made_and_told_as_it_was_asked_for(
    root: Session, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0.1")
    made = create(root, KIND, **lustre(parts, parts.lustre_group()))
    (found,) = root.client("fsx").describe_file_systems(FileSystemIds=[made.physical_id])["FileSystems"]
    assert found["Lifecycle"] == "AVAILABLE"
    assert made.attributes["LustreMountName"] == found["LustreConfiguration"]["MountName"] != "fsx"
    assert made.attributes["DNSName"] == f"{made.physical_id}.fsx.us-west-2.amazonaws.com"
    assert_told(root, made)
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


def test_all_that_efa_needs_is_told(root: Session, parts: Parts) -> None:
    group = parts.open_to_itself(parts.group())
    log = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/fsx/one"
    configuration = {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
        "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000},
        "LogConfiguration": {"Level": "WARN_ERROR", "Destination": log},
    }
    made = create(
        root, KIND, **lustre(parts, group, StorageCapacity=38400, LustreConfiguration=configuration)
    )
    assert_told(root, made)


@pytest.mark.parametrize("missing", range(4))
def test_its_servers_have_to_reach_each_other(parts: Parts, fsx: Any, missing: int) -> None:
    group = parts.group()
    rules = [(direction, ports) for direction in ("Ingress", "Egress") for ports in LUSTRE_PORTS]
    direction, (first, last) = rules.pop(missing)
    for rule in rules:
        parts.open(group, rule[0], group, rule[1])
    asked = lustre(parts, group)
    ports = f"{first}" if first == last else f"{first}-{last}"
    with pytest.raises(
        fsx.exceptions.InvalidNetworkSettings, match=f"no {direction.lower()} of tcp {ports} on"
    ):
        fsx.create_file_system(**asked)
    parts.open(group, direction, group, (first, last))
    assert fsx.create_file_system(**asked)


def test_a_range_of_the_whole_subnet_stands_in_for_the_group_and_a_part_of_it_does_not(
    root: Session, parts: Parts, fsx: Any
) -> None:
    ec2, group = root.client("ec2"), parts.group()

    def allow(range_: str) -> None:
        ports = [
            {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "IpRanges": [{"CidrIp": range_}]}
            for first, last in LUSTRE_PORTS
        ]
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=ports)
        ec2.authorize_security_group_egress(GroupId=group, IpPermissions=ports)

    allow("10.0.1.0/25")
    with pytest.raises(fsx.exceptions.InvalidNetworkSettings):
        fsx.create_file_system(**lustre(parts, group))
    allow("10.0.0.0/16")
    assert fsx.create_file_system(**lustre(parts, group))


def test_efa_needs_all_traffic_between_its_servers(parts: Parts, fsx: Any) -> None:
    asked = lustre(parts, parts.lustre_group())
    asked["LustreConfiguration"]["EfaEnabled"] = True
    with pytest.raises(fsx.exceptions.InvalidNetworkSettings, match="no egress of all traffic on"):
        fsx.create_file_system(**asked)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SubnetIds": ["subnet-0123456789abcdef0"]}, "subnet-0123456789abcdef0"),
        ({"SecurityGroupIds": ["sg-0123456789abcdef0"]}, "sg-0123456789abcdef0"),
    ],
)
def test_subnets_and_groups_have_to_exist(
    parts: Parts, fsx: Any, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(fsx.exceptions.InvalidNetworkSettings, match=f"do not exist: {message}"):
        fsx.create_file_system(**{**lustre(parts, parts.lustre_group()), **change})


def test_subnet_and_group_are_in_one_vpc(root: Session, parts: Parts, fsx: Any) -> None:
    with pytest.raises(fsx.exceptions.InvalidNetworkSettings, match="of several VPCs"):
        fsx.create_file_system(**lustre(parts, Parts(root).lustre_group()))


def test_it_holds_subnet_and_group_until_it_goes(root: Session, parts: Parts, fsx: Any) -> None:
    group = parts.lustre_group()
    made = create(root, KIND, **lustre(parts, group))
    arn = made.attributes["ResourceARN"]
    assert usage.holders(group) == usage.holders(parts.subnet) == [arn]
    delete(root, made)
    assert usage.holders(group) == usage.holders(parts.subnet) == []
    filters = [{"Name": "group-id", "Values": [group]}]
    assert root.client("ec2").describe_network_interfaces(Filters=filters)["NetworkInterfaces"] == []


def test_it_grows_and_changes_in_place(root: Session, parts: Parts) -> None:
    before = lustre(parts, parts.lustre_group())
    made = create(root, KIND, **before)
    configuration = {**before["LustreConfiguration"], "PerUnitStorageThroughput": 500}
    after = {
        **before,
        "StorageCapacity": 9600,
        "LustreConfiguration": configuration,
        "Tags": [{"Key": "team", "Value": "research"}],
    }
    made = update(root, made, **after)
    assert_told(root, made)
    with pytest.raises(InvalidRequestError, match="CopyTagsToBackups"):
        update(root, made, **{**after, "LustreConfiguration": {**configuration, "CopyTagsToBackups": False}})


@pytest.mark.parametrize(
    "change",
    [
        {"SubnetIds": ["subnet-1"]},
        {"SecurityGroupIds": ["sg-1"]},
        {"KmsKeyId": "other"},
        {"LustreConfiguration": {"DeploymentType": "SCRATCH_2"}},
        {"LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "EfaEnabled": True}},
    ],
)
def test_what_is_create_only_replaces_it(parts: Parts, change: dict[str, Any]) -> None:
    before = lustre(parts, "sg-2")
    assert TYPES[KIND].replaces(before, {**before, **change})


def test_a_backup_becomes_available_and_outlives_its_file_system(
    root: Session, parts: Parts, fsx: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BACKUP_SECONDS, "0.3")
    made = create(root, KIND, **lustre(parts, parts.lustre_group()))
    id = made.physical_id
    backup = fsx.create_backup(FileSystemId=id, ClientRequestToken="once")["Backup"]
    assert backup["Lifecycle"] == "CREATING"
    assert backup["Tags"] == [{"Key": "Name", "Value": "fsx"}]
    again = fsx.create_backup(FileSystemId=id, ClientRequestToken="once")["Backup"]
    assert again["BackupId"] == backup["BackupId"]
    with pytest.raises(fsx.exceptions.BackupInProgress):
        fsx.create_backup(FileSystemId=id, ClientRequestToken="twice")
    with pytest.raises(fsx.exceptions.BackupInProgress):
        fsx.delete_backup(BackupId=backup["BackupId"])
    time.sleep(0.35)
    delete(root, made)
    (left,) = fsx.describe_backups(Filters=[{"Name": "file-system-id", "Values": [id]}])["Backups"]
    assert (left["BackupId"], left["Lifecycle"]) == (backup["BackupId"], "AVAILABLE")
    assert left["FileSystem"]["FileSystemId"] == id
    assert fsx.delete_backup(BackupId=left["BackupId"])["Lifecycle"] == "DELETED"
    with pytest.raises(fsx.exceptions.BackupNotFound):
        fsx.describe_backups(BackupIds=[left["BackupId"]])


def test_a_file_system_is_restored_from_a_backup(root: Session, parts: Parts, fsx: Any) -> None:
    group = parts.lustre_group()
    first = create(root, KIND, **lustre(parts, group))
    backup = fsx.create_backup(FileSystemId=first.physical_id)["Backup"]["BackupId"]
    network = {"SubnetIds": [parts.subnet], "SecurityGroupIds": [group]}
    configuration = {"PerUnitStorageThroughput": 500}
    restored = create(
        root, KIND, BackupId=backup, FileSystemType="LUSTRE", LustreConfiguration=configuration, **network
    )
    (found,) = fsx.describe_file_systems(FileSystemIds=[restored.physical_id])["FileSystems"]
    assert found["StorageCapacity"] == 4800
    assert found["LustreConfiguration"]["DataCompressionType"] == "LZ4"
    assert found["LustreConfiguration"]["PerUnitStorageThroughput"] == 500


def test_scratch_has_no_backups(root: Session, parts: Parts, fsx: Any) -> None:
    asked = lustre(parts, parts.lustre_group(), LustreConfiguration={"DeploymentType": "SCRATCH_2"})
    made = create(root, KIND, **asked)
    with pytest.raises(fsx.exceptions.UnsupportedOperation, match="no backups of LUSTRE SCRATCH_2"):
        fsx.create_backup(FileSystemId=made.physical_id)


def test_there_is_no_other_file_system(fsx: Any) -> None:
    for call in (fsx.create_backup, fsx.delete_file_system, fsx.update_file_system):
        with pytest.raises(fsx.exceptions.FileSystemNotFound):
            call(FileSystemId="fs-0123456789abcdef0")


def test_a_file_system_that_is_not_ready_takes_no_backup(
    parts: Parts, fsx: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "60")
    id = parts.file_system(parts.lustre_group())["FileSystemId"]
    with pytest.raises(fsx.exceptions.BadRequest, match="is CREATING, not AVAILABLE"):
        fsx.create_backup(FileSystemId=id)


@pytest.fixture
def link(root: Session, parts: Parts) -> dict[str, Any]:
    made = create(root, KIND, **lustre(parts, parts.lustre_group()))
    return {
        "FileSystemId": made.physical_id,
        "FileSystemPath": "/data",
        "DataRepositoryPath": f"s3://{parts.bucket()}/data/",
        "BatchImportMetaDataOnCreate": True,
        "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}},
        "Tags": [{"Key": "team", "Value": "research"}],
    }


def test_a_link_comes_changes_and_goes(root: Session, link: dict[str, Any], fsx: Any) -> None:
    made = create(root, LINK, **link)
    assert_told(root, made)
    with pytest.raises(fsx.exceptions.UnsupportedOperation, match="is linked to a data repository"):
        fsx.create_backup(FileSystemId=link["FileSystemId"])
    made = update(root, made, **{**link, "S3": {"AutoExportPolicy": {"Events": ["NEW"]}}, "Tags": []})
    assert_told(root, update(root, made, **{**made.properties, "Tags": link["Tags"]}))
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"FileSystemPath": "/data/more", "DataRepositoryPath": "s3://x/y/"},
            "FileSystemPath /data/more overlaps",
        ),
        ({"FileSystemPath": "/other"}, "DataRepositoryPath .* overlaps"),
        ({"FileSystemPath": "/other", "DataRepositoryPath": "s3://nobody-has-this/"}, "does not exist"),
        ({"FileSystemId": "fs-0123456789abcdef0"}, "does not exist"),
    ],
)
def test_impossible_links_are_refused(
    root: Session, link: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    create(root, LINK, **link)
    with pytest.raises(ClientError, match=message):
        create(root, LINK, **{**link, **change})


def test_a_link_goes_with_its_file_system(root: Session, link: dict[str, Any], fsx: Any) -> None:
    made = create(root, LINK, **link)
    fsx.delete_file_system(FileSystemId=link["FileSystemId"])
    assert_gone(root, made)


def test_openzfs_is_told(root: Session, parts: Parts) -> None:
    asked = {
        "FileSystemType": "OPENZFS",
        "StorageCapacity": 64,
        "SubnetIds": [parts.subnet],
        "SecurityGroupIds": [parts.group()],
        "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64},
    }
    made = create(root, KIND, **asked)
    assert_told(root, made)
    assert made.attributes["RootVolumeId"].startswith("fsvol-")


def test_tags_come_and_go(parts: Parts, fsx: Any) -> None:
    found = parts.file_system(parts.lustre_group())
    arn = found["ResourceARN"]
    fsx.tag_resource(ResourceARN=arn, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    fsx.untag_resource(ResourceARN=arn, TagKeys=["a"])
    assert fsx.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "b", "Value": "2"}]
    with pytest.raises(fsx.exceptions.ResourceNotFound):
        fsx.list_tags_for_resource(ResourceARN=f"{arn[:-1]}1")


def test_values_that_the_service_does_not_know_are_refused(parts: Parts, fsx: Any) -> None:
    group = parts.lustre_group()
    with pytest.raises(ClientError, match="'PERSISTENT_9' is none of"):
        fsx.create_file_system(**lustre(parts, group, LustreConfiguration={"DeploymentType": "PERSISTENT_9"}))


def test_file_systems_are_listed_by_page(parts: Parts, fsx: Any) -> None:
    group = parts.lustre_group()
    made = {parts.file_system(group)["FileSystemId"] for _ in range(3)}
    pages = list(fsx.get_paginator("describe_file_systems").paginate(PaginationConfig={"PageSize": 2}))
    assert all(len(page["FileSystems"]) <= 2 for page in pages)
    assert made <= {one["FileSystemId"] for page in pages for one in page["FileSystems"]}
