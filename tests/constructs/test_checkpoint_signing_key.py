from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, LegacyStackSynthesizer, Stack, assertions
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from policy_evaluator import evaluate, resolve, role_request
from stacks import template_of

from hyperpod_constructs.checkpoint_signing_key import FOREIGN_KEY_WARNING, CheckpointSigningKey
from hyperpod_constructs.hyperpod_stack import HyperPodStack
from hyperpod_constructs.training_pod_role import TrainingPodRole
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy import review

ACCOUNT = "111122223333"
ENV = Environment(account=ACCOUNT, region="us-west-2")
READER, SIGNER = f"arn:aws:iam::{ACCOUNT}:role/Reader", f"arn:aws:iam::{ACCOUNT}:role/Signer"


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Training", env=ENV)


def role(stack: Stack, id: str) -> iam.Role:
    return iam.Role(stack, id, assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))


def key_of(template: dict[str, Any]) -> dict[str, Any]:
    """The one HMAC key."""
    found = [
        resource
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::KMS::Key" and resource["Properties"].get("KeySpec") == "HMAC_256"
    ]
    (key,) = found
    return dict(key)


def statements(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {said["Sid"]: said for said in key_of(template)["Properties"]["KeyPolicy"]["Statement"]}


def allowed(template: dict[str, Any]) -> dict[str, list[str]]:
    """KMS actions on the HMAC key that policies of their own allow, by the role's logical id."""
    found: dict[str, list[str]] = {}
    for resource in template["Resources"].values():
        if resource["Type"] not in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
            continue
        for said in resource["Properties"]["PolicyDocument"]["Statement"]:
            actions = said["Action"] if isinstance(said["Action"], list) else [said["Action"]]
            macs = [action for action in actions if action.endswith("Mac")]
            if macs:
                assert "Signing" in json.dumps(said["Resource"])
                for attached in resource["Properties"]["Roles"]:
                    found[attached["Ref"]] = sorted(macs)
    return found


def test_key(stack: Stack) -> None:
    CheckpointSigningKey(stack, "Signing")
    key = key_of(template_of(stack))
    assert key["Properties"]["KeyUsage"] == "GENERATE_VERIFY_MAC"
    assert "EnableKeyRotation" not in key["Properties"], "KMS refuses it for HMAC keys"
    assert (key["DeletionPolicy"], key["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_nobody_signs_until_somebody_is_listed(stack: Stack) -> None:
    CheckpointSigningKey(stack, "Signing")
    denial = statements(template_of(stack))["DenySigningExceptSigners"]
    assert denial == {
        "Sid": "DenySigningExceptSigners",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "kms:GenerateMac",
        "Resource": "*",
    }


def test_signers_sign_and_verifiers_verify(stack: Stack) -> None:
    signing = CheckpointSigningKey(stack, "Signing")
    trainer, evaluator = role(stack, "Trainer"), role(stack, "Evaluator")
    signing.grant_sign(trainer)
    signing.grant_verify(evaluator)
    template = template_of(stack)
    names = {
        id[:7]: id for id in template["Resources"] if template["Resources"][id]["Type"] == "AWS::IAM::Role"
    }
    assert allowed(template) == {
        names["Trainer"]: ["kms:GenerateMac", "kms:VerifyMac"],
        names["Evaluat"]: ["kms:VerifyMac"],
    }
    denial = statements(template)["DenySigningExceptSigners"]
    (exempt,) = denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
    assert exempt == {"Fn::GetAtt": [names["Trainer"], "Arn"]}


def test_only_administrators_and_the_root_user_change_the_key(stack: Stack) -> None:
    deployer = iam.Role.from_role_arn(stack, "Deployer", f"arn:aws:iam::{ACCOUNT}:role/Deployer")
    CheckpointSigningKey(stack, "Signing", administrators=[deployer])
    denial = statements(template_of(stack))["DenyConfigurationExceptAdministrators"]
    assert denial["Effect"] == "Deny"
    assert set(denial["Action"]) == {
        "kms:DisableKey",
        "kms:EnableKey",
        "kms:PutKeyPolicy",
        "kms:ScheduleKeyDeletion",
    }
    root_user, cloudformation, listed = denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
    assert json.dumps(root_user).count(":root") == 1
    assert "cfn-exec-role" in json.dumps(cloudformation)
    assert listed == f"arn:aws:iam::{ACCOUNT}:role/Deployer"


@pytest.mark.parametrize(
    ("action", "who", "denied"),
    [
        ("kms:GenerateMac", "role/Signer", False),
        ("kms:VerifyMac", "role/Signer", False),
        ("kms:GenerateMac", "role/Reader", True),
        ("kms:VerifyMac", "role/Reader", False),
        ("kms:GenerateMac", "role/Admin", True),
        ("kms:GenerateMac", "role/Deployer", True),
        ("kms:GenerateMac", "root", True),
        ("kms:PutKeyPolicy", "role/Admin", True),
        ("kms:ScheduleKeyDeletion", "role/Signer", True),
        ("kms:DisableKey", "role/Reader", True),
        ("kms:PutKeyPolicy", "role/Deployer", False),
        ("kms:PutKeyPolicy", "root", False),
        ("kms:DescribeKey", "role/Admin", False),
    ],
)
def test_denials(stack: Stack, action: str, who: str, denied: bool) -> None:
    """What the policy does not deny it leaves to IAM."""
    listed = {
        name: iam.Role.from_role_arn(stack, name, f"arn:aws:iam::{ACCOUNT}:role/{name}")
        for name in ("Signer", "Reader", "Deployer")
    }
    signing = CheckpointSigningKey(stack, "Signing", administrators=[listed["Deployer"]])
    signing.let_existing_roles_sign([listed["Signer"]])
    signing.let_existing_roles_verify([listed["Reader"]])
    template = template_of(stack)
    policy = resolve(key_of(template)["Properties"]["KeyPolicy"], template)
    denials = {"Statement": [one for one in policy["Statement"] if one["Effect"] == "Deny"]}
    request = role_request(action, "*", f"arn:aws:iam::{ACCOUNT}:{who}")
    assert evaluate(denials, request) == ("deny" if denied else "silent")


def test_synthesizer_without_a_role_needs_administrators() -> None:
    stack = Stack(App(), "Training", env=ENV, synthesizer=LegacyStackSynthesizer())
    with pytest.raises(InvalidInputError, match=r"names no role .* pass administrators=\[\.\.\.\]"):
        CheckpointSigningKey(stack, "Signing")
    deployer = iam.Role.from_role_arn(stack, "Deployer", f"arn:aws:iam::{ACCOUNT}:role/Deployer")
    CheckpointSigningKey(stack, "WithDeployer", administrators=[deployer])


def test_existing_roles_are_let_in_by_the_key(stack: Stack) -> None:
    signing = CheckpointSigningKey(stack, "Signing")
    signing.let_existing_roles_sign([iam.Role.from_role_arn(stack, "Signer", SIGNER)])
    signing.let_existing_roles_verify([iam.Role.from_role_arn(stack, "Reader", READER)])
    signing.let_existing_roles_verify([])
    found = statements(template_of(stack))
    assert found["ExistingSigners"]["Principal"] == {"AWS": SIGNER}
    assert set(found["ExistingSigners"]["Action"]) == {"kms:GenerateMac", "kms:VerifyMac"}
    assert (found["ExistingVerifiers"]["Principal"], found["ExistingVerifiers"]["Action"]) == (
        {"AWS": READER},
        "kms:VerifyMac",
    )
    assert found["DenySigningExceptSigners"]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [SIGNER]


def test_role_of_eks_nodes_cannot_sign(stack: Stack) -> None:
    signing = CheckpointSigningKey(stack, "Signing")
    nodes = role(stack, "Nodes")
    nodes.orchestrator = "eks"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInputError, match="it is the role of EKS nodes, which every pod on the host"):
        signing.grant_sign(nodes)
    pods = TrainingPodRole(
        stack,
        "Pods",
        control_plane=eks.Cluster.from_cluster_attributes(stack, "Eks", cluster_name="training"),
        namespace="research",
        service_account="trainer",
    )
    signing.grant_sign(pods)
    assert list(allowed(template_of(stack)).values()) == [["kms:GenerateMac", "kms:VerifyMac"]]


@pytest.mark.parametrize("method", ["grant_sign", "grant_verify"])
def test_role_of_another_account(stack: Stack, method: str) -> None:
    other = iam.Role.from_role_arn(stack, "Other", "arn:aws:iam::444455556666:role/Other")
    with pytest.raises(InvalidInputError, match="belongs to account 444455556666"):
        getattr(CheckpointSigningKey(stack, "Signing"), method)(other)


@pytest.mark.parametrize("argument", ["signers", "administrators"])
def test_arguments_of_another_kind(stack: Stack, argument: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"{argument}\[0\].*a role"):
        CheckpointSigningKey(stack, "Signing", **{argument: [SIGNER]})  # type: ignore[arg-type]


def test_existing_key(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-west-2:{ACCOUNT}:key/1-2-3")
    signing = CheckpointSigningKey.from_key(stack, "Signing", key=key)
    trainer = role(stack, "Trainer")
    signing.grant_sign(trainer)
    signing.let_existing_roles_verify([iam.Role.from_role_arn(stack, "Reader", READER)])
    assertions.Annotations.from_stack(stack).has_warning(
        "*", assertions.Match.string_like_regexp(FOREIGN_KEY_WARNING)
    )
    template = template_of(stack)
    assert "AWS::KMS::Key" not in {resource["Type"] for resource in template["Resources"].values()}
    assert '"kms:GenerateMac"' in json.dumps(template)


CLUSTERS = Path(__file__).parents[2] / "examples" / "clusters"


def synthesized(example: str, **changes: Any) -> dict[str, Any]:
    said = load_cluster(CLUSTERS / example).spec.model_dump(exclude_unset=True)
    spec = ClusterSpec.model_validate({**said, **changes})
    return template_of(HyperPodStack(App(), "HyperPodStack", spec=spec, env=ENV))


def test_stack_makes_none_by_default() -> None:
    template = synthesized("llm-train.yaml")
    assert "HMAC_256" not in json.dumps(template)
    assert "CheckpointSigningKeyArn" not in template["Outputs"]


def test_stack_on_slurm() -> None:
    said = {"verifier_role_arns": [READER]}
    template = synthesized(
        "llm-train.yaml",
        checkpoint_signing_key=said,
        checkpoint_bucket={"reader_role_arns": [READER, SIGNER]},
    )
    (nodes,) = allowed(template)
    assert nodes.startswith("ExecutionRole")
    found = statements(template)
    assert found["ExistingVerifiers"]["Principal"] == {"AWS": [READER, SIGNER]}
    assert "ExistingSigners" not in found
    assert template["Outputs"]["CheckpointSigningKeyArn"]["Value"]["Fn::GetAtt"][0].startswith(
        "CheckpointSigning"
    )
    found_by_review = review(template).findings
    assert [finding for finding in found_by_review if "CheckpointSigningKey" in finding.logical_id] == []


def test_stack_on_slurm_with_existing_roles() -> None:
    example = load_cluster(CLUSTERS / "llm-train.yaml").spec.model_dump(exclude_unset=True)
    groups = [{**group, "execution_role_arn": SIGNER} for group in example["instance_groups"]]
    template = synthesized("llm-train.yaml", checkpoint_signing_key={}, instance_groups=groups)
    found = statements(template)
    assert found["ExistingSigners"]["Principal"] == {"AWS": SIGNER}
    assert found["DenySigningExceptSigners"]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [SIGNER]


@pytest.mark.parametrize(("key", "reached"), [(None, False), ({}, True)])
def test_isolated_nodes_reach_kms_where_they_sign(key: dict[str, Any] | None, reached: bool) -> None:
    network = {"availability_zone_id": "usw2-az2", "isolated": True}
    template = synthesized("llm-train.yaml", network=network, checkpoint_signing_key=key)
    endpoints = json.dumps(
        [one for one in template["Resources"].values() if one["Type"] == "AWS::EC2::VPCEndpoint"]
    )
    assert (".kms" in endpoints) == reached


def test_stack_on_eks() -> None:
    template = synthesized("llm-train-eks.yaml", checkpoint_signing_key={})
    (pods,) = allowed(template)
    assert pods.startswith("TrainingPodRole")


def test_eks_without_pods_could_not_sign() -> None:
    with pytest.raises(ValueError, match="goes with training_pods, whose role signs"):
        synthesized(
            "llm-train-eks.yaml",
            checkpoint_signing_key={},
            training_pods=None,
            tiered_checkpointing=None,
        )


def test_verifiers_are_roles() -> None:
    with pytest.raises(ValueError, match=r"checkpoint_signing_key.verifier_role_arns\[0\].*must be"):
        synthesized("llm-train.yaml", checkpoint_signing_key={"verifier_role_arns": ["Reader"]})
