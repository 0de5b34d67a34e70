from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Fn, NestedStack, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from policy_evaluator import (
    ACCOUNT,
    REGION,
    Request,
    arn_of,
    evaluate,
    evaluate_trust,
    pod_identity_request,
    resolve,
    role_request,
    service_request,
    token_request,
)
from stacks import Template, lint, only, recommended_feature_flags, resources, template_of

from hyperpod_constructs.auto_scaling import AutoScaling
from hyperpod_constructs.autoscaling_role import AutoscalingRole
from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.tiered_checkpointing import TieredCheckpointing
from hyperpod_constructs.training_pod_role import TrainingPodRole
from hyperpod_model.catalog.iam import (
    CLUSTER_INSTANCE_STATEMENTS,
    POD_IDENTITY_TRUST_ACTIONS,
    S3_OBJECT_READ_ACTIONS,
    S3_OBJECT_WRITE_ACTIONS,
    TIERED_CHECKPOINTING_ACTIONS,
)
from hyperpod_model.faults import InvalidInputError

ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
EKS = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/training"
SUBJECT = "system:serviceaccount:research:trainer"
PODS: dict[str, Any] = {"namespace": "research", "service_account": "trainer"}


class ControlPlane:
    """An imported control plane, as far as roles go."""

    cluster_arn = EKS
    issuer = ISSUER


def existing(scope: Stack) -> Any:
    return eks.Cluster.from_cluster_attributes(scope, "Eks", cluster_name="training")


def made(scope: Stack) -> eks.Cluster:
    return eks.Cluster(
        scope,
        "Eks",
        version=eks.KubernetesVersion.V1_33,
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
    )


def one(template: Template, kind: str, prefix: str) -> tuple[str, Any]:
    (found,) = [item for item in resources(template, kind).items() if item[0].startswith(prefix)]
    return found


def trust_of(template: Template, prefix: str) -> Any:
    return resolve(
        one(template, "AWS::IAM::Role", prefix)[1]["Properties"]["AssumeRolePolicyDocument"], template
    )


def permissions_of(template: Template, prefix: str) -> Any:
    return resolve(
        one(template, "AWS::IAM::ManagedPolicy", prefix)[1]["Properties"]["PolicyDocument"], template
    )


