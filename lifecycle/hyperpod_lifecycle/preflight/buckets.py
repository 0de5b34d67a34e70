"""Whether existing buckets that the specification names are there, and the account's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation

ABOUT = About("bucket")

_ABSENT = ("404", "NoSuchBucket")
_FORBIDDEN = ("403", "AccessDenied")
_ELSEWHERE = ("301", "PermanentRedirect")


def check_buckets(situation: Situation) -> Iterator[Finding]:
    """Check who owns the buckets: whoever writes scripts or data there runs code on the nodes.

    Args:
        situation: The wanted cluster.
    """
    if not situation.wanted.buckets:
        yield ABOUT.not_applicable("no existing bucket is named")
    for name, what in situation.wanted.buckets.items():
        yield _check(situation, name, what)


def _check(situation: Situation, name: str, what: str) -> Finding:
    try:
        told = situation.reads.one("s3", "HeadBucket", Bucket=name, ExpectedBucketOwner=situation.account)
    except OperationError as error:
        return _refused(situation, name, what, error)
    return _owned(situation, name, what, told)


def _owned(situation: Situation, name: str, what: str, told: Mapping[str, Any]) -> Finding:
    region = told.get("BucketRegion")
    if region is not None and region != situation.wanted.region:
        return _far(situation, name, what, region)
    return ABOUT.ok(name, f"it is of account {situation.account} ({what})")


def _refused(situation: Situation, name: str, what: str, error: OperationError) -> Finding:
    code = code_of(error.__cause__)
    if code in _ABSENT:
        return ABOUT.problem(
            name,
            f"there is no such bucket ({what}), and whoever makes it first owns it",
            remedy="make it in your account, or name another",
        )
    if code in _ELSEWHERE:
        headers = getattr(error.__cause__, "response", {}).get("ResponseMetadata", {}).get("HTTPHeaders", {})
        return _far(situation, name, what, headers.get("x-amz-bucket-region", "another region"))
    if code not in _FORBIDDEN:
        return ABOUT.cannot_tell(name, error)
    # S3 answers the same to a wrong owner and to a missing permission: ask again without an owner.
    try:
        situation.reads.one("s3", "HeadBucket", Bucket=name)
    except OperationError as again:
        if code_of(again.__cause__) not in _FORBIDDEN:
            return ABOUT.cannot_tell(name, again)
        return ABOUT.cannot_tell(
            name,
            f"S3 forbids to look at it ({what}): it is of another account, or s3:ListBucket is not permitted "
            "on it; ask for that action",
        )
    return ABOUT.problem(
        name,
        f"it is not of account {situation.account} ({what}): its owner can run code on the nodes",
        remedy="name a bucket of your account",
    )


def _far(situation: Situation, name: str, what: str, region: str) -> Finding:
    return ABOUT.problem(
        name,
        f"it is in {region}, the cluster in {situation.wanted.region} ({what}): an S3 gateway endpoint does "
        "not reach it",
        remedy="copy what it holds to a bucket of that region, and name that one",
    )
