from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, NestedStack, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from policy_evaluator import ACCOUNT, REGION, Request, evaluate, resolve
from stacks import Template, lint, only, recommended_feature_flags, resources, template_of

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_model.catalog.iam import (
    CREATE_TAGS_ACTION,
    ECR_ACTIONS,
    EKS_ACTIONS,
    EKS_AUTH_ACTIONS,
    SLURM_VPC_ACTIONS,
    TIERED_CHECKPOINTING_ACTIONS,
)
from hyperpod_model.faults import InvalidInputError

SUBNET = "subnet-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def network(scope: Stack) -> dict[str, Any]:
    subnet = ec2.Subnet.from_subnet_attributes(scope, "Subnet", subnet_id=SUBNET, route_table_id="rtb-1")
    group = ec2.SecurityGroup.from_security_group_id(scope, "Group", GROUP)
    return {"subnets": [subnet], "security_groups": [group]}


def eks_cluster(scope: Stack) -> Any:
    return eks.Cluster.from_cluster_attributes(scope, "Eks", cluster_name="training")


def permissions(template: Template) -> Any:
    _, policy = only(template, "AWS::IAM::ManagedPolicy")
    return resolve(policy["Properties"]["PolicyDocument"], template)


def actions(document: Any) -> set[str]:
    found: set[str] = set()
    for statement in document["Statement"]:
        named = statement["Action"]
        found.update([named] if isinstance(named, str) else named)
    return found


def interface(account: str = ACCOUNT, region: str = REGION) -> str:
    return f"arn:aws:ec2:{region}:{account}:network-interface/eni-1"