class TestPodIdentity:
    @pytest.fixture(scope="class")
    @classmethod
    def template(cls) -> Template:
        stack = Stack(App(), "Training", env=Environment(account=ACCOUNT, region=REGION))
        role = TrainingPodRole(stack, "Role", control_plane=existing(stack), **PODS)
        assert (role.namespace, role.service_account) == ("research", "trainer")
        assert role.permissions is None
        assert role.service_account_annotations == {}
        return template_of(stack)

    @pytest.fixture(scope="class")
    @classmethod
    def trust(cls, template: Template) -> Any:
        return trust_of(template, "Role")

    @pytest.mark.parametrize("action", POD_IDENTITY_TRUST_ACTIONS)
    @pytest.mark.parametrize(
        ("change", "verdict"),
        [
            ({}, "allow"),
            ({"namespace": "other"}, "silent"),
            ({"namespace": "research-2"}, "silent"),
            ({"service_account": "default"}, "silent"),
            ({"service_account": "trainer2"}, "silent"),
            ({"cluster_arn": EKS.replace("training", "other")}, "silent"),
            ({"cluster_arn": EKS.replace(ACCOUNT, "999988887777")}, "silent"),
            ({"cluster_arn": EKS.replace(REGION, "eu-west-1")}, "silent"),
        ],
    )
    def test_is_taken_by_its_pods_only(
        self, trust: Any, action: str, change: dict[str, str], verdict: str
    ) -> None:
        asked = {"cluster_arn": EKS, **PODS, **change}
        assert evaluate_trust(trust, pod_identity_request(action, **asked)) == verdict

    def test_is_taken_by_nobody_without_tags_or_otherwise(self, trust: Any) -> None:
        for request in (
            Request("sts:AssumeRole", "*", {}, "pods.eks.amazonaws.com"),
            service_request("sts:AssumeRole", "*", "sagemaker.amazonaws.com"),
            token_request(issuer=ISSUER, subject=SUBJECT),
            role_request("sts:AssumeRole", "*", f"arn:aws:iam::{ACCOUNT}:role/nodes"),
        ):
            assert evaluate_trust(trust, request) == "silent"
        assert {action for one in trust["Statement"] for action in one["Action"]} == set(
            POD_IDENTITY_TRUST_ACTIONS
        )

    def test_is_associated(self, template: Template) -> None:
        role, _ = one(template, "AWS::IAM::Role", "Role")
        _, association = only(template, "AWS::EKS::PodIdentityAssociation")
        assert association["Properties"] == {
            "ClusterName": "training",
            "Namespace": "research",
            "ServiceAccount": "trainer",
            "RoleArn": {"Fn::GetAtt": [role, "Arn"]},
        }

    def test_of_a_cluster_made_here(self) -> None:
        stack = Stack(App(), "Training")
        cluster = made(stack)
        TrainingPodRole(stack, "Role", control_plane=cluster, **PODS)
        template = template_of(stack)
        logical_id, _ = only(template, "AWS::EKS::Cluster")
        asked = {"cluster_arn": arn_of(logical_id, template), **PODS}
        assert evaluate_trust(
            trust_of(template, "Role"), pod_identity_request("sts:AssumeRole", **asked)
        ) == ("allow")
        _, association = one(template, "AWS::EKS::PodIdentityAssociation", "Role")
        assert association["Properties"]["ClusterName"] == {"Ref": logical_id}
        assert not [finding for finding in lint(template) if finding.startswith("E")]

    def test_takes_an_object_that_has_the_arn(self) -> None:
        stack = Stack(App(), "Training")
        TrainingPodRole(stack, "Role", control_plane=ControlPlane(), **PODS)
        template = template_of(stack)
        asked = {"cluster_arn": EKS, **PODS}
        assert evaluate_trust(
            trust_of(template, "Role"), pod_identity_request("sts:TagSession", **asked)
        ) == ("allow")
        assert (
            only(template, "AWS::EKS::PodIdentityAssociation")[1]["Properties"]["ClusterName"] == "training"
        )

    def test_takes_tokens(self) -> None:
        stack = Stack(App(), "Training")
        namespace = CfnParameter(stack, "Namespace").value_as_string
        TrainingPodRole(
            stack, "Role", control_plane=existing(stack), namespace=namespace, service_account="trainer"
        )
        assert "name-Namespace" in str(trust_of(template_of(stack), "Role"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"namespace": "Research"}, r"Training/Role\.namespace: must be 1 to 63 lower-case letters"),
            ({"namespace": "*"}, r"Training/Role\.namespace: must be 1 to 63 lower-case letters"),
            ({"service_account": "t*"}, r"Training/Role\.service_account: must be 1 to 253 lower-case"),
            ({"service_account": "default"}, r"Training/Role\.service_account: must not be 'default'"),
            ({"control_plane": EKS}, r"Training/Role\.control_plane: must be an EKS cluster, such as Eks"),
            ({"checkpoint_bucket": "s3://mine"}, r"Training/Role\.checkpoint_bucket: must be a CheckpointB"),
            ({"tiered": True}, r"Training/Role\.checkpoint_bucket: is required with tiered=True: the memory"),
        ],
    )
    def test_refuses(self, change: dict[str, Any], message: str) -> None:
        stack = Stack(App(), "Training")
        with pytest.raises(InvalidInputError, match=message):
            TrainingPodRole(stack, "Role", **{"control_plane": existing(stack), **PODS, **change})

    def test_all_faults_come_together(self) -> None:
        stack = Stack(App(), "Training")
        with pytest.raises(InvalidInputError) as raised:
            TrainingPodRole(
                stack, "Role", control_plane=existing(stack), namespace="A", service_account="B", tiered=True
            )
        assert len(raised.value.faults) == 3


