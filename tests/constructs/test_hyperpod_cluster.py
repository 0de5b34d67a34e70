"""A cluster: what it renders, what it refuses, what it says of itself."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from aws_cdk import (
    App,
    Aws,
    CfnParameter,
    CliCredentialsStackSynthesizer,
    Environment,
    Fn,
    NestedStack,
    Stack,
    Stage,
    Tags,
    assertions,
)
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from clusters import (
    ENV,
    FileSystem,
    cluster,
    controller,
    group_of,
    properties_of,
    stack,
    template_of,
    warnings_of,
    workers,
)
from create_cluster_model import assert_clusters_are_legal, cluster_resources

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_model.faults import InvalidInputError

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/a1b2c3d4e5f6"
CLASSIC: dict[str, Any] = {
    "node_provisioning_mode": None,
    "orchestrator": Orchestrator.slurm(configuration=SlurmConfiguration.BY_LIFECYCLE_SCRIPTS),
}


def full_cluster() -> HyperPodCluster:
    where = stack()
    key = kms.Key(where, "Key")
    return cluster(
        where,
        instance_groups=[
            controller(),
            InstanceGroup(
                name="login",
                instance_type="ml.m5.4xlarge",
                instance_count=1,
                slurm_node_type=SlurmNodeType.LOGIN,
                secondary_volume_size_gib=200,
            ),
            workers(
                min_instance_count=8,
                threads_per_core=1,
                training_plan_arn="arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved-p5",
                image_id="ami-0123456789abcdef0",
                root_volume_kms_key=key,
                secondary_volume_kms_key=key,
            ),
        ],
        file_system=FileSystem(),
        tags={"team": "pre-training"},
    )


class TestTemplate:
    def test_the_whole(self) -> None:
        made = full_cluster()
        properties = properties_of(made)
        assert properties["ClusterName"] == "llm-train"
        assert properties["NodeProvisioningMode"] == "Continuous"
        assert properties["NodeRecovery"] == "Automatic"
        assert properties["Orchestrator"] == {"Slurm": {}}
        assert properties["VpcConfig"] == {
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
            "Subnets": ["subnet-0123456789abcdef0"],
        }
        assert {tag["Key"]: tag["Value"] for tag in properties["Tags"]} == {
            "team": "pre-training",
            "hyperpod:replacement-wait": "tolerable",
            "hyperpod:spare-nodes": "1",
        }
        assert [group["InstanceGroupName"] for group in properties["InstanceGroups"]] == [
            "controller",
            "login",
            "workers",
        ]
        assert warnings_of(made) == []

    def test_botocores_model_takes_it(self) -> None:
        for made in (
            full_cluster(),
            cluster(),
            cluster(**CLASSIC),
            cluster(vpc_subnets=None, security_groups=None),
        ):
            assert_clusters_are_legal(template_of(made))

    def test_the_registry_schema_takes_it(self) -> None:
        from cfnlint.api import lint
        from cfnlint.config import ManualArgs

        for made in (full_cluster(), cluster(**CLASSIC)):
            template = json.dumps(template_of(made))
            found = lint(template, config=ManualArgs(regions=["us-west-2"], ignore_checks=["W"]))
            assert [match.message for match in found] == []

    def test_the_id_of_the_resource_is_a_contract(self) -> None:
        template = template_of(cluster())
        (name,) = [
            key for key, one in template["Resources"].items() if one["Type"] == "AWS::SageMaker::Cluster"
        ]
        assert name == "ClusterEB0386A7"

    def test_no_network_of_ones_own(self) -> None:
        assert "VpcConfig" not in properties_of(cluster(vpc_subnets=None, security_groups=None))

    def test_tags_of_the_scope_arrive(self) -> None:
        where = stack()
        made = cluster(where)
        Tags.of(where).add("cost-center", "42")
        assert {"Key": "cost-center", "Value": "42"} in properties_of(made)["Tags"]

    def test_nothing_names_a_partition(self) -> None:
        where = stack(Environment(account="111122223333", region="us-west-2"))
        made = cluster(
            where,
            execution_role=iam.Role(
                where, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com")
            ),
            instance_groups=[controller(), workers(root_volume_kms_key=kms.Key(where, "Key"))],
        )
        assert "arn:aws:" not in str(template_of(made)).replace("arn:aws:iam::aws", "")


class TestAttributes:
    def test_of_a_cluster_made_here(self) -> None:
        made = cluster()
        resolve = Stack.of(made).resolve
        (name,) = [key for key, one in template_of(made)["Resources"].items() if "Cluster" in one["Type"]]
        arn = {"Fn::GetAtt": [name, "ClusterArn"]}
        cluster_id = {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
        assert resolve(made.cluster_arn) == arn
        assert resolve(made.cluster_id) == cluster_id
        assert made.cluster_name == "llm-train"
        assert resolve(made.log_group_name) == {
            "Fn::Join": ["", ["/aws/sagemaker/Clusters/llm-train/", cluster_id]]
        }
        assert resolve(made.session_target(group="workers", instance_id="i-0123456789abcdef0")) == {
            "Fn::Join": ["", ["sagemaker-cluster:", cluster_id, "_workers-i-0123456789abcdef0"]]
        }

    def test_of_an_imported_cluster(self) -> None:
        made = HyperPodCluster.from_cluster_attributes(
            stack(), "It", cluster_arn=ARN, cluster_name="llm-train"
        )
        assert made.cluster_id == "a1b2c3d4e5f6"
        assert made.log_group_name == "/aws/sagemaker/Clusters/llm-train/a1b2c3d4e5f6"
        target = made.session_target(group="workers", instance_id="i-0123456789abcdef0")
        assert target == "sagemaker-cluster:a1b2c3d4e5f6_workers-i-0123456789abcdef0"
        assert template_of(made) == {} or "Resources" not in template_of(made)

    def test_of_an_imported_cluster_with_a_token(self) -> None:
        where = stack()
        arn = Fn.import_value("cluster")
        made = HyperPodCluster.from_cluster_attributes(where, "It", cluster_arn=arn, cluster_name="llm-train")
        assert where.resolve(made.cluster_id) == {
            "Fn::Select": [1, {"Fn::Split": ["/", {"Fn::ImportValue": "cluster"}]}]
        }

    @pytest.mark.parametrize("arn", [f"{ARN}7", "llm-train", ARN.replace("sagemaker", "eks")])
    def test_other_arns_are_no_cluster(self, arn: str) -> None:
        with pytest.raises(InvalidInputError, match=re.escape("cluster 'llm-train': cluster_arn must be ")):
            HyperPodCluster.from_cluster_attributes(stack(), "It", cluster_arn=arn, cluster_name="llm-train")

    def test_the_cluster_tells_its_parts(self) -> None:
        made = cluster()
        assert [group.name for group in made.instance_groups] == ["controller", "workers"]
        assert made.orchestrator.kind == "slurm"
        assert made.resilience.spare_nodes == 1


class TestGrants:
    def test_reading_the_state(self) -> None:
        where = stack()
        made = cluster(where)
        reader = iam.Role(where, "Reader", assumed_by=iam.AccountRootPrincipal())
        made.grant_describe(reader)
        assertions.Template.from_stack(where).has_resource_properties(
            "AWS::IAM::Policy",
            {
                "PolicyDocument": {
                    "Statement": [
                        {
                            "Action": [
                                "sagemaker:DescribeCluster",
                                "sagemaker:DescribeClusterNode",
                                "sagemaker:ListClusterNodes",
                            ],
                            "Effect": "Allow",
                            "Resource": where.resolve(made.cluster_arn),
                        }
                    ]
                }
            },
        )

    def test_actions_of_ones_own_on_an_imported_cluster(self) -> None:
        where = stack()
        made = HyperPodCluster.from_cluster_attributes(where, "It", cluster_arn=ARN, cluster_name="llm-train")
        reader = iam.Role(where, "Reader", assumed_by=iam.AccountRootPrincipal())
        made.grant(reader, "sagemaker:BatchReplaceClusterNodes")
        statement = {"Action": "sagemaker:BatchReplaceClusterNodes", "Effect": "Allow", "Resource": ARN}
        assertions.Template.from_stack(where).has_resource_properties(
            "AWS::IAM::Policy", {"PolicyDocument": {"Statement": [statement]}}
        )

    def test_a_role_of_the_nodes_would_wait_for_itself(self) -> None:
        where = stack()
        role = iam.Role(where, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        made = cluster(where, execution_role=role)
        with pytest.raises(
            InvalidInputError, match="grant to 'Stack/Role', a role of its own nodes, makes a depen"
        ):
            made.grant_describe(role)

    def test_volume_keys(self) -> None:
        where = stack()
        role = iam.Role(where, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        key = kms.Key(where, "Key")
        cluster(
            where,
            execution_role=role,
            instance_groups=[controller(), workers(root_volume_kms_key=key, secondary_volume_kms_key=key)],
        )
        arn = where.resolve(key.key_arn)
        assertions.Template.from_stack(where).has_resource_properties(
            "AWS::IAM::Policy",
            {
                "PolicyDocument": {
                    "Statement": [
                        {"Action": "kms:DescribeKey", "Effect": "Allow", "Resource": arn},
                        {
                            "Action": "kms:CreateGrant",
                            "Condition": {
                                "Bool": {"kms:GrantIsForAWSResource": "true"},
                                "StringEquals": {
                                    "kms:ViaService": {
                                        "Fn::Join": ["", ["sagemaker.us-west-2.", {"Ref": "AWS::URLSuffix"}]]
                                    }
                                },
                            },
                            "Effect": "Allow",
                            "Resource": arn,
                        },
                    ]
                },
                "Roles": [where.resolve(role.role_name)],
            },
        )

    def test_a_role_that_must_not_change_does_not(self) -> None:
        where = stack()
        cluster(where, instance_groups=[controller(), workers(root_volume_kms_key=kms.Key(where, "Key"))])
        assertions.Template.from_stack(where).resource_count_is("AWS::IAM::Policy", 0)


SUBJECT = "cluster 'llm-train': "
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"cluster_name": "llm_train"}, "cluster 'llm_train': cluster_name must be letters, digits and hyphens"),
    ({"instance_groups": []}, SUBJECT + "instance_groups is empty; a cluster has at least one group"),
    (
        {"instance_groups": [controller(), workers(), workers()]},
        "instance group 'workers': name 'workers' is taken by instance_groups[1]; names are unique",
    ),
    (
        {"instance_groups": [workers()]},
        SUBJECT + "instance_groups no group is the Controller; give one group the slurm_node_type Controller",
    ),
    (
        {"instance_groups": [controller(), controller(name="second"), workers()]},
        "instance group 'second': slurm_node_type is a second Controller; a cluster has exactly one",
    ),
    (
        {"instance_groups": [controller(), workers(slurm_node_type=None, partition_names=None)]},
        "instance group 'workers': slurm_node_type is missing, while other groups have it; ",
    ),
    (
        {
            "instance_groups": [
                controller(slurm_node_type=None),
                workers(slurm_node_type=None, partition_names=None),
            ]
        },
        "instance group 'controller': slurm_node_type is required where HyperPod configures Slurm; give one, "
        "or choose SlurmConfiguration.BY_LIFECYCLE_SCRIPTS\ninstance group 'workers': slurm_node_type is ",
    ),
    ({"execution_role": None}, "instance group 'controller': execution_role is required"),
    ({"vpc_subnets": None}, SUBJECT + "vpc_subnets is required"),
    ({"security_groups": None}, SUBJECT + "security_groups is required"),
    ({"security_groups": []}, SUBJECT + "security_groups must have 1 to 5 items, got 0"),
    (
        {"orchestrator": Orchestrator.slurm(strategy="Merge")},
        SUBJECT
        + "orchestrator strategy must be absent with node_provisioning_mode 'Continuous', got 'Merge'",
    ),
    (
        {"node_provisioning_mode": "Classic"},
        SUBJECT + "node_provisioning_mode must be one of 'Continuous', got ",
    ),
    (
        {"instance_groups": [controller(), workers(min_instance_count=1)], **CLASSIC},
        "instance group 'workers': min_instance_count needs node_provisioning_mode 'Continuous'; set it",
    ),
    ({"tags": {"aws:x": ""}}, SUBJECT + "tags['aws:x'] must not start with 'aws:', got 'aws:x'"),
    (
        {"tags": {"a,b": ""}},
        SUBJECT + "tags['a,b'] must be letters, digits, spaces and _ . : / = + - @, got 'a,b'",
    ),
    ({"tags": {str(n): "" for n in range(49)}}, SUBJECT + "tags must have 0 to 50 items, got 51"),
    (
        {"tags": {"hyperpod:spare-nodes": "9"}},
        SUBJECT + "tags['hyperpod:spare-nodes'] 'hyperpod:spare-nodes' is ",
    ),
    (
        {"file_system": FileSystem(), "file_system_mount_path": "/fsx/"},
        "instance group 'controller': file_system_mount_path must be a path such as /fsx, ",
    ),
    (
        {"file_system": FileSystem(), "file_system_mount_path": "/opt/sagemaker"},
        "instance group 'workers': file_system_mount_path '/opt/sagemaker' is taken by the secondary volume",
    ),
    (
        {"file_system": FileSystem(), "vpc_subnets": None, "security_groups": None},
        "instance group 'controller': file_system needs the cluster in the file system's VPC; ",
    ),
]


@pytest.mark.parametrize(("props", "message"), FAULTS, ids=[message[:80] for _, message in FAULTS])
def test_refused(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        cluster(**props)


def test_all_faults_come_together() -> None:
    with pytest.raises(InvalidInputError) as caught:
        cluster(cluster_name="llm_train", instance_groups=[workers()], tags={"aws:x": ""})
    assert len(caught.value.faults) == 3


class TestRegions:
    def test_a_region_without_the_service(self) -> None:
        with pytest.raises(
            InvalidInputError, match="cluster 'llm-train': region 'eu-west-3' has no HyperPod; Hyp"
        ):
            cluster(stack(Environment(region="eu-west-3")))

    def test_a_region_without_the_type(self) -> None:
        where = stack(Environment(region="eu-west-1"))
        groups = [controller(), workers(instance_type="ml.p5en.48xlarge")]
        message = (
            "instance group 'workers': instance_type region eu-west-1 has no 'ml.p5en.48xlarge'; it is in "
        )
        with pytest.raises(InvalidInputError, match=re.escape(message)):
            cluster(where, instance_groups=groups)

    @pytest.mark.parametrize("by_group", [False, True])
    def test_a_type_that_the_user_vouches_for(self, by_group: bool) -> None:
        where = stack(Environment(region="eu-west-1"))
        group = workers(instance_type="ml.p5en.48xlarge", unlisted_instance_type=by_group)
        vouched = None if by_group else ["ml.p5en.48xlarge"]
        made = cluster(where, instance_groups=[controller(), group], unlisted_instance_types=vouched)
        assert warnings_of(made) == []

    def test_a_doubtful_type_is_a_warning(self) -> None:
        made = cluster(instance_groups=[controller(), workers(instance_type="ml.p5e.48xlarge")])
        (warning,) = warnings_of(made)
        assert warning.startswith(
            "instance group 'workers': instance_type whether us-west-2 has 'ml.p5e.48xlarge' is not certain"
        )
        assert warning.endswith("[ack: hyperpod:HyperPodCluster.InstanceGroups.InstanceType]")

    def test_a_stack_of_no_region_is_left_to_the_service(self) -> None:
        for where in (stack(None), stack(Environment(region=Aws.REGION))):
            made = cluster(where, instance_groups=[controller(), workers(instance_type="ml.p5en.48xlarge")])
            assert_clusters_are_legal(template_of(made))


def test_continuous_provisioning_without_node_types_is_a_warning() -> None:
    made = cluster(orchestrator=CLASSIC["orchestrator"])
    (warning,) = warnings_of(made)
    assert warning.startswith(
        "cluster 'llm-train': node_provisioning_mode 'Continuous' is documented on Slurm only with "
    )


def test_a_missing_strategy_in_classic_mode_is_a_warning() -> None:
    (warning,) = warnings_of(cluster(node_provisioning_mode=None))
    assert warning.startswith(
        "cluster 'llm-train': orchestrator strategy should be chosen, since its default is in"
    )


def test_tokens_pass() -> None:
    where = stack()
    name = CfnParameter(where, "Name").value_as_string
    made = cluster(
        where,
        cluster_name=name,
        node_provisioning_mode=Fn.import_value("mode"),
        tags={"team": Fn.import_value("team")},
        file_system=FileSystem(),
        file_system_mount_path=Fn.import_value("path"),
        vpc_subnets=[ec2.Subnet.from_subnet_id(where, "Imported2", Fn.import_value("subnet"))],
    )
    assert_clusters_are_legal(template_of(made))
    assert properties_of(made)["ClusterName"] == {"Ref": "Name"}
    assert where.resolve(made.log_group_name)["Fn::Join"][1][1] == {"Ref": "Name"}


class TestNetwork:
    def network(self, where: Stack, prefix: int) -> ClusterNetwork:
        return ClusterNetwork(
            where, "Network", availability_zone_id="usw2-az1", accelerator_subnet_prefix_length=prefix
        )

    def test_the_nodes_are_in_the_accelerator_subnet(self) -> None:
        where = stack()
        network = self.network(where, 17)
        made = cluster(where, network=network, vpc_subnets=None)
        subnet = where.resolve(network.accelerator_subnet.subnet_id)
        assert properties_of(made)["VpcConfig"]["Subnets"] == [subnet]

    def test_every_node_needs_its_addresses(self) -> None:
        where = stack()
        network = self.network(where, 24)
        with pytest.raises(InvalidInputError, match="usable addresses, the cluster needs"):
            cluster(where, network=network, vpc_subnets=None)

    def test_the_file_system_needs_addresses_too(self) -> None:
        class Large(FileSystem):
            addresses = 100_000

        where = stack()
        with pytest.raises(InvalidInputError, match="others 100000"):
            cluster(where, network=self.network(where, 17), vpc_subnets=None, file_system=Large())

    def test_nodes_in_several_subnets_are_not_counted(self) -> None:
        where = stack()
        subnets = [ec2.Subnet.from_subnet_id(where, f"Subnet{n}", f"subnet-{n}") for n in range(2)]
        made = cluster(where, network=self.network(where, 24), vpc_subnets=subnets)
        assert properties_of(made)["VpcConfig"]["Subnets"] == ["subnet-0", "subnet-1"]


class TestGuest:
    def test_in_a_stage_and_a_nested_stack(self) -> None:
        stage = Stage(App(), "Stage", env=ENV)
        parent = Stack(stage, "Stack")
        nested = NestedStack(parent, "Nested")
        made = cluster(nested)
        assert_clusters_are_legal(assertions.Template.from_stack(nested).to_json())
        assert made.stack.node.path == nested.node.path

    def test_with_another_synthesizer(self) -> None:
        where = Stack(App(), "Stack", env=ENV, synthesizer=CliCredentialsStackSynthesizer())
        assert_clusters_are_legal(template_of(cluster(where)))

    def test_two_clusters_in_a_stack(self) -> None:
        where = stack()
        first = cluster(where)
        second = HyperPodCluster(
            where,
            "Second",
            cluster_name="second",
            instance_groups=[controller(), workers()],
            orchestrator=Orchestrator.slurm(),
            execution_role=iam.Role.from_role_arn(where, "Other", "arn:aws:iam::111122223333:role/other"),
            resilience=ResiliencePolicy(spare_nodes=1),
        )
        assert len(cluster_resources(template_of(first))) == 2
        assert first.cluster_arn != second.cluster_arn

    def test_the_groups_role_is_enough(self) -> None:
        where = stack()
        role = iam.Role.from_role_arn(where, "Own", "arn:aws:iam::111122223333:role/own", mutable=False)
        made = cluster(
            where,
            execution_role=None,
            instance_groups=[controller(execution_role=role), workers(execution_role=role)],
        )
        assert group_of(made)["ExecutionRole"] == "arn:aws:iam::111122223333:role/own"


def test_the_registry_schema_refuses_what_it_should() -> None:
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    template = template_of(cluster())
    cluster_resources(template)[0]["Properties"]["NodeRecovery"] = "Sometimes"
    found = lint(json.dumps(template), config=ManualArgs(regions=["us-west-2"], ignore_checks=["W"]))
    assert [match.rule.id for match in found] == ["E3030"]