@pytest.fixture(scope="module")
def everything() -> Template:
    stack = Stack(App(), "Training")
    ExecutionRole(
        stack,
        "Role",
        **network(stack),
        lifecycle_scripts=LifecycleScripts(stack, "Scripts"),
        checkpoint_bucket=CheckpointBucket(stack, "Checkpoints"),
        volume_keys=[kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/volumes")],
        image_repositories=[ecr.Repository.from_repository_name(stack, "Images", "training")],
        describe_file_systems=True,
    )
    return template_of(stack)


@pytest.fixture(scope="module")
def in_vpc() -> Any:
    stack = Stack(App(), "Training")
    ExecutionRole(stack, "Role", **network(stack))
    return permissions(template_of(stack))


class TestRole:
    def test_trusts_sagemaker_and_nobody_else(self, everything: Template) -> None:
        role = next(
            role for name, role in resources(everything, "AWS::IAM::Role").items() if name.startswith("Role")
        )
        assert role["Properties"]["AssumeRolePolicyDocument"]["Statement"] == [
            {
                "Action": "sts:AssumeRole",
                "Effect": "Allow",
                "Principal": {"Service": "sagemaker.amazonaws.com"},
            }
        ]
        assert resolve(role["Properties"]["ManagedPolicyArns"], everything) == [
            "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
        ]

    def test_holds_nothing_inline(self, everything: Template) -> None:
        for name, role in resources(everything, "AWS::IAM::Role").items():
            if name.startswith("Role"):
                assert "Policies" not in role["Properties"]
        assert not any(
            {"Ref": name} in policy["Properties"]["Roles"]
            for policy in resources(everything, "AWS::IAM::Policy").values()
            for name in resources(everything, "AWS::IAM::Role")
            if name.startswith("Role")
        )

    def test_alone_it_has_the_managed_policy_only(self) -> None:
        stack = Stack(App(), "Training")
        role = ExecutionRole(stack, "Role")
        assert role.permissions is None
        assert not resources(template_of(stack), "AWS::IAM::ManagedPolicy")

    def test_grants_of_any_construct_are_attached(self) -> None:
        stack = Stack(App(), "Training")
        role = ExecutionRole(stack, "Role")
        grant = s3.Bucket(stack, "Data").grant_read(role)
        assert grant.success
        template = template_of(stack)
        assert "s3:GetObject*" in actions(permissions(template))
        assert not resources(template, "AWS::IAM::Policy")

    def test_refuses_more_than_iam_accepts(self) -> None:
        def build(grants: int) -> None:
            stack = Stack(App(), "Training")
            role = ExecutionRole(stack, "Role")
            for number in range(grants):
                name = f"a-bucket-of-another-team-with-a-long-name-{number}"
                s3.Bucket.from_bucket_name(stack, name, name).grant_read_write(role)
            template_of(stack)

        build(12)
        with pytest.raises(
            RuntimeError, match=r"\[Training/Role\] needs a policy of at most 6144 characters.*got at"
        ):
            build(20)

    def test_refuses_another_orchestrator(self) -> None:
        with pytest.raises(
            InvalidInputError, match=r"Training/Role\.orchestrator: must be 'slurm' or 'eks', got 'nomad'"
        ):
            ExecutionRole(Stack(App(), "Training"), "Role", orchestrator="nomad")

    def test_pod_identity_goes_with_eks(self) -> None:
        stack = Stack(App(), "Training")
        with pytest.raises(
            InvalidInputError, match=r"pod_identity_cluster: goes with orchestrator 'eks' only"
        ):
            ExecutionRole(stack, "Role", pod_identity_cluster=eks_cluster(stack))

    def test_refuses_what_is_no_repository(self) -> None:
        with pytest.raises(InvalidInputError, match=r"image_repositories\[0\]: must be an ECR repository"):
            ExecutionRole(Stack(App(), "Training"), "Role", image_repositories=["training"])  # type: ignore[list-item]

    @pytest.mark.parametrize(
        ("given", "missing"), [("subnets", "security_groups"), ("security_groups", "subnets")]
    )
    def test_refuses_half_a_network(self, given: str, missing: str) -> None:
        stack = Stack(App(), "Training")
        with pytest.raises(
            InvalidInputError, match=rf"Role\.{missing}: needed together with {given}, got none"
        ):
            ExecutionRole(stack, "Role", **{given: network(stack)[given]})

    def test_takes_tokens(self) -> None:
        stack = Stack(App(), "Training")
        parameter = CfnParameter(stack, "SubnetId")
        subnet = ec2.Subnet.from_subnet_attributes(
            stack, "Subnet", subnet_id=parameter.value_as_string, route_table_id="rtb-1"
        )
        group = ec2.SecurityGroup.from_security_group_id(stack, "Group", GROUP)
        ExecutionRole(stack, "Role", subnets=[subnet], security_groups=[group])
        assert f"arn:aws:ec2:{REGION}:*:subnet/name-SubnetId" in str(permissions(template_of(stack)))


class TestNetwork:
    def test_is_exactly_what_is_documented(self, in_vpc: Any) -> None:
        assert actions(in_vpc) == {action.name for action in SLURM_VPC_ACTIONS} | {CREATE_TAGS_ACTION.name}

    def test_only_looking_takes_any_resource(self, in_vpc: Any) -> None:
        for statement in in_vpc["Statement"]:
            if statement["Resource"] == "*":
                assert all(action.startswith("ec2:Describe") for action in statement["Action"])

    @pytest.mark.parametrize(
        ("resource", "verdict"),
        [
            (interface(), "allow"),
            (f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/{SUBNET}", "allow"),
            (f"arn:aws:ec2:{REGION}:444455556666:subnet/{SUBNET}", "allow"),
            (f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/{GROUP}", "allow"),
            (f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/subnet-other", "silent"),
            (f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/sg-other", "silent"),
            (f"arn:aws:ec2:eu-west-1:{ACCOUNT}:subnet/{SUBNET}", "silent"),
            (interface("444455556666"), "silent"),
        ],
    )
    def test_creates_interfaces_in_its_subnets_with_its_groups(
        self, in_vpc: Any, resource: str, verdict: str
    ) -> None:
        assert evaluate(in_vpc, Request("ec2:CreateNetworkInterface", resource)) == verdict

    @pytest.mark.parametrize(("subnet", "verdict"), [(SUBNET, "allow"), ("subnet-other", "silent")])
    def test_permits_interfaces_of_its_subnets(self, in_vpc: Any, subnet: str, verdict: str) -> None:
        keys = {"ec2:Subnet": f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/{subnet}"}
        assert evaluate(in_vpc, Request("ec2:CreateNetworkInterfacePermission", interface(), keys)) == verdict

    @pytest.mark.parametrize(
        ("action", "resource", "verdict"),
        [
            ("ec2:DetachNetworkInterface", interface(), "allow"),
            ("ec2:DetachNetworkInterface", f"arn:aws:ec2:{REGION}:999999999999:instance/i-1", "allow"),
            ("ec2:DeleteNetworkInterface", interface(), "allow"),
            ("ec2:DeleteNetworkInterface", interface("444455556666"), "silent"),
            ("ec2:CreateTags", interface(), "allow"),
            ("ec2:CreateTags", f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/i-1", "silent"),
            ("ec2:AssignPrivateIpAddresses", interface(), "silent"),
        ],
    )
    def test_the_rest_reaches_interfaces(self, in_vpc: Any, action: str, resource: str, verdict: str) -> None:
        assert evaluate(in_vpc, Request(action, resource)) == verdict


@pytest.fixture(scope="module")
def on_eks() -> Template:
    stack = Stack(App(), "Training")
    ExecutionRole(
        stack, "Role", orchestrator="eks", **network(stack), pod_identity_cluster=eks_cluster(stack)
    )
    return template_of(stack)


class TestEks:
    def test_is_exactly_what_is_documented(self, on_eks: Template) -> None:
        documented = (*EKS_ACTIONS, *ECR_ACTIONS, *EKS_AUTH_ACTIONS, CREATE_TAGS_ACTION)
        assert actions(permissions(on_eks)) == {action.name for action in documented}

    def test_only_looking_and_logging_in_take_any_resource(self, on_eks: Template) -> None:
        for statement in permissions(on_eks)["Statement"]:
            if statement["Resource"] == "*":
                named = statement["Action"]
                for action in [named] if isinstance(named, str) else named:
                    assert action.startswith("ec2:Describe") or action == "ecr:GetAuthorizationToken"

    def test_pod_identity_is_for_one_cluster_and_only_when_asked(self, on_eks: Template) -> None:
        action = "eks-auth:AssumeRoleForPodIdentity"
        for name, verdict in (("training", "allow"), ("other", "silent")):
            arn = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{name}"
            assert evaluate(permissions(on_eks), Request(action, arn)) == verdict
        stack = Stack(App(), "Training")
        ExecutionRole(stack, "Role", orchestrator="eks", **network(stack))
        assert action not in actions(permissions(template_of(stack)))

    @pytest.mark.parametrize(
        ("action", "resource", "verdict"),
        [
            ("ec2:AssignPrivateIpAddresses", interface(), "allow"),
            ("ec2:UnassignPrivateIpAddresses", interface(), "allow"),
            ("ec2:AssignPrivateIpAddresses", interface("444455556666"), "silent"),
            ("ec2:AttachNetworkInterface", interface(), "allow"),
            ("ec2:AttachNetworkInterface", f"arn:aws:ec2:{REGION}:999999999999:instance/i-1", "allow"),
            ("ec2:ModifyNetworkInterfaceAttribute", interface(), "allow"),
            (
                "ec2:ModifyNetworkInterfaceAttribute",
                f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/{GROUP}",
                "allow",
            ),
            (
                "ec2:ModifyNetworkInterfaceAttribute",
                f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/sg-other",
                "silent",
            ),
            ("ec2:CreateNetworkInterface", f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/{SUBNET}", "allow"),
            ("ec2:CreateNetworkInterface", f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/subnet-other", "silent"),
            ("ec2:CreateTags", interface(), "allow"),
            ("ec2:CreateTags", f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/i-1", "silent"),
        ],
    )
    def test_interfaces(self, on_eks: Template, action: str, resource: str, verdict: str) -> None:
        assert evaluate(permissions(on_eks), Request(action, resource)) == verdict

    def test_images_come_from_anywhere(self, on_eks: Template) -> None:
        for account in (ACCOUNT, "602401143452"):
            repository = f"arn:aws:ecr:us-east-1:{account}:repository/eks/coredns"
            assert evaluate(permissions(on_eks), Request("ecr:BatchGetImage", repository)) == "allow"

    @pytest.mark.parametrize(
        ("account", "name", "verdict"),
        [
            (ACCOUNT, "training", "allow"),
            (ACCOUNT, "payroll", "silent"),
            ("602401143452", "eks/coredns", "allow"),
        ],
    )
    def test_images_of_the_account_are_those_given(self, account: str, name: str, verdict: str) -> None:
        stack = Stack(App(), "Training")
        ExecutionRole(
            stack,
            "Role",
            orchestrator="eks",
            **network(stack),
            image_repositories=[ecr.Repository.from_repository_name(stack, "Images", "training")],
        )
        keys = {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": account}
        repository = f"arn:aws:ecr:{REGION}:{account}:repository/{name}"
        request = Request("ecr:BatchGetImage", repository, keys)
        assert evaluate(permissions(template_of(stack)), request) == verdict

    def test_needs_a_network(self) -> None:
        with pytest.raises(
            InvalidInputError, match=r"Role\.subnets: are required with orchestrator 'eks', tog"
        ):
            ExecutionRole(Stack(App(), "Training"), "Role", orchestrator="eks")

    def test_never_writes_checkpoints(self) -> None:
        stack = Stack(App(), "Training")
        checkpoints = CheckpointBucket(stack, "Checkpoints")
        with pytest.raises(
            InvalidInputError,
            match=r"checkpoint_bucket: is refused with orchestrator 'eks': every pod on the host",
        ):
            ExecutionRole(stack, "Role", orchestrator="eks", **network(stack), checkpoint_bucket=checkpoints)
        subnet = ec2.Subnet.from_subnet_id(stack, "Other", SUBNET)
        group = ec2.SecurityGroup.from_security_group_id(stack, "OtherGroup", GROUP)
        role = ExecutionRole(stack, "Nodes", orchestrator="eks", subnets=[subnet], security_groups=[group])
        imported = CheckpointBucket.from_bucket(
            stack, "Imported", bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-mine")
        )
        for grant in (checkpoints.add_writer, checkpoints.grant_checkpointing, imported.grant_checkpointing):
            with pytest.raises(
                InvalidInputError, match=r"cannot make 'Training/Nodes' a writer: it is the role of"
            ):
                grant(role)
        assert role.permissions is not None
        assert "s3:PutObject" not in actions(permissions(template_of(stack)))

    def test_fits_a_managed_policy_and_cloudformation_accepts_it(self, on_eks: Template) -> None:
        assert len(str(permissions(on_eks)).replace(" ", "")) < 6144
        assert lint(on_eks) == []


class TestOptions:
    def test_volume_keys_are_granted_to_the_service_only(self, everything: Template) -> None:
        document = permissions(everything)
        key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/volumes"
        through = {"kms:ViaService": f"sagemaker.{REGION}.amazonaws.com", "kms:GrantIsForAWSResource": "true"}
        assert evaluate(document, Request("kms:CreateGrant", key, through)) == "allow"
        assert (
            evaluate(document, Request("kms:CreateGrant", key, {**through, "kms:ViaService": "ec2"}))
            == "silent"
        )
        assert (
            evaluate(
                document, Request("kms:CreateGrant", key, {**through, "kms:GrantIsForAWSResource": "false"})
            )
            == "silent"
        )
        assert evaluate(document, Request("kms:DescribeKey", key)) == "allow"
        assert not any("EncryptionContext" in str(statement) for statement in document["Statement"])

    def test_images_come_from_the_given_repositories(self, everything: Template) -> None:
        document = permissions(everything)
        for name, verdict in (("training", "allow"), ("other", "silent")):
            repository = f"arn:aws:ecr:{REGION}:{ACCOUNT}:repository/{name}"
            assert evaluate(document, Request("ecr:BatchGetImage", repository)) == verdict
        assert evaluate(document, Request("ecr:GetAuthorizationToken", "*")) == "allow"

    def test_file_systems_are_described_on_request(self, everything: Template, in_vpc: Any) -> None:
        request = Request("fsx:DescribeFileSystems", "*")
        assert evaluate(permissions(everything), request) == "allow"
        assert evaluate(in_vpc, request) == "silent"

    def test_checkpoints_are_written(self, everything: Template) -> None:
        assert set(TIERED_CHECKPOINTING_ACTIONS) <= actions(permissions(everything))

    def test_scripts_are_read_and_never_written(self, everything: Template) -> None:
        scripts = next(
            name
            for name in resources(everything, "AWS::S3::Bucket")
            if name.startswith("Scripts") and "Access" not in name
        )
        keys = {"s3:ResourceAccount": ACCOUNT}
        script = f"arn:aws:s3:::name-{scripts}/lifecycle-scripts/abc/on_init_complete.sh"
        document = permissions(everything)
        assert evaluate(document, Request("s3:GetObject", script, keys)) == "allow"
        assert (
            evaluate(document, Request("s3:GetObject", script, {"s3:ResourceAccount": "999988887777"}))
            == "silent"
        )
        assert evaluate(document, Request("s3:PutObject", script, keys)) == "silent"

    def test_fits_a_managed_policy(self, everything: Template) -> None:
        assert len(str(permissions(everything)).replace(" ", "")) < 6144

    def test_cloudformation_accepts_the_template(self, everything: Template) -> None:
        # W3005 is the CDK's own: the function of an upload depends on its role twice.
        assert [finding for finding in lint(everything) if not finding.startswith("W3005")] == []


def test_key_may_name_the_role_without_a_circle() -> None:
    stack = Stack(App(), "Training")
    key = kms.Key(stack, "Key")
    role = ExecutionRole(stack, "Role", volume_keys=[key])
    key.add_to_resource_policy(
        iam.PolicyStatement(principals=[role], actions=["kms:DescribeKey"], resources=["*"])
    )
    CheckpointBucket(stack, "Checkpoints", kms_key=key).grant_checkpointing(role)
    template = template_of(stack)
    assert [finding for finding in lint(template) if "E3004" in finding] == []
    assert "Roles" in only(template, "AWS::IAM::ManagedPolicy")[1]["Properties"]


def test_works_in_a_nested_stack() -> None:
    stack = Stack(App(), "Training")
    nested = NestedStack(stack, "Nested")
    role = ExecutionRole(nested, "Role")
    CheckpointBucket(stack, "Checkpoints").grant_checkpointing(role)
    assert resources(template_of(stack), "AWS::CloudFormation::Stack")


@pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region=REGION)])
def test_feature_flags_change_nothing(env: Environment | None) -> None:
    def build(context: dict[str, Any]) -> Template:
        stack = Stack(App(context=context), "Training", env=env)
        key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/volumes")
        ExecutionRole(
            stack,
            "Role",
            **network(stack),
            checkpoint_bucket=CheckpointBucket(stack, "Checkpoints"),
            volume_keys=[key],
            describe_file_systems=True,
        )
        return template_of(stack)

    assert build({}) == build(recommended_feature_flags())
