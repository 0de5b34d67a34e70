"""Access by bucket and key policy for roles that exist already."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match
from stacks import resources, template_of

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.existing_role_access import FOREIGN_KEY_WARNING
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_model.faults import InvalidInputError

ACCOUNT = "111122223333"
KEY = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Training", env=Environment(account=ACCOUNT, region="us-west-2"))


def role(stack: Stack, account: str = ACCOUNT, name: str = "nodes") -> iam.IRole:
    return iam.Role.from_role_arn(stack, name, f"arn:aws:iam::{account}:role/{name}", mutable=False)


def test_the_roles_themselves_are_not_changed(stack: Stack) -> None:
    CheckpointBucket(stack, "Checkpoints").let_existing_roles_checkpoint([role(stack)])
    template = template_of(stack)
    assert resources(template, "AWS::IAM::Policy") == {}
    assert resources(template, "AWS::IAM::ManagedPolicy") == {}


def test_scripts_are_read_below_their_prefix_only(stack: Stack) -> None:
    LifecycleScripts(stack, "Scripts").let_existing_roles_read([role(stack), role(stack, name="more")])
    policies = resources(template_of(stack), "AWS::S3::BucketPolicy")
    (policy,) = (one for name, one in policies.items() if "AccessLogs" not in name)
    (objects,) = (
        statement
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "ExistingRolesOnObjects"
    )
    assert objects["Principal"]["AWS"] == [
        f"arn:aws:iam::{ACCOUNT}:role/{name}" for name in ("nodes", "more")
    ]
    assert objects["Resource"]["Fn::Join"][1][-1] == "/lifecycle-scripts/*"


def test_without_roles_nothing_is_allowed(stack: Stack) -> None:
    scripts = LifecycleScripts(stack, "Scripts")
    scripts.let_existing_roles_read([])
    CheckpointBucket(stack, "Checkpoints").let_existing_roles_checkpoint([])
    assert "ExistingRoles" not in str(template_of(stack))


def test_an_imported_key_is_left_to_its_owner_with_a_warning(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", KEY)
    checkpoints = CheckpointBucket(stack, "Checkpoints", kms_key=key)
    checkpoints.let_existing_roles_checkpoint([role(stack)])
    said = "imported key 'Training/Key'.*Training/nodes may use it.*kms:Decrypt, kms:GenerateDataKey"
    Annotations.from_stack(stack).has_warning("/Training/Checkpoints", Match.string_like_regexp(said))
    assert FOREIGN_KEY_WARNING in str(Annotations.from_stack(stack).find_warning("*", Match.any_value()))


def test_a_key_of_this_app_leaves_no_warning(stack: Stack) -> None:
    CheckpointBucket(stack, "Checkpoints").let_existing_roles_checkpoint([role(stack)])
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


@pytest.mark.parametrize(
    "let_in",
    [
        lambda stack, roles: CheckpointBucket(stack, "Checkpoints").let_existing_roles_checkpoint(roles),
        lambda stack, roles: LifecycleScripts(stack, "Scripts").let_existing_roles_read(roles),
    ],
)
def test_a_role_of_another_account_is_refused(stack: Stack, let_in: Any) -> None:
    with pytest.raises(InvalidInputError, match="belongs to account 444455556666"):
        let_in(stack, [role(stack, account="444455556666")])


def test_an_imported_bucket_is_left_to_its_owner(stack: Stack) -> None:
    nodes = role(stack)
    scripts = LifecycleScripts.from_s3_uri(
        stack, "Scripts", source_s3_uri="s3://sagemaker-theirs/scripts", entry_point="on_create.sh"
    )
    with pytest.raises(InvalidInputError, match="Training/Scripts: cannot let existing roles read"):
        scripts.let_existing_roles_read([nodes])
    checkpoints = CheckpointBucket.from_bucket(
        stack, "Checkpoints", bucket=s3.Bucket.from_bucket_name(stack, "Theirs", "sagemaker-theirs")
    )
    with pytest.raises(InvalidInputError, match="cannot list role 'Training/nodes' as writer"):
        checkpoints.let_existing_roles_checkpoint([nodes])
