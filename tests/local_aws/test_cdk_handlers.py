"""Custom resources of the CDK, doubled by effect: all they do, they do as their handler's role."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from botocore.exceptions import ClientError
from identities import a_role, allow, deny, document
from local_resources import create, delete, update

from aws_double.resource import Resource
from aws_double.session import Session

CODE = {"ZipFile": "def handler(event, context): pass\n"}


class Site:
    """A bucket with zipped files, one for them to go to, and a handler."""

    def __init__(self, root: Session, *statements: dict[str, Any]) -> None:
        self.root = root
        self.s3 = root.client("s3")
        self.assets = create(root, "AWS::S3::Bucket", "Assets").physical_id
        self.target = create(root, "AWS::S3::Bucket", "Target").physical_id
        self.role = a_role(root, *statements)
        self.token = create(
            root,
            "AWS::Lambda::Function",
            Code=CODE,
            Handler="index.handler",
            Role=self.role.attributes["Arn"],
            Runtime="python3.14",
        ).attributes["Arn"]

    def asset(self, key: str, files: dict[str, str]) -> str:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        self.s3.put_object(Bucket=self.assets, Key=key, Body=packed.getvalue())
        return key

    def properties(self, *keys: str, **more: Any) -> dict[str, Any]:
        return {
            "ServiceToken": self.token,
            "SourceBucketNames": [self.assets for _ in keys],
            "SourceObjectKeys": list(keys),
            "DestinationBucketName": self.target,
            **more,
        }

    def deploy(self, *keys: str, **more: Any) -> Resource:
        return create(self.root, "Custom::CDKBucketDeployment", **self.properties(*keys, **more))

    def found(self) -> dict[str, str]:
        listed = self.s3.list_objects_v2(Bucket=self.target).get("Contents", [])
        return {
            item["Key"]: self.s3.get_object(Bucket=self.target, Key=item["Key"])["Body"].read().decode()
            for item in listed
        }


@pytest.fixture
def site(root: Session) -> Site:
    return Site(root, allow("s3:*"))


def test_files_come_with_their_markers_replaced(site: Site) -> None:
    one = site.asset("one.zip", {"main.sh": "cluster <<name>>", "steps/a.sh": "a"})
    other = site.asset("other.zip", {"parameters.json": '{"name": "<<name>>"}'})
    made = site.deploy(
        one,
        other,
        DestinationBucketKeyPrefix="scripts/abc",
        SourceMarkers=[{}, {"<<name>>": 'the "big" one'}],
        SourceMarkersConfig=[{}, {"jsonEscape": "true"}],
    )
    assert site.found() == {
        "scripts/abc/main.sh": "cluster <<name>>",
        "scripts/abc/steps/a.sh": "a",
        "scripts/abc/parameters.json": json.dumps({"name": 'the "big" one'}),
    }
    assert made.physical_id.startswith("aws.cdk.s3deployment.")
    assert made.attributes["SourceObjectKeys"] == ["one.zip", "other.zip"]
    assert site.deploy(one, OutputObjectKeys="false").attributes["SourceObjectKeys"] == []


@pytest.mark.parametrize(
    ("prune", "retain", "left"),
    [
        ("true", "true", ["new/b", "old/a", "stays"]),
        ("false", "true", ["new/b", "new/x", "old/a", "stays"]),
        ("true", "false", ["new/b", "stays"]),
    ],
)
def test_update_to_another_prefix(site: Site, prune: str, retain: str, left: list[str]) -> None:
    first, second = site.asset("1.zip", {"a": "1"}), site.asset("2.zip", {"b": "2"})
    for key in ("stays", "new/x"):
        site.s3.put_object(Bucket=site.target, Key=key, Body=b"")
    more = {"Prune": prune, "RetainOnDelete": retain}
    made = site.deploy(first, DestinationBucketKeyPrefix="old", **more)
    made = update(site.root, made, **site.properties(second, DestinationBucketKeyPrefix="new", **more))
    assert list(site.found()) == left
    delete(site.root, made)
    assert "new/b" in site.found() or retain == "false"


@pytest.mark.parametrize("tagged", [True, False])
def test_removal_spares_what_another_deployment_owns(site: Site, tagged: bool) -> None:
    if tagged:
        tags = {"TagSet": [{"Key": "aws-cdk:cr-owned:p:0a1b2c3d", "Value": "true"}]}
        site.s3.put_bucket_tagging(Bucket=site.target, Tagging=tags)
    made = site.deploy(
        site.asset("1.zip", {"a": "1"}), DestinationBucketKeyPrefix="p", RetainOnDelete="false"
    )
    delete(site.root, made)
    assert (site.found() == {"p/a": "1"}) is tagged


@pytest.mark.parametrize("without", ["s3:GetObject", "s3:PutObject", "s3:ListBucket"])
def test_role_without_a_permission_fails(root: Session, without: str) -> None:
    needed = {"s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:GetBucketTagging"}
    site = Site(root, allow(*sorted(needed - {without})))
    key = site.asset("1.zip", {"a": "1"})
    with pytest.raises(ClientError, match=f"AccessDenied.*{without}"):
        site.deploy(key)


def test_lock_that_does_not_list_the_role_fails(site: Site) -> None:
    key = site.asset("1.zip", {"a": "1"})
    arns = [f"arn:aws:s3:::{site.target}/*"]

    def locked_to(arn: str) -> None:
        condition = {"ArnNotEquals": {"aws:PrincipalArn": arn}}
        statement = deny("s3:PutObject", resource=arns, Principal="*", Condition=condition)
        site.s3.put_bucket_policy(Bucket=site.target, Policy=json.dumps(document(statement)))

    locked_to("arn:aws:iam::111122223333:role/somebody-else")
    with pytest.raises(ClientError, match="explicit deny in a resource-based policy"):
        site.deploy(key)
    locked_to(site.role.attributes["Arn"])
    site.deploy(key)
    assert site.found() == {"a": "1"}


def test_json_is_read(site: Site) -> None:
    value = {"a:sub": "system:serviceaccount:kubeflow:trainer"}
    made = create(site.root, "Custom::AWSCDKCfnJson", ServiceToken=site.token, Value=json.dumps(value))
    assert made.attributes == {"Value": value}
    made = update(site.root, made, ServiceToken=site.token, Value="{}")
    assert made.attributes == {"Value": {}}
    with pytest.raises(ClientError, match="ResourceNotFound"):
        create(site.root, "Custom::AWSCDKCfnJson", ServiceToken=f"{site.token}-x", Value="{}")


@pytest.mark.parametrize("tagged", [True, False])
def test_bucket_is_emptied_if_it_is_meant_to_be(site: Site, tagged: bool) -> None:
    site.s3.put_bucket_versioning(Bucket=site.target, VersioningConfiguration={"Status": "Enabled"})
    tags = {"TagSet": [{"Key": "aws-cdk:auto-delete-objects", "Value": "true" if tagged else "no"}]}
    site.s3.put_bucket_tagging(Bucket=site.target, Tagging=tags)
    site.s3.put_object(Bucket=site.target, Key="a", Body=b"1")
    site.s3.delete_object(Bucket=site.target, Key="a")
    made = create(site.root, "Custom::S3AutoDeleteObjects", ServiceToken=site.token, BucketName=site.target)
    delete(site.root, made)
    versions = site.s3.list_object_versions(Bucket=site.target)
    assert ("Versions" in versions) is not tagged
    assert ("DeleteMarkers" in versions) is not tagged
