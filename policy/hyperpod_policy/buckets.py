"""The buckets whose writers run code on the nodes: lifecycle scripts and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from hyperpod_model.catalog.iam import S3_OBJECT_WRITE_ACTIONS
from hyperpod_policy.clusters import Used, clusters, execution_roles, groups, orchestrator
from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.evaluation import Request, allows
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.keys import key_named
from hyperpod_policy.lustre_file_systems import FILE_SYSTEM, exporting_associations
from hyperpod_policy.pod_roles import pod_roles
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import (
    Anything,
    Pseudo,
    Reference,
    Text,
    Unresolved,
    concatenated,
    elements,
    same,
    single,
    truth,
)

BUCKET: Final = "AWS::S3::Bucket"
BUCKET_POLICY: Final = "AWS::S3::BucketPolicy"
CHECKPOINT_BUCKET_TAG: Final = "hyperpod:checkpoint-bucket"
"""Marks a checkpoint bucket that its users' policies do not tell; its value is ``true``."""

ENCRYPTION_KEY: Final = (
    "BucketEncryption",
    "ServerSideEncryptionConfiguration",
    0,
    "ServerSideEncryptionByDefault",
    "KMSMasterKeyID",
)
"""Where a bucket names its KMS key."""

_TELLING: Final = 3
"""How many letters of a name before a wildcard name a bucket, as the shortest name of a bucket has."""

Role: TypeAlias = Literal["lifecycle script", "checkpoint", "access log"]


@dataclass(frozen=True, slots=True)
class GuardedBucket:
    """A bucket of the template that needs a lock.

    Attributes:
        bucket: The bucket.
        role: What it holds.
    """

    bucket: Resource
    role: Role

    @property
    def words(self) -> str:
        """How to call it."""
        return f"{self.role} bucket {self.bucket.logical_id}"


def guarded_buckets(template: Template) -> list[GuardedBucket]:
    """Return the lifecycle-script and checkpoint buckets, recognised by how clusters use them."""
    return template.once(_guarded_buckets)


def log_buckets(template: Template) -> list[GuardedBucket]:
    """Return the buckets to which guarded buckets log, and that are none themselves, each once."""
    guarded = {found.bucket.key for found in guarded_buckets(template)}
    logs = [
        template.resource(found.bucket.get("LoggingConfiguration", "DestinationBucketName"), BUCKET)
        for found in guarded_buckets(template)
    ]
    unique = {bucket.key: bucket for bucket in logs if bucket is not None and bucket.key not in guarded}
    return [GuardedBucket(bucket, "access log") for bucket in unique.values()]


def script_buckets(template: Template, cluster: Resource) -> list[Resource]:
    """Return the lifecycle-script buckets of one cluster that the template makes, each once."""
    found: dict[str, Resource] = {}
    for used in _script_locations(template):
        bucket = _bucket_of_uri(template, used.value) if used.cluster is cluster else None
        if bucket is not None:
            found[bucket.key] = bucket
    return list(found.values())


def foreign_script_locations(template: Template) -> list[Used]:
    """Return script locations whose bucket the template does not make."""
    return [used for used in _script_locations(template) if _bucket_of_uri(template, used.value) is None]


def _guarded_buckets(template: Template) -> list[GuardedBucket]:
    found: dict[str, GuardedBucket] = {}
    for used in _script_locations(template):
        bucket = _bucket_of_uri(template, used.value)
        if bucket is not None:
            found.setdefault(bucket.key, GuardedBucket(bucket, "lifecycle script"))
    if clusters(template):
        for bucket in template.of_type(BUCKET):
            if bucket.key not in found and (
                _is_named(template, bucket)
                or _is_tagged(bucket)
                or _is_written_by_jobs(template, bucket)
                or bucket.key in template.once(_export_targets)
            ):
                found[bucket.key] = GuardedBucket(bucket, "checkpoint")
    return list(found.values())


def _script_locations(template: Template) -> list[Used]:
    return [
        Used(
            single(group.properties["LifeCycleConfig"]["SourceS3Uri"]),
            cluster,
            (*group.path, "LifeCycleConfig", "SourceS3Uri"),
            group,
        )
        for cluster in clusters(template)
        for group in groups(cluster)
        if isinstance(group.properties.get("LifeCycleConfig"), Mapping)
        and "SourceS3Uri" in group.properties["LifeCycleConfig"]
    ]


def _bucket_of_uri(template: Template, uri: Any) -> Resource | None:
    name = _bucket_name(uri, "s3://")
    if isinstance(name, Reference):
        return template.resource(name, BUCKET)
    for bucket in template.of_type(BUCKET):
        if "BucketName" in bucket.properties and same(bucket.get("BucketName"), name):
            return bucket
    return None


def _bucket_name(value: Any, mark: str) -> Any:
    """Return what stands between a mark and the next slash; ``None`` without the mark."""
    parts = list(value.parts) if isinstance(value, Text) else [value]
    while parts and not (isinstance(parts[0], str) and mark in parts[0]):
        del parts[0]
    if not parts:
        return None
    parts[0] = str(parts[0]).partition(mark)[2]
    name: list[Any] = []
    for part in parts:
        if isinstance(part, str) and "/" in part:
            name.append(part.partition("/")[0])
            break
        name.append(part)
    return concatenated(name)


