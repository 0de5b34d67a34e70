from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import (
    App,
    BootstraplessSynthesizer,
    CfnOutput,
    CfnParameter,
    CfnResource,
    CliCredentialsStackSynthesizer,
    DefaultStackSynthesizer,
    Duration,
    Environment,
    LegacyStackSynthesizer,
    NestedStack,
    Stack,
    Stage,
)
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from cfnlint.data import AdditionalSpecs
from policy_evaluator import (
    ACCOUNT,
    REGION,
    Request,
    anonymous_request,
    arn_of,
    evaluate,
    resolve,
    role_request,
    service_request,
)
from stacks import Template, lint, only, recommended_feature_flags, resources, template_of

from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.checkpoint_bucket import FOREIGN_BUCKET_WARNING, CheckpointBucket
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_model.catalog.iam import TIERED_CHECKPOINTING_ACTIONS
from hyperpod_model.faults import InvalidInputError

DEPLOYER = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"
ADMINISTRATOR = f"arn:aws:iam::{ACCOUNT}:role/Admin"
ROOT = f"arn:aws:iam::{ACCOUNT}:root"


def make_role(scope: Stack, id: str = "Trainer", **props: Any) -> iam.Role:
    return iam.Role(scope, id, assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"), **props)


class Locked:
    """A synthesized checkpoint bucket with one writer and one reader."""

    def __init__(self, template: Template) -> None:
        self.template = template
        buckets = resources(template, "AWS::S3::Bucket")
        self.bucket_id = next(
            name for name, bucket in buckets.items() if "LoggingConfiguration" in bucket["Properties"]
        )
        self.log_bucket_id = next(name for name in buckets if name != self.bucket_id)
        self.properties = buckets[self.bucket_id]["Properties"]
        self.log_properties = buckets[self.log_bucket_id]["Properties"]
        self.bucket_arn = arn_of(self.bucket_id, template)
        self.log_bucket_arn = arn_of(self.log_bucket_id, template)
        self.object_arn = f"{self.bucket_arn}/step-100/shard-0"
        self.log_object_arn = (
            f"{self.log_bucket_arn}/{self.properties['LoggingConfiguration']['LogFilePrefix']}2026"
        )

    def policy(self, bucket_id: str) -> Any:
        (policy,) = (
            found["Properties"]["PolicyDocument"]
            for found in resources(self.template, "AWS::S3::BucketPolicy").values()
            if found["Properties"]["Bucket"] == {"Ref": bucket_id}
        )
        return resolve(policy, self.template)

    def verdict(self, request: Request) -> str:
        return evaluate(self.policy(self.bucket_id), request)

    def log_verdict(self, request: Request) -> str:
        return evaluate(self.policy(self.log_bucket_id), request)

    def role_arn(self, prefix: str) -> str:
        (name,) = (name for name in resources(self.template, "AWS::IAM::Role") if name.startswith(prefix))
        return arn_of(name, self.template)


@pytest.fixture(scope="module")
def locked() -> Locked:
    stack = Stack(App(), "Training")
    bucket = CheckpointBucket(stack, "Checkpoints", readers=[make_role(stack, "Reader")])
    bucket.grant_checkpointing(make_role(stack, "Writer"))
    return Locked(template_of(stack))


class TestBucket:
    def test_is_closed_to_the_public(self, locked: Locked) -> None:
        for properties in (locked.properties, locked.log_properties):
            assert properties["PublicAccessBlockConfiguration"] == {
                "BlockPublicAcls": True,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            }
            assert properties["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}

    def test_is_encrypted_with_its_own_rotated_key(self, locked: Locked) -> None:
        key_id, key = only(locked.template, "AWS::KMS::Key")
        (rule,) = locked.properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert rule["BucketKeyEnabled"] is True
        assert rule["ServerSideEncryptionByDefault"] == {
            "SSEAlgorithm": "aws:kms",
            "KMSMasterKeyID": {"Fn::GetAtt": [key_id, "Arn"]},
        }
        assert key["Properties"]["EnableKeyRotation"] is True
        assert key["DeletionPolicy"] == "Retain"

    def test_keeps_versions_and_expires_leftovers(self, locked: Locked) -> None:
        assert locked.properties["VersioningConfiguration"] == {"Status": "Enabled"}
        (rule,) = locked.properties["LifecycleConfiguration"]["Rules"]
        assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
        assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 14}
        assert "ExpirationInDays" not in rule

    def test_age_of_old_versions_is_an_option(self) -> None:
        stack = Stack(App(), "Training")
        CheckpointBucket(stack, "Checkpoints", noncurrent_version_expiration=Duration.days(3))
        (rule,) = Locked(template_of(stack)).properties["LifecycleConfiguration"]["Rules"]
        assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 3}

    def test_stays_with_its_policy_and_its_logs_when_the_stack_goes(self, locked: Locked) -> None:
        for kind in ("AWS::S3::Bucket", "AWS::S3::BucketPolicy"):
            found = resources(locked.template, kind)
            assert len(found) == 2
            assert {resource["DeletionPolicy"] for resource in found.values()} == {"Retain"}
            assert {resource["UpdateReplacePolicy"] for resource in found.values()} == {"Retain"}

    def test_name_is_one_only_this_account_can_take(self, locked: Locked) -> None:
        assert locked.properties["BucketNamespace"] == "account-regional"
        first, last = locked.properties["BucketNamePrefix"]["Fn::Join"][1]
        assert first.startswith("sagemaker-ckpt-")
        assert "AWS::StackId" in json.dumps(last)
        longest = f"{first}0123abcd-{ACCOUNT}-ap-southeast-1-an"
        assert len(longest) <= 63

    def test_logs_lie_where_the_nodes_managed_policy_reads_nothing(self, locked: Locked) -> None:
        first, _ = locked.log_properties["BucketNamePrefix"]["Fn::Join"][1]
        assert not first.startswith("sagemaker-")
        assert len(f"{first}0123abcd-{ACCOUNT}-ap-southeast-1-an") <= 63

    def test_logs_cannot_be_delivered_to_a_bucket_with_a_kms_key(self, locked: Locked) -> None:
        (rule,) = locked.log_properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
        assert locked.properties["LoggingConfiguration"]["DestinationBucketName"] == {
            "Ref": locked.log_bucket_id
        }

    def test_two_buckets_share_a_log_bucket(self) -> None:
        stack = Stack(App(), "Training")
        logs = AccessLogBucket(stack, "Logs")
        for name in ("A", "B"):
            CheckpointBucket(stack, name, access_log_bucket=logs)
        template = template_of(stack)
        sources = [
            bucket["Properties"]["LoggingConfiguration"]
            for bucket in resources(template, "AWS::S3::Bucket").values()
            if "LoggingConfiguration" in bucket["Properties"]
        ]
        assert len(resources(template, "AWS::S3::Bucket")) == 3
        assert len({source["LogFilePrefix"] for source in sources}) == 2

    def test_given_key_is_used_and_left_alone(self) -> None:
        stack = Stack(App(), "Training")
        key = kms.Key(stack, "Mine")
        CheckpointBucket(stack, "Checkpoints", kms_key=key).grant_checkpointing(make_role(stack))
        template = template_of(stack)
        key_id, resource = only(template, "AWS::KMS::Key")
        assert key_id.startswith("Mine")
        assert len(resource["Properties"]["KeyPolicy"]["Statement"]) == 1

    @pytest.mark.parametrize(
        "name", ["my-checkpoints", "sagemaker-Checkpoints", "sagemaker-" + "x" * 54, "sagemaker-a..b"]
    )
    def test_refuses_an_illegal_name(self, name: str) -> None:
        with pytest.raises(
            InvalidInputError, match=r"Training/Checkpoints\.bucket_name: needs a name of 3 to 63 .* got"
        ):
            CheckpointBucket(Stack(App(), "Training"), "Checkpoints", bucket_name=name)

    def test_takes_a_legal_name_or_a_token(self) -> None:
        stack = Stack(App(), "Training")
        CheckpointBucket(stack, "A", bucket_name="sagemaker-llm-checkpoints")
        CheckpointBucket(stack, "B", bucket_name=CfnParameter(stack, "Name").value_as_string)
        names = [
            bucket["Properties"].get("BucketName")
            for bucket in resources(template_of(stack), "AWS::S3::Bucket").values()
        ]
        assert "sagemaker-llm-checkpoints" in names
        assert {"Ref": "Name"} in names

    def test_the_log_bucket_is_of_the_same_age_rules(self) -> None:
        stack = Stack(App(), "Training")
        AccessLogBucket(stack, "Logs", expiration=Duration.days(90))
        _, bucket = only(template_of(stack), "AWS::S3::Bucket")
        (rule,) = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
        assert rule["ExpirationInDays"] == 90


