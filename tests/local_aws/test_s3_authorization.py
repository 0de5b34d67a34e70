"""Who may do what with a bucket of the double, asked over HTTP as any client would."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

import pytest
from botocore.exceptions import ClientError
from identities import ADMINISTRATOR, ROOT_ARN, a_role, allow, as_role, deny, document
from local_resources import create
from s3_callers import anonymous, lets, upload_in_parts

from aws_double.services.authorization import allowed
from aws_double.session import Session
from aws_double.transport import send_plainly

EVERYTHING = allow("s3:*")


@dataclass(frozen=True)
class Place:
    """A bucket with one object, ``there``, and its policy."""

    root: Session
    bucket: str

    @property
    def arn(self) -> str:
        return f"arn:aws:s3:::{self.bucket}"

    @property
    def all(self) -> list[str]:
        return [self.arn, f"{self.arn}/*"]

    def govern(self, *statements: dict[str, Any]) -> None:
        self.root.client("s3").put_bucket_policy(Bucket=self.bucket, Policy=json.dumps(document(*statements)))

    def open_to_policies(self) -> None:
        self.root.client("s3").delete_public_access_block(Bucket=self.bucket)


@pytest.fixture
def place(root: Session) -> Iterator[Place]:
    bucket = create(root, "AWS::S3::Bucket", VersioningConfiguration={"Status": "Enabled"}).physical_id
    s3 = root.client("s3")
    s3.put_object(Bucket=bucket, Key="there", Body=b"1", Tagging="colour=red")
    yield Place(root, bucket)
    s3.delete_bucket_policy(Bucket=bucket)


WRITES: dict[str, Callable[[Any, str], Any]] = {
    "put": lambda s3, bucket: s3.put_object(Bucket=bucket, Key="new", Body=b"1"),
    "put in parts": lambda s3, bucket: upload_in_parts(s3, bucket, "new"),
    "copy": lambda s3, bucket: s3.copy_object(
        Bucket=bucket, Key="new", CopySource={"Bucket": bucket, "Key": "there"}
    ),
    "delete": lambda s3, bucket: s3.delete_object(Bucket=bucket, Key="there"),
    "delete version": lambda s3, bucket: s3.delete_object(Bucket=bucket, Key="there", VersionId="null"),
    "delete several": lambda s3, bucket: s3.delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": "there"}, {"Key": "other"}]}
    ),
    "tag": lambda s3, bucket: s3.put_object_tagging(
        Bucket=bucket, Key="there", Tagging={"TagSet": [{"Key": "a", "Value": "b"}]}
    ),
}
READS: dict[str, Callable[[Any, str], Any]] = {
    "get": lambda s3, bucket: s3.get_object(Bucket=bucket, Key="there"),
    "head": lambda s3, bucket: s3.head_object(Bucket=bucket, Key="there"),
    "get tags": lambda s3, bucket: s3.get_object_tagging(Bucket=bucket, Key="there"),
}
LISTS: dict[str, Callable[[Any, str], Any]] = {
    "list": lambda s3, bucket: s3.list_objects_v2(Bucket=bucket),
    "list versions": lambda s3, bucket: s3.list_object_versions(Bucket=bucket),
    "head bucket": lambda s3, bucket: s3.head_bucket(Bucket=bucket),
}
CHANGES: dict[str, Callable[[Any, str], Any]] = {
    "put policy": lambda s3, bucket: s3.put_bucket_policy(
        Bucket=bucket, Policy=s3.get_bucket_policy(Bucket=bucket)["Policy"]
    ),
    "delete policy": lambda s3, bucket: s3.delete_bucket_policy(Bucket=bucket),
    "suspend versions": lambda s3, bucket: s3.put_bucket_versioning(
        Bucket=bucket, VersioningConfiguration={"Status": "Suspended"}
    ),
    "expire": lambda s3, bucket: s3.put_bucket_lifecycle_configuration(
        Bucket=bucket,
        LifecycleConfiguration={
            "Rules": [{"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}]
        },
    ),
    "open": lambda s3, bucket: s3.delete_public_access_block(Bucket=bucket),
    "allow lists": lambda s3, bucket: s3.delete_bucket_ownership_controls(Bucket=bucket),
    "delete bucket": lambda s3, bucket: s3.delete_bucket(Bucket=bucket),
}
EACH_WRITE = pytest.mark.parametrize("operation", WRITES.values(), ids=WRITES.keys())
EACH_READ = pytest.mark.parametrize("operation", READS.values(), ids=READS.keys())
EACH_CHANGE = pytest.mark.parametrize("operation", CHANGES.values(), ids=CHANGES.keys())
EACH_OPERATION = pytest.mark.parametrize(
    "operation",
    [*WRITES.values(), *READS.values(), *LISTS.values(), *CHANGES.values()],
    ids=[*WRITES, *READS, *LISTS, *CHANGES],
)


@EACH_OPERATION
def test_without_any_policy_only_root_may(place: Place, operation: Callable[[Any, str], Any]) -> None:
    nobody = as_role(place.root, a_role(place.root)).client("s3")
    assert not lets(lambda: operation(nobody, place.bucket))
    assert not lets(lambda: operation(anonymous(place.root), place.bucket))


@EACH_WRITE
@pytest.mark.parametrize("listed", [True, False])
def test_locked_bucket_is_written_by_the_listed_role_alone(
    place: Place, operation: Callable[[Any, str], Any], listed: bool
) -> None:
    writer = a_role(place.root, EVERYTHING, logical_id="Writer")
    other = a_role(place.root, logical_id="Other", ManagedPolicyArns=[ADMINISTRATOR])
    place.govern(
        deny(
            *("s3:PutObject*", "s3:DeleteObject*", "s3:AbortMultipartUpload"),
            resource=f"{place.arn}/*",
            Principal="*",
            Condition={"ArnNotEquals": {"aws:PrincipalArn": [writer.attributes["Arn"]]}},
        )
    )
    assert lets(lambda: READS["get tags"](as_role(place.root, other).client("s3"), place.bucket))
    who = as_role(place.root, writer if listed else other)
    assert lets(lambda: operation(who.client("s3"), place.bucket)) is listed


@EACH_READ
def test_read_by_identity_and_by_bucket_policy(place: Place, operation: Callable[[Any, str], Any]) -> None:
    identity = a_role(place.root, allow("s3:GetObject*", resource=f"{place.arn}/*"))
    named = a_role(place.root, logical_id="Named")
    place.govern(
        allow("s3:GetObject*", resource=f"{place.arn}/*", Principal={"AWS": named.attributes["Arn"]})
    )
    for role in (identity, named):
        s3 = as_role(place.root, role).client("s3")
        assert lets(lambda s3=s3: operation(s3, place.bucket))
        assert not lets(lambda s3=s3: WRITES["put"](s3, place.bucket))
        assert not lets(lambda s3=s3: LISTS["list"](s3, place.bucket))


@EACH_CHANGE
def test_configuration_locked_to_one_role(place: Place, operation: Callable[[Any, str], Any]) -> None:
    administrator = a_role(place.root, EVERYTHING, logical_id="Admin")
    writer = a_role(place.root, EVERYTHING, logical_id="Writer")
    place.govern(
        deny(
            "s3:Put*Configuration",
            "s3:PutBucket*",
            "s3:DeleteBucket*",
            resource=place.arn,
            Principal="*",
            Condition={"ArnNotEquals": {"aws:PrincipalArn": administrator.attributes["Arn"]}},
        )
    )
    assert not lets(lambda: operation(as_role(place.root, writer).client("s3"), place.bucket))
    if operation is not CHANGES["delete bucket"]:  # it has objects
        assert lets(lambda: operation(as_role(place.root, administrator).client("s3"), place.bucket))


def test_root_is_denied_all_but_the_policy(place: Place) -> None:
    place.govern(deny("s3:*", resource=place.all, Principal="*"))
    s3 = place.root.client("s3")
    assert not lets(lambda: READS["get"](s3, place.bucket))
    assert not lets(lambda: LISTS["list"](s3, place.bucket))
    assert lets(lambda: CHANGES["put policy"](s3, place.bucket))
    assert lets(lambda: CHANGES["delete policy"](s3, place.bucket))
    assert lets(lambda: READS["get"](s3, place.bucket))


def test_plain_http(place: Place) -> None:
    role = a_role(place.root, EVERYTHING)
    place.govern(
        deny(
            "s3:*",
            resource=place.all,
            Principal={"AWS": "*"},
            Condition={"Bool": {"aws:SecureTransport": "false"}},
        )
    )
    assert lets(lambda: READS["get"](as_role(place.root, role).client("s3"), place.bucket))
    plain = as_role(place.root, role).client("s3")
    send_plainly(plain)
    for operation in (READS["get"], READS["head"], WRITES["put"], LISTS["list"]):
        assert not lets(lambda operation=operation: operation(plain, place.bucket))


def test_public_bucket_needs_its_block_gone(place: Place) -> None:
    reader, stranger = allow("s3:GetObject", resource=f"{place.arn}/*", Principal="*"), anonymous(place.root)
    with pytest.raises(ClientError, match="BlockPublicPolicy"):
        place.govern(reader)
    place.open_to_policies()
    place.govern(reader)
    assert lets(lambda: READS["get"](stranger, place.bucket))
    assert not lets(lambda: WRITES["put"](stranger, place.bucket))
    place.root.client("s3").put_public_access_block(
        Bucket=place.bucket, PublicAccessBlockConfiguration={"RestrictPublicBuckets": True}
    )
    assert not lets(lambda: READS["get"](stranger, place.bucket))
    nobody = as_role(place.root, a_role(place.root)).client("s3")
    assert lets(lambda: READS["get"](nobody, place.bucket))


def test_boundary_and_session_policy_narrow(place: Place) -> None:
    boundary = create(
        place.root, "AWS::IAM::ManagedPolicy", PolicyDocument=document(allow("s3:Get*"))
    ).physical_id
    bounded = a_role(place.root, EVERYTHING, PermissionsBoundary=boundary)
    place.govern(
        allow("s3:PutObject", resource=f"{place.arn}/*", Principal={"AWS": bounded.attributes["Arn"]})
    )
    s3 = as_role(place.root, bounded).client("s3")
    assert lets(lambda: READS["get"](s3, place.bucket))
    assert not lets(lambda: WRITES["put"](s3, place.bucket))
    free = a_role(place.root, EVERYTHING, logical_id="Free")
    given = place.root.client("sts").assume_role(
        RoleArn=free.attributes["Arn"],
        RoleSessionName="narrow",
        Policy=json.dumps(document(allow("s3:Get*"), deny("s3:GetObjectTagging"))),
    )["Credentials"]
    narrow = Session(
        endpoint=place.root.endpoint,
        region=place.root.region,
        access_key=given["AccessKeyId"],
        session_token=given["SessionToken"],
    ).client("s3")
    assert lets(lambda: READS["get"](narrow, place.bucket))
    assert not lets(lambda: READS["get tags"](narrow, place.bucket))
    assert not lets(lambda: WRITES["put"](narrow, place.bucket))


def test_user_and_group(place: Place) -> None:
    iam = place.root.client("iam")
    iam.create_user(UserName="ada")
    iam.create_group(GroupName="readers")
    iam.put_group_policy(
        GroupName="readers", PolicyName="read", PolicyDocument=json.dumps(document(allow("s3:Get*")))
    )
    key = iam.create_access_key(UserName="ada")["AccessKey"]["AccessKeyId"]
    ada = Session(endpoint=place.root.endpoint, region=place.root.region, access_key=key).client("s3")
    assert not lets(lambda: READS["get"](ada, place.bucket))
    iam.add_user_to_group(UserName="ada", GroupName="readers")
    assert lets(lambda: READS["get"](ada, place.bucket))
    assert not lets(lambda: WRITES["put"](ada, place.bucket))
    place.govern(
        deny(
            "s3:GetObject",
            resource=f"{place.arn}/*",
            Principal="*",
            Condition={"StringEquals": {"aws:username": "ada"}},
        )
    )
    assert not lets(lambda: READS["get"](ada, place.bucket))


def test_unknown_key_and_deleted_role(place: Place) -> None:
    ghost = Session(endpoint=place.root.endpoint, region=place.root.region, access_key="AKIAGHOST")
    with pytest.raises(ClientError, match="InvalidAccessKeyId"):
        READS["get"](ghost.client("s3"), place.bucket)
    role = a_role(place.root)
    s3 = as_role(place.root, role).client("s3")
    iam = place.root.client("iam")
    iam.delete_role(RoleName=role.physical_id)
    assert not lets(lambda: READS["get"](s3, place.bucket))
    with pytest.raises(ClientError, match="AccessDenied"):
        as_role(place.root, role)


def test_signed_link_counts_as_its_signer(place: Place) -> None:
    reader = as_role(place.root, a_role(place.root, allow("s3:GetObject"))).client("s3")
    nobody = as_role(place.root, a_role(place.root)).client("s3")
    links = [
        s3.generate_presigned_url("get_object", Params={"Bucket": place.bucket, "Key": "there"})
        for s3 in (reader, nobody)
    ]
    assert urlopen(links[0]).read() == b"1"
    with pytest.raises(OSError, match="403"):
        urlopen(links[1])


@pytest.mark.parametrize("may_list", [True, False])
def test_missing_object_shows_only_to_those_who_may_list(place: Place, may_list: bool) -> None:
    actions = ["s3:GetObject", *(["s3:ListBucket"] if may_list else [])]
    s3 = as_role(place.root, a_role(place.root, allow(*actions))).client("s3")
    with pytest.raises(ClientError, match="NoSuchKey" if may_list else "AccessDenied"):
        s3.get_object(Bucket=place.bucket, Key="missing")


def test_deletion_of_several_goes_as_far_as_it_may(place: Place) -> None:
    s3 = as_role(
        place.root,
        a_role(place.root, allow("s3:DeleteObject", resource=f"{place.arn}/own/*"), allow("s3:List*")),
    ).client("s3")
    keys = ["own/a", "there", "own/b"]
    version = place.root.client("s3").put_object(Bucket=place.bucket, Key="own/c", Body=b"")["VersionId"]
    objects = [*({"Key": key} for key in keys), {"Key": "own/c", "VersionId": version}]
    answer = s3.delete_objects(Bucket=place.bucket, Delete={"Objects": objects})
    assert [item["Key"] for item in answer["Deleted"]] == ["own/a", "own/b"]
    assert [(item["Key"], item["Code"]) for item in answer["Errors"]] == [
        ("there", "AccessDenied"),
        ("own/c", "AccessDenied"),
    ]


def test_copy_needs_both_ends(place: Place) -> None:
    other = create(place.root, "AWS::S3::Bucket", "Other").physical_id
    place.root.client("s3").put_object(Bucket=other, Key="a", Body=b"1")

    def copy(s3: Any) -> Any:
        return s3.copy_object(Bucket=place.bucket, Key="b", CopySource={"Bucket": other, "Key": "a"})

    write, read = allow("s3:PutObject", resource=f"{place.arn}/*"), allow("s3:GetObject")
    verdicts = [
        lets(lambda s=statements: copy(as_role(place.root, a_role(place.root, *s)).client("s3")))
        for statements in ([write], [read], [write, read])
    ]
    assert verdicts == [False, False, True]


def test_conditions_on_prefix_and_tags(place: Place) -> None:
    s3 = as_role(
        place.root,
        a_role(
            place.root,
            allow("s3:ListBucket", Condition={"StringLike": {"s3:prefix": "own/*"}}),
            allow("s3:GetObject", Condition={"StringEquals": {"s3:ExistingObjectTag/colour": "red"}}),
        ),
    ).client("s3")
    assert lets(lambda: s3.list_objects_v2(Bucket=place.bucket, Prefix="own/a"))
    assert not lets(lambda: s3.list_objects_v2(Bucket=place.bucket, Prefix="other/"))
    assert not lets(lambda: s3.list_objects_v2(Bucket=place.bucket))
    assert lets(lambda: READS["get"](s3, place.bucket))
    place.root.client("s3").delete_object_tagging(Bucket=place.bucket, Key="there")
    assert not lets(lambda: READS["get"](s3, place.bucket))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Condition": {"StringEqual": {"s3:prefix": "a"}}}, "StringEqual"),
        ({"Condition": {"StringEquals": {"s3:prefx": "a"}}}, "s3:prefx"),
        ({"Resource": "arn:aws:s3:::another"}, "invalid resource"),
        ({"Principal": {"AWS": "arn:aws:iam::111122223333:role/missing"}}, "Invalid principal"),
        ({"Principals": "*"}, "Unknown field Principals"),
        ({"NotAction": "s3:*"}, "Action"),
        ({"Effect": "Permit"}, "Invalid effect"),
    ],
)
def test_policy_that_cannot_be_judged_is_not_stored(
    place: Place, change: dict[str, Any], message: str
) -> None:
    statement = allow("s3:ListBucket", resource=place.arn, Principal={"AWS": ROOT_ARN})
    with pytest.raises(ClientError, match=f"MalformedPolicy.*{message}"):
        place.govern({**statement, **change})
    place.govern(statement)


def test_identity_policy_that_cannot_be_judged_is_an_error(place: Place) -> None:
    strange = allow("s3:GetObject", Condition={"StringEquals": {"s3:unheardOf": "a"}})
    s3 = as_role(place.root, a_role(place.root, strange)).client("s3")
    with pytest.raises(ClientError, match=r"NotImplemented.*s3:unheardOf"):
        READS["get"](s3, place.bucket)
    assert not lets(lambda: WRITES["put"](s3, place.bucket))


def test_unknown_operation_is_an_error(place: Place) -> None:
    with pytest.raises(ClientError, match="NotImplemented"):
        place.root.client("s3").rename_object(Bucket=place.bucket, Key="b", RenameSource=f"{place.bucket}/a")


def test_logs_arrive_where_the_policy_lets_them(place: Place) -> None:
    logs = create(place.root, "AWS::S3::Bucket", "Logs").physical_id
    s3 = place.root.client("s3")
    s3.put_bucket_logging(
        Bucket=place.bucket,
        BucketLoggingStatus={"LoggingEnabled": {"TargetBucket": logs, "TargetPrefix": "data/"}},
    )

    def delivered() -> list[str]:
        READS["get"](s3, place.bucket)
        return [item["Key"] for item in s3.list_objects_v2(Bucket=logs).get("Contents", [])]

    assert delivered() == []
    statement = allow(
        "s3:PutObject",
        resource=f"arn:aws:s3:::{logs}/data/*",
        Principal={"Service": "logging.s3.amazonaws.com"},
        Condition={
            "ArnLike": {"aws:SourceArn": place.arn},
            "StringEquals": {"aws:SourceAccount": "111122223333"},
        },
    )
    s3.put_bucket_policy(
        Bucket=logs, Policy=json.dumps(document({**statement, "Resource": f"arn:aws:s3:::{logs}/x/*"}))
    )
    assert delivered() == []
    s3.put_bucket_policy(Bucket=logs, Policy=json.dumps(document(statement)))
    assert all(key.startswith("data/") for key in delivered())
    assert delivered()


def test_verdicts_without_a_request(place: Place) -> None:
    role = a_role(place.root, allow("s3:GetObject", "fsx:CreateBackup")).attributes["Arn"]
    key = f"{place.arn}/there"
    assert allowed(role, "s3:GetObject", key, {})
    assert not allowed(role, "s3:PutObject", key, {})
    assert allowed(role, "fsx:CreateBackup", "arn:aws:fsx:us-west-2:111122223333:file-system/fs-1", {})
    assert not allowed(role, "fsx:DeleteFileSystem", "*", {})
    assert not allowed("sagemaker.amazonaws.com", "s3:GetObject", key, {})
    place.govern(
        allow(
            "s3:GetObject",
            resource=key,
            Principal={"Service": "sagemaker.amazonaws.com"},
            Condition={"StringEquals": {"aws:SourceAccount": "111122223333"}},
        )
    )
    context = {"aws:SourceAccount": "111122223333"}
    assert allowed("sagemaker.amazonaws.com", "s3:GetObject", key, context)
    assert not allowed("sagemaker.amazonaws.com", "s3:GetObject", key, {})
    with pytest.raises(LookupError, match="role/missing"):
        allowed("arn:aws:iam::111122223333:role/missing", "s3:GetObject", key, {})
