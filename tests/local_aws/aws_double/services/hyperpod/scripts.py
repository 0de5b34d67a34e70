"""The lifecycle scripts that nodes fetch with their execution role."""

from __future__ import annotations

from collections.abc import Iterator

from moto.s3.models import FakeKey, s3_backends
from moto.utilities.utils import get_partition

from aws_double import ACCOUNT
from aws_double.role_view import find_role
from aws_double.services.authorization import allowed
from aws_double.services.hyperpod.cluster import Cluster, Group


def script_faults(cluster: Cluster, group: Group) -> Iterator[str]:
    """Say what keeps the nodes of a group from their entry point."""
    scripts = group.asked.get("LifeCycleConfig")
    if scripts is None:
        return
    uri = scripts.get("SourceS3Uri", "")
    file = scripts.get("OnCreate", scripts.get("OnInitComplete"))
    if file is None or not uri.startswith("s3://"):
        yield f"LifeCycleConfig needs SourceS3Uri with s3:// and an entry point, got {scripts}"
        return
    bucket_name, _, prefix = uri.removeprefix("s3://").partition("/")
    key = f"{prefix.rstrip('/')}/{file}".lstrip("/")
    partition = get_partition(cluster.region)
    bucket = s3_backends[ACCOUNT][partition].buckets.get(bucket_name)
    if bucket is None:
        yield f"the bucket of {uri} does not exist"
    elif not isinstance(bucket.keys.get(key), FakeKey):
        yield f"s3://{bucket_name}/{key} does not exist"
    else:
        arn = f"arn:{partition}:s3:::{bucket_name}"
        for action, resource in (("s3:ListBucket", arn), ("s3:GetObject", f"{arn}/{key}")):
            if not _may(group.asked["ExecutionRole"], action, resource):
                yield f"{group.asked['ExecutionRole']} may not {action} {resource}"


def _may(role_arn: str, action: str, resource: str) -> bool:
    if find_role(role_arn) is None:
        return False
    return allowed(role_arn, action, resource, {})