class TestVerdicts:
    """Denials that hold whatever identity policies say: who is denied what."""

    OBJECT_WRITES = (
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        "s3:AbortMultipartUpload",
        "s3:PutObjectAcl",
        "s3:ReplicateObject",
        "s3:RestoreObject",
        "s3:PutObjectTagging",
    )
    OBJECT_READS = (
        "s3:GetObject",
        "s3:GetObjectVersion",
        "s3:GetObjectAttributes",
        "s3:ListMultipartUploadParts",
    )
    CONFIGURATION = (
        "s3:PutBucketPolicy",
        "s3:DeleteBucketPolicy",
        "s3:PutBucketAcl",
        "s3:PutBucketVersioning",
        "s3:PutEncryptionConfiguration",
        "s3:PutLifecycleConfiguration",
        "s3:PutReplicationConfiguration",
        "s3:PutBucketPublicAccessBlock",
        "s3:PutBucketOwnershipControls",
        "s3:DeleteBucket",
        "s3:PutBucketLogging",
    )
    LOOKS = (
        "s3:GetBucketPolicy",
        "s3:GetBucketVersioning",
        "s3:GetEncryptionConfiguration",
        "s3:GetLifecycleConfiguration",
        "s3:GetBucketPublicAccessBlock",
        "s3:ListBucket",
        "s3:ListBucketVersions",
    )

    @pytest.mark.parametrize("action", OBJECT_WRITES)
    def test_object_writes(self, locked: Locked, action: str) -> None:
        def verdict(principal: str) -> str:
            return locked.verdict(role_request(action, locked.object_arn, principal))

        assert verdict(locked.role_arn("Writer")) == "silent"
        for principal in (locked.role_arn("Reader"), ADMINISTRATOR, DEPLOYER, ROOT):
            assert verdict(principal) == "deny"
        assert locked.verdict(anonymous_request(action, locked.object_arn)) == "deny"
        assert (
            locked.verdict(service_request(action, locked.object_arn, "logging.s3.amazonaws.com")) == "deny"
        )

    @pytest.mark.parametrize("action", OBJECT_READS)
    def test_object_reads(self, locked: Locked, action: str) -> None:
        def verdict(principal: str) -> str:
            return locked.verdict(role_request(action, locked.object_arn, principal))

        assert verdict(locked.role_arn("Writer")) == "silent"
        assert verdict(locked.role_arn("Reader")) == "silent"
        for principal in (ADMINISTRATOR, DEPLOYER, ROOT):
            assert verdict(principal) == "deny"
        assert locked.verdict(anonymous_request(action, locked.object_arn)) == "deny"

    @pytest.mark.parametrize("action", CONFIGURATION)
    def test_configuration(self, locked: Locked, action: str) -> None:
        for verdict, bucket in (
            (locked.verdict, locked.bucket_arn),
            (locked.log_verdict, locked.log_bucket_arn),
        ):
            assert verdict(role_request(action, bucket, DEPLOYER)) == "silent"
            for principal in (locked.role_arn("Writer"), locked.role_arn("Reader"), ADMINISTRATOR, ROOT):
                assert verdict(role_request(action, bucket, principal)) == "deny"
            assert verdict(anonymous_request(action, bucket)) == "deny"

    @pytest.mark.parametrize("action", LOOKS)
    def test_looking_stays_with_identity_policies(self, locked: Locked, action: str) -> None:
        for principal in (DEPLOYER, ADMINISTRATOR, locked.role_arn("Reader")):
            assert locked.verdict(role_request(action, locked.bucket_arn, principal)) == "silent"

    def test_without_tls_nobody(self, locked: Locked) -> None:
        for action, resource in (("s3:GetObject", locked.object_arn), ("s3:ListBucket", locked.bucket_arn)):
            request = role_request(action, resource, locked.role_arn("Writer"))
            plain = Request(
                request.action, request.resource, {**request.keys, "aws:SecureTransport": "false"}
            )
            assert locked.verdict(plain) == "deny"

    def test_log_delivery_writes_its_own_logs_only(self, locked: Locked) -> None:
        def deliver(resource: str, account: str, source: str) -> str:
            return locked.log_verdict(
                service_request(
                    "s3:PutObject",
                    resource,
                    "logging.s3.amazonaws.com",
                    SourceAccount=account,
                    SourceArn=source,
                )
            )

        assert deliver(locked.log_object_arn, ACCOUNT, locked.bucket_arn) == "allow"
        assert deliver(locked.log_object_arn, "999988887777", locked.bucket_arn) == "silent"
        assert deliver(locked.log_object_arn, ACCOUNT, "arn:aws:s3:::other") == "silent"
        assert deliver(f"{locked.log_bucket_arn}/elsewhere", ACCOUNT, locked.bucket_arn) == "silent"

    @pytest.mark.parametrize("action", ["s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"])
    def test_nobody_else_writes_logs(self, locked: Locked, action: str) -> None:
        for principal in (locked.role_arn("Writer"), ADMINISTRATOR, DEPLOYER, ROOT):
            assert locked.log_verdict(role_request(action, locked.log_object_arn, principal)) == "deny"
        assert locked.log_verdict(anonymous_request(action, locked.log_object_arn)) == "deny"
        without_key = Request(action, locked.log_object_arn, {"aws:SecureTransport": "true"})
        assert locked.log_verdict(without_key) == "deny"

    def test_every_action_on_buckets_and_objects_is_judged(self, locked: Locked) -> None:
        """Against the Service Authorization Reference in cfn-lint: a new action fails here until judged."""
        reference = json.loads((Path(AdditionalSpecs.__file__).parent / "Policies.json").read_text())
        table = reference["s3"]["Actions"]
        outsider = {
            (action, kind): locked.verdict(
                role_request(
                    f"s3:{action}",
                    locked.object_arn if kind == "object" else locked.bucket_arn,
                    ADMINISTRATOR,
                )
            )
            for action, row in table.items()
            for kind in ("bucket", "object")
            if kind in row.get("Resources", ())
        }
        assert len(outsider) > 100
        open_to_iam = {action for (action, _), verdict in outsider.items() if verdict == "silent"}
        looks = {name for name in open_to_iam if name.startswith(("get", "list"))}
        # Creating is not a matter of a policy that exists, and vended log delivery of the bucket is a look as
        # well.
        assert open_to_iam - looks == {"createbucket", "allowvendedlogdeliveryforresource"}
        assert {kind for (action, kind), verdict in outsider.items() if verdict == "silent"} == {"bucket"}