class TestIrsaOfAnExistingCluster:
    @pytest.fixture(scope="class")
    @classmethod
    def template(cls) -> Template:
        stack = Stack(App(), "Training", env=Environment(account=ACCOUNT, region=REGION))
        role = TrainingPodRole.irsa(stack, "Role", issuer=f"https://{ISSUER}", **PODS)
        assert list(role.service_account_annotations) == ["eks.amazonaws.com/role-arn"]
        assert role.association is None
        return template_of(stack)

    @pytest.mark.parametrize(
        ("change", "verdict"),
        [
            ({}, "allow"),
            ({"subject": "system:serviceaccount:research:other"}, "silent"),
            ({"subject": "system:serviceaccount:other:trainer"}, "silent"),
            ({"subject": f"{SUBJECT}2"}, "silent"),
            ({"subject": "system:serviceaccount:*:*"}, "silent"),
            ({"audience": "kubernetes"}, "silent"),
            ({"issuer": ISSUER.replace("EXAMPLED", "OTHER")}, "silent"),
            ({"account": "999988887777"}, "silent"),
        ],
    )
    def test_is_taken_by_its_pods_only(
        self, template: Template, change: dict[str, str], verdict: str
    ) -> None:
        asked = {"issuer": ISSUER, "subject": SUBJECT, **change}
        assert evaluate_trust(trust_of(template, "Role"), token_request(**asked)) == verdict

    def test_is_exact(self, template: Template) -> None:
        (statement,) = trust_of(template, "Role")["Statement"]
        assert statement == {
            "Effect": "Allow",
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Principal": {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{ISSUER}"},
            "Condition": {"StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com", f"{ISSUER}:sub": SUBJECT}},
        }

    def test_needs_no_custom_resource(self, template: Template) -> None:
        assert {resource["Type"] for resource in template["Resources"].values()} == {"AWS::IAM::Role"}

    def test_an_imported_control_plane_knows_its_issuer(self, template: Template) -> None:
        stack = Stack(App(), "Training", env=Environment(account=ACCOUNT, region=REGION))
        TrainingPodRole.irsa(stack, "Role", control_plane=ControlPlane(), **PODS)
        assert template_of(stack) == template

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, r"Role\.issuer: needs one of issuer and control_plane, got neither"),
            (
                {"issuer": "oidc.eks.us-west-2.amazonaws.com/id/*"},
                r"Role\.issuer: must be the OIDC issuer of",
            ),
            (
                {"issuer": "token.actions.githubusercontent.com"},
                r"Role\.issuer: must be the OIDC issuer of an",
            ),
            ({"issuer": ISSUER, "namespace": "*"}, r"Role\.namespace: must be 1 to 63"),
            ({"issuer": ISSUER, "tiered": True}, r"Role\.checkpoint_bucket: is required with tiered=True"),
        ],
    )
    def test_refuses(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInputError, match=message):
            TrainingPodRole.irsa(Stack(App(), "Training"), "Role", **{**PODS, **arguments})

    def test_refuses_a_token_as_issuer(self) -> None:
        stack = Stack(App(), "Training")
        issuer = CfnParameter(stack, "Issuer").value_as_string
        with pytest.raises(
            InvalidInputError, match=r"Role\.issuer: must be known at synthesis, got a token, wh"
        ):
            TrainingPodRole.irsa(stack, "Role", issuer=issuer, **PODS)

    def test_refuses_an_import_without_issuer_and_two_clusters(self) -> None:
        stack = Stack(App(), "Training")
        cluster = existing(stack)
        with pytest.raises(
            InvalidInputError, match=r"Role\.control_plane: is imported without its issuer, whic"
        ):
            TrainingPodRole.irsa(stack, "Role", control_plane=cluster, **PODS)
        with pytest.raises(InvalidInputError, match=r"Role\.issuer: needs one of .*got both"):
            TrainingPodRole.irsa(stack, "Role", control_plane=cluster, issuer=ISSUER, **PODS)


