"""Whether existing buckets are the account's own."""

from __future__ import annotations

import pytest
from preflight_account import MADE, ROLE, with_groups
from preflight_asked import all_ok, asked, only
from told_aws import Refusal

NAME = "bucket"
HEAD = ("s3", "HeadBucket")
SCRIPTS = {**MADE, "lifecycle_scripts": {"source_s3_uri": "s3://scripts/v1/", "entry_point": "on_init.sh"}}


def head(code, status, **headers):
    return Refusal(code, "", status, headers)


def not_owned(asked):
    """What S3 answers for a bucket that can be read and is of another account."""
    return head("403", 403) if "ExpectedBucketOwner" in asked else {"BucketRegion": "us-west-2"}


def test_a_bucket_of_the_account():
    all_ok(asked(NAME, SCRIPTS), r"^scripts: it is of account 111122223333 \(lifecycle scripts\)")


def test_all_buckets_are_looked_at():
    spec = with_groups(
        {
            **SCRIPTS,
            "file_system": {
                "removal": "retain",
                "data_repository": {"path": "/data", "bucket_name": "corpus"},
            },
        },
        lifecycle_scripts={"source_s3_uri": "s3://other-scripts/x"},
    )
    found = asked(NAME, spec)
    all_ok(found)
    assert [each.subject for each in found] == ["corpus", "other-scripts", "scripts"]


@pytest.mark.parametrize(
    ("uri", "names"),
    [
        ("s3://scripts", ["scripts"]),
        ("https://scripts.s3.us-west-2.amazonaws.com/v1/", ["scripts"]),
        ("https://my.scripts.s3.amazonaws.com/v1", ["my.scripts"]),
        ("https://s3.us-west-2.amazonaws.com/scripts/v1", ["scripts"]),
        ("https://s3-us-west-2.amazonaws.com/scripts/v1", ["scripts"]),
        ("https://example.com/scripts/v1", []),
    ],
)
def test_every_way_to_say_where_scripts_are(uri, names):
    own = [{**group, "execution_role_arn": ROLE} for group in SCRIPTS["instance_groups"]]
    scripts = {**SCRIPTS["lifecycle_scripts"], "source_s3_uri": uri}
    spec = {**SCRIPTS, "lifecycle_scripts": scripts, "instance_groups": own}
    assert [each.subject for each in asked(NAME, spec) if each.verdict != "not applicable"] == names


def test_the_owner_is_asked_for():
    seen = []
    asked(NAME, SCRIPTS, {HEAD: lambda request: seen.append(request) or {}})
    assert seen == [{"Bucket": "scripts", "ExpectedBucketOwner": "111122223333"}]


def test_a_bucket_of_somebody_else():
    only(
        asked(NAME, SCRIPTS, {HEAD: not_owned}),
        "problem",
        "its owner can run code on the nodes; name a bucket of",
    )


def test_a_bucket_that_is_not_there():
    only(
        asked(NAME, SCRIPTS, {HEAD: head("404", 404)}),
        "problem",
        "no such bucket .*whoever makes it first owns it",
    )


def test_a_bucket_in_another_region():
    far = "it is in eu-west-1, the cluster in us-west-2.*gateway endpoint does not reach it; copy"
    only(asked(NAME, SCRIPTS, {HEAD: {"BucketRegion": "eu-west-1"}}), "problem", far)
    moved = head("301", 301, **{"x-amz-bucket-region": "eu-west-1"})
    only(asked(NAME, SCRIPTS, {HEAD: moved}), "problem", far)


def test_a_bucket_that_nobody_may_look_at():
    only(
        asked(NAME, SCRIPTS, {HEAD: head("403", 403)}),
        "cannot tell",
        "it is of another account, or s3:ListBucket is not permitted on it; ask for that action",
    )


def test_any_other_answer():
    only(
        asked(NAME, SCRIPTS, {HEAD: head("503", 503)}),
        "cannot tell",
        r"AWS itself has trouble with s3:ListBucket in us-west-2 \(503\); wait a minute and try again",
    )


def test_no_bucket():
    only(asked(NAME, MADE), "not applicable", "no existing bucket is named")


def test_a_bucket_that_goes_away_between_two_questions():
    answer = {HEAD: lambda asked: head(*(("403", 403) if "ExpectedBucketOwner" in asked else ("503", 503)))}
    only(
        asked(NAME, SCRIPTS, answer),
        "cannot tell",
        r"AWS itself has trouble with s3:ListBucket in us-west-2 \(503\); wait a minute and try again",
    )