class TestRoles:
    def statement(self, stack: Stack, sid: str) -> Any:
        locked = Locked(template_of(stack))
        return next(
            found for found in locked.policy(locked.bucket_id)["Statement"] if found.get("Sid") == sid
        )

    @pytest.mark.parametrize("sid", ["DenyObjectWritesExceptWriters", "DenyObjectReadsExceptReaders"])
    def test_without_roles_the_denial_is_unconditional(self, sid: str) -> None:
        stack = Stack(App(), "Training")
        CheckpointBucket(stack, "Checkpoints")
        statement = self.statement(stack, sid)
        assert statement["Effect"] == "Deny"
        assert "Condition" not in statement

    def test_roles_added_later_count(self) -> None:
        stack = Stack(App(), "Training")
        bucket = CheckpointBucket(stack, "Checkpoints", writers=[make_role(stack, "First")])
        bucket.add_writer(make_role(stack, "Second"))
        bucket.add_writer(stack.node.find_child("Second"))  # type: ignore[arg-type]
        statement = self.statement(stack, "DenyObjectWritesExceptWriters")
        arns = statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
        assert [arn.split("/name-")[1].rstrip("0123456789ABCDEF") for arn in arns] == ["First", "Second"]

    def test_roles_added_after_the_policy_was_rendered_are_refused_in_words(self) -> None:
        stack = Stack(App(), "Training")
        checkpoints = CheckpointBucket(stack, "Checkpoints")
        assert isinstance(checkpoints.bucket, s3.Bucket)
        assert checkpoints.bucket.policy is not None
        stack.resolve(checkpoints.bucket.policy.document)
        with pytest.raises(InvalidInputError, match=r"Checkpoints\.writers: cannot change any more"):
            checkpoints.add_writer(make_role(stack))

    def test_reader_writes_nothing(self) -> None:
        stack = Stack(App(), "Training")
        CheckpointBucket(stack, "Checkpoints").grant_read(make_role(stack))
        assert "Condition" not in self.statement(stack, "DenyObjectWritesExceptWriters")
        assert "Condition" in self.statement(stack, "DenyObjectReadsExceptReaders")

    def test_administrators_are_added_to_the_deployer(self) -> None:
        stack = Stack(App(), "Training")
        bucket = CheckpointBucket(
            stack, "Checkpoints", administrators=[iam.Role.from_role_arn(stack, "A", ADMINISTRATOR)]
        )
        bucket.add_administrator(iam.Role.from_role_arn(stack, "B", f"{ADMINISTRATOR}2"))
        statement = self.statement(stack, "DenyConfigurationExceptAdministrators")
        assert statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [
            DEPLOYER,
            ADMINISTRATOR,
            f"{ADMINISTRATOR}2",
        ]

    @pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region=REGION)])
    def test_deployer_has_no_placeholders_left(self, env: Environment | None) -> None:
        stack = Stack(App(context={"@aws-cdk/core:bootstrapQualifier": "mine"}), "Training", env=env)
        CheckpointBucket(stack, "Checkpoints")
        statement = self.statement(stack, "DenyConfigurationExceptAdministrators")
        (arn,) = statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
        assert arn == DEPLOYER.replace("hnb659fds", "mine")

    def test_a_path_of_a_role_is_kept(self) -> None:
        app = App()
        stack = Stack(app, "Training")
        role = make_role(Stack(app, "Other"), path="/training/", role_name="Trainer")
        CheckpointBucket(stack, "Checkpoints", writers=[role])
        statement = self.statement(stack, "DenyObjectWritesExceptWriters")
        assert statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [
            f"arn:aws:iam::{ACCOUNT}:role/training/Trainer"
        ]

    def test_foreign_roles_by_literal_or_token(self) -> None:
        stack = Stack(App(), "Training")
        parameter = CfnParameter(stack, "RoleArn")
        token = iam.Role.from_role_arn(stack, "Token", parameter.value_as_string)
        literal = iam.Role.from_role_arn(stack, "Literal", "arn:aws:iam::444455556666:role/Trainer")
        CheckpointBucket(stack, "Checkpoints", writers=[token, literal])
        statement = self.statement(stack, "DenyObjectWritesExceptWriters")
        assert statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [
            "name-RoleArn",
            "arn:aws:iam::444455556666:role/Trainer",
        ]

    @pytest.mark.parametrize(
        "arn",
        [
            f"arn:aws:iam::{ACCOUNT}:role/*",
            f"arn:aws:iam::{ACCOUNT}:role/Train?r",
            f"arn:aws:iam::{ACCOUNT}:role/${{aws:PrincipalTag/Team}}",
            "arn:aws:iam::*:role/Trainer",
            f"arn:aws:iam::{ACCOUNT}:user/Trainer",
            f"arn:aws:sts::{ACCOUNT}:assumed-role/Trainer/job",
        ],
    )
    @pytest.mark.parametrize("what", ["writers", "readers", "administrators"])
    def test_refuses_what_is_not_the_arn_of_one_role(self, what: str, arn: str) -> None:
        stack = Stack(App(), "Training")
        role = iam.Role.from_role_arn(stack, "Role", arn)
        with pytest.raises(InvalidInputError, match=rf"{what}: needs the ARN of one role .* got '.*:.*/"):
            CheckpointBucket(stack, "Checkpoints", **{what: [role]})  # type: ignore[arg-type]

    def test_refuses_a_wildcard_beside_a_token(self) -> None:
        stack = Stack(App(), "Training")
        for id, name in (("Any", "*"), ("Tagged", "${aws:PrincipalTag/Team}")):
            with pytest.raises(InvalidInputError, match=r"writers: needs the ARN of one role"):
                CheckpointBucket(
                    stack, f"Checkpoints{id}", writers=[iam.Role.from_role_name(stack, id, name)]
                )

    def test_takes_a_role_by_name_and_one_of_single_sign_on(self) -> None:
        stack = Stack(App(), "Training")
        path = "aws-reserved/sso.amazonaws.com/us-west-2/AWSReservedSSO_Admin_0123456789abcdef"
        named = iam.Role.from_role_name(stack, "Named", "Trainer")
        signed_on = iam.Role.from_role_arn(stack, "SignedOn", f"arn:aws-cn:iam::{ACCOUNT}:role/{path}")
        CheckpointBucket(stack, "Checkpoints", writers=[named, signed_on])
        statement = self.statement(stack, "DenyObjectWritesExceptWriters")
        assert statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [
            f"arn:aws:iam::{ACCOUNT}:role/Trainer",
            f"arn:aws-cn:iam::{ACCOUNT}:role/{path}",
        ]

    def test_refuses_a_policy_that_s3_would_not_take(self) -> None:
        def build(roles: int) -> None:
            stack = Stack(App(), "Training")
            bucket = CheckpointBucket(stack, "Checkpoints")
            for number in range(roles):
                arn = f"arn:aws:iam::{ACCOUNT}:role/{'x' * 50}-{number:03}"
                bucket.add_writer(iam.Role.from_role_arn(stack, f"Role{number}", arn))
            template_of(stack)

        build(80)
        with pytest.raises(
            RuntimeError,
            match=r"\[Training/Checkpoints\] needs a bucket policy of at most 20480 bytes.*at least 2\d{4};",
        ):
            build(130)

    def test_grant_to_another_account_is_refused(self) -> None:
        stack = Stack(App(), "Training", env=Environment(account=ACCOUNT, region=REGION))
        bucket = CheckpointBucket(stack, "Checkpoints")
        foreign = iam.Role.from_role_arn(stack, "Foreign", "arn:aws:iam::444455556666:role/Trainer")
        for grant in (bucket.grant_checkpointing, bucket.grant_read):
            with pytest.raises(
                InvalidInputError, match="belongs to account 444455556666 and the bucket to 111122223333"
            ):
                grant(foreign)
        assert "Condition" not in self.statement(stack, "DenyObjectWritesExceptWriters")