class TestIrsaOfANewCluster:
    @pytest.fixture(scope="class")
    @classmethod
    def template(cls) -> Template:
        stack = Stack(App(), "Training")
        cluster = made(stack)
        TrainingPodRole.irsa(stack, "Role", control_plane=cluster, **PODS)
        TrainingPodRole.irsa(
            stack, "Other", control_plane=cluster, namespace="research", service_account="evaluator"
        )
        return template_of(stack)

    def test_has_one_native_provider_for_the_audience(self, template: Template) -> None:
        _, provider = only(template, "AWS::IAM::OIDCProvider")
        assert provider["Properties"]["ClientIdList"] == ["sts.amazonaws.com"]
        assert not resources(template, "Custom::AWSCDKOpenIdConnectProvider")

    def test_conditions_are_written_at_deployment(self, template: Template) -> None:
        provider, _ = only(template, "AWS::IAM::OIDCProvider")
        (statement,) = one(template, "AWS::IAM::Role", "Role")[1]["Properties"]["AssumeRolePolicyDocument"][
            "Statement"
        ]
        conditions, json = one(template, "Custom::AWSCDKCfnJson", "RoleTrustConditions")
        assert statement == {
            "Effect": "Allow",
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Principal": {"Federated": {"Ref": provider}},
            "Condition": {"StringEquals": {"Fn::GetAtt": [conditions, "Value"]}},
        }
        text = str(json["Properties"]["Value"])
        assert ':aud":"sts.amazonaws.com"' in text
        assert f':sub":"{SUBJECT}"' in text
        assert "*" not in text

    def test_cloudformation_accepts_it(self, template: Template) -> None:
        assert not [finding for finding in lint(template) if finding.startswith("E")]

    def test_of_a_control_plane_that_has_the_bare_issuer(self) -> None:
        stack = Stack(App(), "Training")
        cluster = made(stack)
        # As EksControlPlane has it: a Token without https://.
        cluster.issuer = Fn.select(1, Fn.split("//", cluster.cluster_open_id_connect_issuer_url))  # type: ignore[attr-defined]
        TrainingPodRole.irsa(stack, "Role", control_plane=cluster, **PODS)
        _, provider = only(template_of(stack), "AWS::IAM::OIDCProvider")
        assert provider["Properties"]["Url"]["Fn::Join"][1][0] == "https://"


class TestWhoWritesCheckpoints:
    """Nodes, trainer and another pod, all with what each is granted, against the bucket's own policy."""

    @pytest.fixture(scope="class")
    @classmethod
    def template(cls) -> Template:
        stack = Stack(App(), "Training")
        cluster = existing(stack)
        subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
        group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
        ExecutionRole(
            stack,
            "Nodes",
            orchestrator="eks",
            subnets=[subnet],
            security_groups=[group],
            pod_identity_cluster=cluster,
        )
        checkpoints = CheckpointBucket(stack, "Checkpoints")
        TrainingPodRole(
            stack, "Trainer", control_plane=cluster, checkpoint_bucket=checkpoints, tiered=True, **PODS
        )
        other = TrainingPodRole(
            stack, "Other", control_plane=cluster, namespace="research", service_account="notebook"
        )
        # What a careless team would give its own pods: every bucket.
        other.add_to_principal_policy(iam.PolicyStatement(actions=["s3:*"], resources=["*"]))
        return template_of(stack)

    def verdict(self, template: Template, who: str, action: str, bucket_account: str = ACCOUNT) -> bool:
        """Whether the role may, within one account: some policy allows, none denies."""
        bucket, _ = next(
            item
            for item in resources(template, "AWS::S3::Bucket").items()
            if item[0].startswith("Checkpoints") and "AccessLogs" not in item[0]
        )
        (policy,) = [
            found
            for found in resources(template, "AWS::S3::BucketPolicy").values()
            if found["Properties"]["Bucket"] == {"Ref": bucket}
        ]
        role, _ = one(template, "AWS::IAM::Role", who)
        asked = role_request(action, f"arn:aws:s3:::name-{bucket}/step_1/part", arn_of(role, template))
        keys = {
            **asked.keys,
            "s3:ResourceAccount": bucket_account,
            "aws:ResourceAccount": bucket_account,
            "aws:PrincipalAccount": ACCOUNT,
        }
        request = Request(asked.action, asked.resource, keys)
        documents = [
            resolve(policy["Properties"]["PolicyDocument"], template),
            permissions_of(template, who),
        ]
        if who == "Nodes":
            documents.append(
                {"Statement": [{"Effect": "Allow", **one} for one in CLUSTER_INSTANCE_STATEMENTS]}
            )
        found = [evaluate(document, request) for document in documents]
        return "deny" not in found and "allow" in found

    @pytest.mark.parametrize("action", sorted({*S3_OBJECT_WRITE_ACTIONS, *S3_OBJECT_READ_ACTIONS}))
    def test_the_trainer_alone(self, template: Template, action: str) -> None:
        assert self.verdict(template, "Trainer", action) is (action in TIERED_CHECKPOINTING_ACTIONS)
        assert not self.verdict(template, "Nodes", action)
        assert not self.verdict(template, "Other", action)

    def test_not_in_somebody_elses_bucket(self, template: Template) -> None:
        assert not self.verdict(template, "Trainer", "s3:PutObject", "999988887777")

    def test_metrics_go_to_one_namespace(self, template: Template) -> None:
        for namespace, verdict in (("/aws/sagemaker/Clusters", "allow"), ("AWS/Billing", "silent")):
            request = Request("cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": namespace})
            assert evaluate(permissions_of(template, "Trainer"), request) == verdict
        assert "cloudwatch" not in str(permissions_of(template, "Other"))

    def test_cloudformation_accepts_it(self, template: Template) -> None:
        assert lint(template) == []