def _is_named(template: Template, bucket: Resource) -> bool:
    name = bucket.get("BucketName")
    return bucket.logical_id in template.checkpoint_buckets or (
        isinstance(name, str) and name in template.checkpoint_buckets
    )


def _is_tagged(bucket: Resource) -> bool:
    tags, _ = elements(bucket.get("Tags"))
    return any(
        isinstance(tag, Mapping)
        and tag.get("Key") == CHECKPOINT_BUCKET_TAG
        and truth(tag.get("Value")) is True
        for tag in tags
    )


def _writing_roles(template: Template) -> list[Resource]:
    """Return the roles that jobs write with: that of the nodes on Slurm, those of pods on EKS."""
    nodes = (
        role_of(template, used.value)
        for used in execution_roles(template)
        if orchestrator(used.cluster) == "slurm"
    )
    found = {role.key: role for role in nodes if role is not None}
    found.update((role.key, role) for role in pod_roles(template))
    return list(found.values())


def _is_written_by_jobs(template: Template, bucket: Resource) -> bool:
    """Whether a policy of a role of jobs names the bucket and lets them write it; ``*`` names no bucket."""
    request = Request("s3:PutObject", objects_arn(template, bucket))
    for role in template.once(_writing_roles):
        for statement in permissions(template, role).statements:
            named = [
                resource
                for resource in statement.resources
                if not statement.not_resource and _names(template, resource, bucket)
            ]
            if named and allows(statement, request) is not False:
                return True
    return False


def _names(template: Template, pattern: Any, bucket: Resource) -> bool:
    """Whether a resource pattern names a bucket, in full or by how its name begins; ``*`` names none."""
    named, name = _bucket_name(pattern, ":s3:::"), template.spelled(bucket.ref)
    if same(named, name) is True:
        return True
    start = named.parts[0] if isinstance(named, Text) else named
    return (
        isinstance(start, str)
        and len(start.partition("*")[0].partition("?")[0]) >= _TELLING
        and patterns.every(named, name) is True
    )


def bucket_in_pattern(template: Template, pattern: Any) -> tuple[Any, Resource | None]:
    """Return the name of the bucket in a resource pattern, and the bucket if the template makes it.

    The name is ``None`` where a pattern is for every bucket, or where only deployment knows what it is.
    """
    name = _bucket_name(pattern, ":s3:::")
    if name is None or (isinstance(name, str) and name.strip("*?") == ""):
        return None, None
    for bucket in template.of_type(BUCKET):
        if same(name, template.spelled(bucket.ref)) is True:
            return name, bucket
    return name, None


def _export_targets(template: Template) -> frozenset[str]:
    """Return the keys of the buckets to which file systems export what is written on them."""
    paths = [association.get("DataRepositoryPath") for association in exporting_associations(template)]
    for file_system in template.of_type(FILE_SYSTEM):
        paths.append(file_system.get("LustreConfiguration", "ExportPath"))
    found = (_bucket_of_uri(template, single(path)) for path in paths if path is not None)
    return frozenset(bucket.key for bucket in found if bucket is not None)


def bucket_arn(template: Template, bucket: Resource) -> Any:
    """Return the ARN of a bucket."""
    return template.kept(
        ("bucket ARN", bucket.key),
        lambda: concatenated(("arn:", Pseudo("AWS::Partition"), ":s3:::", template.spelled(bucket.ref))),
    )


def objects_arn(template: Template, bucket: Resource) -> Any:
    """Return the ARN of any object in a bucket."""
    return template.kept(
        ("objects ARN", bucket.key),
        lambda: concatenated((bucket_arn(template, bucket), "/", Anything("object"))),
    )


def policies_of(template: Template, bucket: Resource) -> Sequence[Resource]:
    """Return the bucket policies that a template gives a bucket."""
    return template.kept(("bucket policies", bucket.key), lambda: _policies_of(template, bucket))


def _policies_of(template: Template, bucket: Resource) -> list[Resource]:
    name = template.spelled(bucket.ref)
    return [
        policy
        for policy in template.of_type(BUCKET_POLICY)
        if policy.get("Bucket") == bucket.ref or same(template.spelled(policy.get("Bucket")), name) is True
    ]


def policy_statements(template: Template, bucket: Resource) -> tuple[Sequence[Statement], bool]:
    """Return the statements of a bucket's policies, and whether these are all.

    S3 takes none without principal or resource, so one that lacks either does not count.
    """
    return template.kept(("bucket statements", bucket.key), lambda: _policy_statements(template, bucket))


def _policy_statements(template: Template, bucket: Resource) -> tuple[list[Statement], bool]:
    found: list[Statement] = []
    complete = True
    for policy in policies_of(template, bucket):
        for statement in statements_of(policy, "PolicyDocument"):
            if isinstance(statement, Unresolved):
                complete = False
            elif (statement.principals or statement.not_principal) and statement.resources:
                found.append(statement)
            else:
                complete = complete and statement.complete
    return found, complete


def key_of(template: Template, bucket: Resource) -> Resource | None:
    """Return the KMS key of a bucket, if the template makes it; an alias leads to its key."""
    return key_named(template, bucket.get(*ENCRYPTION_KEY))


def write_requests(template: Template, bucket: Resource) -> Iterator[Request]:
    """Yield every way to change the objects of a bucket."""
    objects = objects_arn(template, bucket)
    for action in S3_OBJECT_WRITE_ACTIONS:
        yield Request(action, objects)