@pytest.fixture(scope="module")
def statements() -> list[Any]:
    stack = Stack(App(), "Training")
    grant = CheckpointBucket(stack, "Checkpoints").grant_checkpointing(make_role(stack))
    assert grant.success
    template = template_of(stack)
    _, policy = only(template, "AWS::IAM::Policy")
    found: list[Any] = resolve(policy["Properties"]["PolicyDocument"], template)["Statement"]
    return found


@pytest.mark.parametrize("read_only", [False, True])
def test_a_granted_role_may_nothing_before_the_lock(*, read_only: bool) -> None:
    stack = Stack(App(), "Training")
    bucket = CheckpointBucket(stack, "Checkpoints")
    grant = bucket.grant_read if read_only else bucket.grant_checkpointing
    grant(make_role(stack))
    grant(ExecutionRole(stack, "Nodes"))
    template = template_of(stack)
    (lock,) = (
        name
        for name, policy in resources(template, "AWS::S3::BucketPolicy").items()
        if "Logs" not in policy["Properties"]["Bucket"]["Ref"]
    )
    for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
        _, policy = only(template, kind)
        assert lock in policy["DependsOn"]


def test_nodes_wait_for_the_lock_of_the_bucket_that_their_role_writes() -> None:
    stack = Stack(App(), "Training")
    role = ExecutionRole(stack, "Nodes", checkpoint_bucket=CheckpointBucket(stack, "Checkpoints"))
    cluster = CfnResource(stack, "Cluster", type="AWS::SageMaker::Cluster")
    cluster.node.add_dependency(role)
    template = template_of(stack)
    name, policy = only(template, "AWS::IAM::ManagedPolicy")
    assert name in resources(template, "AWS::SageMaker::Cluster")["Cluster"]["DependsOn"]
    assert any(other in resources(template, "AWS::S3::BucketPolicy") for other in policy["DependsOn"])