class TestWholeCluster:
    """Nodes, pods and autoscaling around a control plane that is made here: nothing waits for itself."""

    @pytest.fixture(scope="class")
    @classmethod
    def template(cls) -> Template:
        stack = Stack(App(), "Training", env=Environment(account=ACCOUNT, region=REGION))
        network = ClusterNetwork(
            stack,
            "Network",
            availability_zone_id="usw2-az1",
            control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
        )
        layer = lambda_.LayerVersion.from_layer_version_arn(
            stack, "Layer", f"arn:aws:lambda:{REGION}:{ACCOUNT}:layer:kubectl:1"
        )
        control_plane = EksControlPlane(
            stack,
            "Eks",
            network=network,
            dependency_chart=DependencyChart.from_oci("oci://registry.example/chart", version="0.1.0"),
            kubectl_layer=layer,
        )
        group = EfaSecurityGroup(stack, "NodeGroup", vpc=network.vpc)
        nodes = ExecutionRole(
            stack,
            "Nodes",
            orchestrator="eks",
            subnets=[network.accelerator_subnet],
            security_groups=[group],
            pod_identity_cluster=control_plane,
        )
        checkpoints = CheckpointBucket(stack, "Checkpoints")
        TrainingPodRole(
            stack, "Pods", control_plane=control_plane, checkpoint_bucket=checkpoints, tiered=True, **PODS
        )
        TrainingPodRole.irsa(
            stack, "Tokens", control_plane=control_plane, namespace="research", service_account="evaluator"
        )
        HyperPodCluster(
            stack,
            "Cluster",
            cluster_name="llm-train",
            instance_groups=[InstanceGroup(name="workers", instance_type="ml.p5.48xlarge", instance_count=2)],
            orchestrator=Orchestrator.eks(control_plane),
            execution_role=nodes,
            network=network,
            security_groups=[group],
            lifecycle_scripts=LifecycleScripts.from_s3_uri(
                stack, "Scripts", source_s3_uri="s3://sagemaker-scripts/eks", entry_point="on_create.sh"
            ),
            tiered_checkpointing=TieredCheckpointing(memory_percentage=20, s3_interval_steps=500),
            auto_scaling=AutoScaling(mode="Enable", role=AutoscalingRole(stack, "Autoscaling")),
        )
        return template_of(stack)

    def test_cloudformation_accepts_it(self, template: Template) -> None:
        # cfn-lint looks at every Region; HyperPod and the instance type are not in all of them.
        elsewhere = ("E3006", "E3644")
        found = [finding for finding in lint(template) if finding.startswith("E")]
        assert not [finding for finding in found if not finding.startswith(elsewhere)]

    def test_the_cluster_says_both(self, template: Template) -> None:
        properties = only(template, "AWS::SageMaker::Cluster")[1]["Properties"]
        autoscaling, _ = one(template, "AWS::IAM::Role", "Autoscaling")
        assert properties["TieredStorageConfig"] == {
            "Mode": "Enable",
            "InstanceMemoryAllocationPercentage": 20,
        }
        assert properties["ClusterRole"] == {"Fn::GetAtt": [autoscaling, "Arn"]}

    def test_pods_and_provider_are_of_the_control_plane(self, template: Template) -> None:
        cluster, _ = only(template, "AWS::EKS::Cluster")
        _, association = one(template, "AWS::EKS::PodIdentityAssociation", "Pods")
        assert association["Properties"]["ClusterName"] == {"Ref": cluster}
        _, provider = only(template, "AWS::IAM::OIDCProvider")
        assert cluster in str(provider["Properties"]["Url"])