class TestGrant:
    def test_allows_exactly_what_the_library_does(self, statements: list[Any]) -> None:
        on_bucket, on_objects, on_key = statements
        actions = [*on_bucket["Action"], *on_objects["Action"]]
        assert sorted(actions) == sorted(TIERED_CHECKPOINTING_ACTIONS)
        assert sorted(on_key["Action"]) == ["kms:Decrypt", "kms:GenerateDataKey"]

    def test_scopes_bucket_and_object_actions_to_their_own_resource(self, statements: list[Any]) -> None:
        on_bucket, on_objects, on_key = statements
        assert on_objects["Resource"] == f"{on_bucket['Resource']}/*"
        assert "key/" in on_key["Resource"]

    def test_is_pinned_to_the_account(self, statements: list[Any]) -> None:
        for statement in statements[:2]:
            assert statement["Condition"] == {"StringEquals": {"s3:ResourceAccount": ACCOUNT}}

    def test_uses_the_key_through_s3_only(self, statements: list[Any]) -> None:
        assert statements[2]["Condition"] == {"StringLike": {"kms:ViaService": f"s3.{REGION}.*"}}


def one_stack_role_first(app: App) -> None:
    stack = Stack(app, "Training")
    role = make_role(stack)
    CheckpointBucket(stack, "Checkpoints").grant_checkpointing(role)


def one_stack_bucket_first(app: App) -> None:
    stack = Stack(app, "Training")
    bucket = CheckpointBucket(stack, "Checkpoints")
    bucket.grant_checkpointing(make_role(stack))


def role_in_the_constructor_then_granted(app: App) -> None:
    stack = Stack(app, "Training")
    role = make_role(stack)
    CheckpointBucket(stack, "Checkpoints", writers=[role]).grant_checkpointing(role)


def key_policy_names_the_role(app: App) -> None:
    stack = Stack(app, "Training")
    key = kms.Key(stack, "Key")
    role = make_role(stack)
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[role], actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=["*"]
        )
    )
    CheckpointBucket(stack, "Checkpoints", kms_key=key).grant_checkpointing(role)


def role_with_inline_policy_on_bucket_and_key(app: App) -> None:
    stack = Stack(app, "Training")
    bucket = CheckpointBucket(stack, "Checkpoints")
    assert bucket.key is not None
    statement = iam.PolicyStatement(
        actions=["s3:GetObject"], resources=[bucket.bucket.arn_for_objects("*"), bucket.key.key_arn]
    )
    role = make_role(stack, inline_policies={"Read": iam.PolicyDocument(statements=[statement])})
    bucket.grant_checkpointing(role)


def bucket_nested_role_outside(app: App) -> None:
    stack = Stack(app, "Training")
    role = make_role(stack)
    CheckpointBucket(NestedStack(stack, "Nested"), "Checkpoints").grant_checkpointing(role)


def role_nested_bucket_outside(app: App) -> None:
    stack = Stack(app, "Training")
    CheckpointBucket(stack, "Checkpoints").grant_checkpointing(make_role(NestedStack(stack, "Nested")))  # type: ignore[arg-type]


def named_role_in_another_stack(app: App) -> None:
    role = make_role(Stack(app, "Roles"), role_name="Trainer")
    CheckpointBucket(Stack(app, "Training"), "Checkpoints").grant_checkpointing(role)


def bucket_stack_first_named_role_in_another(app: App) -> None:
    bucket = CheckpointBucket(Stack(app, "Training"), "Checkpoints")
    bucket.grant_checkpointing(make_role(Stack(app, "Roles"), role_name="Trainer"))


def in_a_stage(app: App) -> None:
    stage = Stage(app, "Prod", env=Environment(account=ACCOUNT, region=REGION))
    stack = Stack(stage, "Training")
    CheckpointBucket(stack, "Checkpoints").grant_checkpointing(make_role(stack))