def test_an_imported_control_plane_lends_its_issuer() -> None:
    stack = Stack(App(), "Training", env=Environment(account=ACCOUNT, region=REGION))
    control_plane = EksControlPlane.from_existing(
        stack, "Eks", cluster_arn=EKS, dependency_chart=DependencyChart.installed(), issuer=ISSUER
    )
    TrainingPodRole.irsa(stack, "Tokens", control_plane=control_plane, **PODS)
    TrainingPodRole(stack, "Pods", control_plane=control_plane, **PODS)
    template = template_of(stack)
    asked = token_request(issuer=ISSUER, subject=SUBJECT)
    assert evaluate_trust(trust_of(template, "Tokens"), asked) == "allow"
    pods = pod_identity_request("sts:AssumeRole", cluster_arn=EKS, **PODS)
    assert evaluate_trust(trust_of(template, "Pods"), pods) == "allow"
    assert not resources(template, "AWS::IAM::OIDCProvider")


def test_an_imported_bucket_is_granted_all_the_same() -> None:
    stack = Stack(App(), "Training")
    bucket = CheckpointBucket.from_bucket(
        stack, "Checkpoints", bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-mine")
    )
    TrainingPodRole.irsa(stack, "Role", issuer=ISSUER, checkpoint_bucket=bucket, tiered=True, **PODS)
    allowed = str(permissions_of(template_of(stack), "Role"))
    assert all(action in allowed for action in (*TIERED_CHECKPOINTING_ACTIONS, "cloudwatch:PutMetricData"))


def test_works_in_a_nested_stack() -> None:
    stack = Stack(App(), "Training")
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    nested = NestedStack(stack, "Nested")
    TrainingPodRole(
        nested,
        "Role",
        control_plane=existing(stack),
        checkpoint_bucket=checkpoints,
        **PODS,
    )
    assert resources(template_of(stack), "AWS::CloudFormation::Stack")


@pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region=REGION)])
def test_feature_flags_change_nothing(env: Environment | None) -> None:
    def build(context: dict[str, Any]) -> Template:
        stack = Stack(App(context=context), "Training", env=env)
        checkpoints = CheckpointBucket(stack, "Checkpoints")
        common: dict[str, Any] = {"checkpoint_bucket": checkpoints, "tiered": True, **PODS}
        TrainingPodRole(stack, "Role", control_plane=ControlPlane(), **common)
        TrainingPodRole.irsa(stack, "Irsa", issuer=ISSUER, **common)
        return template_of(stack)

    assert build({}) == build(recommended_feature_flags())


@pytest.mark.parametrize("door", [TrainingPodRole, TrainingPodRole.irsa])
@pytest.mark.parametrize("argument", ["namespace", "service_account"])
@pytest.mark.parametrize("written", ["${aws:PrincipalTag/team}", "*", "?", ":"])
def test_refuses_what_widens_a_name_that_ends_in_a_token(door: Any, argument: str, written: str) -> None:
    stack = Stack(App(), "Training")
    name = f"{written}{CfnParameter(stack, 'Name').value_as_string}"
    plane: Any = ControlPlane()
    with pytest.raises(InvalidInputError, match=rf"Training/Role\.{argument}: must not have"):
        door(stack, "Role", control_plane=plane, **{**PODS, argument: name})


def test_refuses_a_cluster_that_stands_for_any() -> None:
    stack = Stack(App(), "Training")
    cluster: Any = eks.Cluster.from_cluster_attributes(
        stack, "Eks", cluster_name="${aws:RequestTag/eks-cluster-name}"
    )
    with pytest.raises(InvalidInputError, match=r"Training/Role\.control_plane: must not have"):
        TrainingPodRole(stack, "Role", control_plane=cluster, **PODS)


def test_takes_names_that_begin_with_a_token() -> None:
    stack = Stack(App(), "Training")
    plane: Any = ControlPlane()
    name = f"{CfnParameter(stack, 'Name').value_as_string}-team"
    TrainingPodRole(stack, "Role", control_plane=plane, namespace=name, service_account="trainer")
    assert f"{trust_of(template_of(stack), 'Role')}".count("name-Name-team") == 1