ORDERS = [
    one_stack_role_first,
    one_stack_bucket_first,
    role_in_the_constructor_then_granted,
    key_policy_names_the_role,
    role_with_inline_policy_on_bucket_and_key,
    bucket_nested_role_outside,
    role_nested_bucket_outside,
    named_role_in_another_stack,
    bucket_stack_first_named_role_in_another,
    in_a_stage,
]


@pytest.mark.parametrize("build", ORDERS)
def test_no_order_of_construction_makes_a_circle(build: Callable[[App], None], tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    build(app)
    app.synth()
    templates = list(tmp_path.rglob("*.template.json"))
    assert templates
    for template in templates:
        assert circles(json.loads(template.read_text())) == []


def test_the_circle_detector_detects() -> None:
    def depends(on: str) -> dict[str, Any]:
        return {"Type": "X", "Properties": {"P": {"Fn::GetAtt": [on, "Arn"]}}}

    assert circles({"Resources": {"A": depends("B"), "B": depends("A")}}) == ["A"]


def circles(template: Template) -> list[str]:
    """Logical ids from which a resource leads back to itself through references; the first of each circle."""
    names = set(template.get("Resources", {}))
    edges = {name: references(resource) & names for name, resource in template.get("Resources", {}).items()}
    found: list[str] = []
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            found.append(name)
        elif name not in done:
            for target in edges[name]:
                visit(target, (*trail, name))
            done.add(name)

    for name in edges:
        visit(name, ())
    return found


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value), set())
    if not isinstance(value, dict):
        return set()
    own: set[str] = set()
    if "Ref" in value:
        own.add(value["Ref"])
    if "Fn::GetAtt" in value:
        own.add(value["Fn::GetAtt"][0])
    depends = value.get("DependsOn", [])
    own.update([depends] if isinstance(depends, str) else depends)
    return own.union(*map(references, value.values()))


def test_unnamed_role_of_another_stack_is_refused() -> None:
    app = App()
    role = make_role(Stack(app, "Roles"))
    bucket = CheckpointBucket(Stack(app, "Training"), "Checkpoints")
    for what, list_role in (
        ("writers", bucket.add_writer),
        ("readers", bucket.add_reader),
        ("administrators", bucket.add_administrator),
        ("writers", bucket.grant_checkpointing),
    ):
        with pytest.raises(
            InvalidInputError, match=rf"\.{what}: role 'Roles/Trainer' lives in another stack .* role_name"
        ):
            list_role(role)


@pytest.mark.parametrize("synthesizer", [CliCredentialsStackSynthesizer, LegacyStackSynthesizer])
def test_administrators_are_required_where_no_deployer_is_named(synthesizer: Callable[[], Any]) -> None:
    stack = Stack(App(), "Training", synthesizer=synthesizer())
    message = r"Checkpoints\w*\.administrators: the stack's synthesizer names no role .* pass administrators="
    for number, administrators in enumerate([None, []]):
        with pytest.raises(InvalidInputError, match=message):
            CheckpointBucket(stack, f"Checkpoints{number}", administrators=administrators)


@pytest.mark.parametrize(
    "synthesizer",
    [
        CliCredentialsStackSynthesizer,
        LegacyStackSynthesizer,
        DefaultStackSynthesizer,
        BootstraplessSynthesizer,
    ],
)
def test_any_synthesizer_works_with_administrators(synthesizer: Callable[[], Any]) -> None:
    stack = Stack(App(), "Training", synthesizer=synthesizer())
    CheckpointBucket(
        stack, "Checkpoints", administrators=[iam.Role.from_role_arn(stack, "Admin", ADMINISTRATOR)]
    )
    locked = Locked(template_of(stack))
    for verdict, bucket in ((locked.verdict, locked.bucket_arn), (locked.log_verdict, locked.log_bucket_arn)):
        assert verdict(role_request("s3:PutBucketPolicy", bucket, ADMINISTRATOR)) == "silent"
        outsider = f"{ADMINISTRATOR}2"
        assert verdict(role_request("s3:PutBucketPolicy", bucket, outsider)) == "deny"


MINE = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/deploys-${Qualifier}-${AWS::Region}"


@pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region=REGION)])
@pytest.mark.parametrize(
    ("synthesizer", "deployer"),
    [
        (DefaultStackSynthesizer(), DEPLOYER),
        (DefaultStackSynthesizer(qualifier="mine"), DEPLOYER.replace("hnb659fds", "mine")),
        (
            DefaultStackSynthesizer(qualifier="mine", cloud_formation_execution_role=MINE),
            f"arn:aws:iam::{ACCOUNT}:role/deploys-mine-{REGION}",
        ),
        (BootstraplessSynthesizer(), DEPLOYER),
        (
            BootstraplessSynthesizer(cloud_formation_execution_role_arn="arn:aws:iam::444455556666:role/X"),
            "arn:aws:iam::444455556666:role/X",
        ),
    ],
)
@pytest.mark.parametrize("given_to", ["stack", "app"])
def test_deployer_of_a_synthesizer_made_in_python(
    synthesizer: Any, deployer: str, env: Environment | None, given_to: str, tmp_path: Path
) -> None:
    """The same object serves several stacks, of this test and of all others."""
    if given_to == "stack":
        app = App(outdir=str(tmp_path))
        stack = Stack(app, "Training", env=env, synthesizer=synthesizer)
    else:
        app = App(outdir=str(tmp_path), default_stack_synthesizer=synthesizer)
        stack = Stack(app, "Training", env=env)
    CheckpointBucket(stack, "Checkpoints")
    locked = Locked(template_of(stack))
    for verdict, bucket in ((locked.verdict, locked.bucket_arn), (locked.log_verdict, locked.log_bucket_arn)):
        assert verdict(role_request("s3:PutBucketPolicy", bucket, deployer)) == "silent"
        assert verdict(role_request("s3:PutBucketPolicy", bucket, ADMINISTRATOR)) == "deny"


def test_asking_a_synthesizer_leaves_no_trace(tmp_path: Path) -> None:
    def synthesize(name: str, ask: bool) -> list[str]:
        app = App(outdir=str(tmp_path / name), default_stack_synthesizer=DefaultStackSynthesizer())
        first, second = Stack(app, "First"), Stack(app, "Second")
        for stack in (first, second):
            if ask:
                CheckpointBucket(stack, "Checkpoints")
            else:
                s3.Bucket(stack, f"Bucket{stack.stack_name}")
        app.synth()
        return sorted(path.name for path in (tmp_path / name).iterdir()) + [
            file["source"]["path"]
            for path in sorted((tmp_path / name).glob("*.assets.json"))
            for file in json.loads(path.read_text())["files"].values()
        ]

    assert synthesize("asked", True) == synthesize("not-asked", False)


class TestForeignBucket:
    def test_says_what_it_cannot_protect(self) -> None:
        stack = Stack(App(), "Training")
        CheckpointBucket.from_bucket(
            stack, "Checkpoints", bucket=s3.Bucket.from_bucket_name(stack, "B", "sagemaker-theirs")
        )
        messages = [
            entry.data
            for entry in stack.node.find_child("Checkpoints").node.metadata
            if entry.type == "aws:cdk:warning"
        ]
        assert len(messages) == 1
        assert "whoever writes checkpoints runs code" in str(messages[0])
        assert FOREIGN_BUCKET_WARNING in str(messages[0])

    def test_grants_all_the_same(self) -> None:
        stack = Stack(App(), "Training")
        key = kms.Key.from_key_arn(stack, "K", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/abc")
        bucket = CheckpointBucket.from_bucket(
            stack,
            "Checkpoints",
            bucket=s3.Bucket.from_bucket_name(stack, "B", "sagemaker-theirs"),
            kms_key=key,
        )
        bucket.grant_checkpointing(make_role(stack))
        template = template_of(stack)
        _, policy = only(template, "AWS::IAM::Policy")
        statements = resolve(policy["Properties"]["PolicyDocument"], template)["Statement"]
        assert [statement["Resource"] for statement in statements] == [
            "arn:aws:s3:::sagemaker-theirs",
            "arn:aws:s3:::sagemaker-theirs/*",
            f"arn:aws:kms:{REGION}:{ACCOUNT}:key/abc",
        ]
        assert not resources(template, "AWS::S3::BucketPolicy")

    def test_lists_nobody(self) -> None:
        stack = Stack(App(), "Training")
        bucket = CheckpointBucket.from_bucket(
            stack, "Checkpoints", bucket=s3.Bucket.from_bucket_name(stack, "B", "sagemaker-theirs")
        )
        role = make_role(stack)
        for what, list_role in (
            ("writer", bucket.add_writer),
            ("reader", bucket.add_reader),
            ("administrator", bucket.add_administrator),
        ):
            with pytest.raises(InvalidInputError, match=f"cannot list role 'Training/Trainer' as {what}"):
                list_role(role)


@pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region=REGION)])
def test_feature_flags_change_nothing(env: Environment | None) -> None:
    def build(context: dict[str, Any]) -> Template:
        stack = Stack(App(context=context), "Training", env=env)
        bucket = CheckpointBucket(stack, "Checkpoints", readers=[make_role(stack, "Reader")])
        bucket.add_writer(make_role(stack, "Writer"))
        CfnOutput(stack, "Name", value=bucket.bucket.bucket_name)
        return template_of(stack)

    flags = recommended_feature_flags()
    assert len(flags) > 50
    assert build({}) == build(flags)


def test_cloudformation_accepts_the_template(locked: Locked) -> None:
    assert lint(locked.template) == []
