"""Every field of the service: said by a prop, checked, legal to botocore's model and registry schema."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Stack, Token, assertions
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
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
from constructs import Construct, DependencyGroup
from create_cluster_model import cluster_resources, violations

from hyperpod_constructs.accounting_database import AccountingDatabase
from hyperpod_constructs.auto_scaling import AutoScaling
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.kubernetes_taint import KubernetesTaint
from hyperpod_constructs.lustre_mount import LustreMount
from hyperpod_constructs.openzfs_mount import OpenZfsMount
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.restricted_instance_group import (
    RestrictedEnvironment,
    RestrictedFileSystem,
    RestrictedInstanceGroup,
)
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.software_updates import AutoPatching, BatchSize, Deployment, ScheduledUpdate
from hyperpod_constructs.tiered_checkpointing import TieredCheckpointing
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy import review

EKS_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
SECRET_ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:accounting-AbCdEf"
ALARM_ARN = "arn:aws:cloudwatch:us-west-2:111122223333:alarm:loss"
LUSTRE = "fs-0123456789abcdef1.fsx.us-west-2.amazonaws.com"
HOME = "fs-0123456789abcdef2.fsx.us-west-2.amazonaws.com"


def eks_workers(**props: Any) -> InstanceGroup:
    return InstanceGroup(
        **{"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 16, **props}
    )


def eks_cluster(scope: Stack | None = None, **props: Any) -> HyperPodCluster:
    defaults = {"orchestrator": Orchestrator.eks(EKS_ARN), "instance_groups": [eks_workers()]}
    return cluster(scope, **{**defaults, **props})


def rendered(**props: Any) -> dict[str, Any]:
    made = eks_cluster(instance_groups=[eks_workers(**props)])
    assert violations(properties_of(made)) == []
    return group_of(made)


def alarm(scope: Construct, name: str = "Loss") -> cloudwatch.IAlarm:
    return cloudwatch.Alarm.from_alarm_arn(scope, name, f"{ALARM_ARN}-{name.lower()}")


def restricted(**props: Any) -> RestrictedInstanceGroup:
    defaults: dict[str, Any] = {
        "name": "nova",
        "instance_type": "ml.p5.48xlarge",
        "instance_count": 4,
        "file_system": RestrictedFileSystem(storage_capacity_gib=1200, throughput_mbps_per_tib=125),
    }
    return RestrictedInstanceGroup(**{**defaults, **props})


def role(scope: Construct, name: str = "Autoscaler") -> iam.IRole:
    return iam.Role.from_role_arn(scope, name, "arn:aws:iam::111122223333:role/autoscaler")


def refused(message: str) -> Any:
    return pytest.raises(InvalidInputError, match=re.escape(message))


class TestCapacity:
    def test_spot_survives_synthesis(self) -> None:
        assert rendered(capacity_type="spot")["CapacityRequirements"] == {"Spot": {}}

    def test_on_demand_survives_synthesis(self) -> None:
        assert rendered(capacity_type="on-demand")["CapacityRequirements"] == {"OnDemand": {}}

    def test_nothing_is_said_by_default(self) -> None:
        assert "CapacityRequirements" not in rendered()

    def test_another_kind(self) -> None:
        with refused(
            "instance group 'workers': capacity_type must be one of 'spot', 'on-demand', got 'Spot'"
        ):
            eks_workers(capacity_type="Spot")

    def test_a_token_decides_too_late(self) -> None:
        with refused("capacity_type decides what is deployed, so it must be known at synthesis, got a token"):
            eks_workers(capacity_type=Token.as_string({"Ref": "Kind"}))

    def test_spot_beside_a_plan_is_a_warning(self) -> None:
        plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved-p5"
        made = eks_cluster(instance_groups=[eks_workers(capacity_type="spot", training_plan_arn=plan)])
        assert any("capacity_type asks for Spot capacity beside" in one for one in warnings_of(made))


class TestFlexibleTypes:
    def test_a_list_replaces_the_type(self) -> None:
        group = rendered(instance_type=None, instance_types=["ml.p5en.48xlarge", "ml.p5.48xlarge"])
        assert group["InstanceRequirements"] == {"InstanceTypes": ["ml.p5en.48xlarge", "ml.p5.48xlarge"]}
        assert "InstanceType" not in group

    def test_defaults_hold_for_all_types(self) -> None:
        group = rendered(instance_type=None, instance_types=["ml.p5.48xlarge", "ml.p4d.24xlarge"])
        assert group["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
        assert group["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]

    def test_one_type_that_cannot_be_checked_turns_the_checks_off(self) -> None:
        group = rendered(instance_type=None, instance_types=["ml.p5.48xlarge", "ml.m5.24xlarge"])
        assert "OnStartDeepHealthChecks" not in group

    def test_an_empty_list_says_nothing(self) -> None:
        assert "InstanceRequirements" not in rendered(instance_types=[])

    def test_both(self) -> None:
        with refused("instance group 'workers': instance_types excludes instance_type; keep one of the two"):
            eks_workers(instance_types=["ml.p5.48xlarge"])

    def test_neither(self) -> None:
        with refused("instance group 'workers': instance_type is required, such as 'ml.p5.48xlarge'"):
            eks_workers(instance_type=None)

    def test_a_mistyped_one(self) -> None:
        with refused("instance_types[1] must be an instance type of HyperPod, got 'ml.p5.48xlrge'"):
            eks_workers(instance_type=None, instance_types=["ml.p5.48xlarge", "ml.p5.48xlrge"])

    def test_a_text_is_no_list(self) -> None:
        with refused("instance group 'workers': instance_types must be a list, got 'ml.p5.48xlarge'"):
            eks_workers(instance_type=None, instance_types="ml.p5.48xlarge")

    def test_continuous_provisioning_is_needed(self) -> None:
        group = eks_workers(instance_type=None, instance_types=["ml.p5.48xlarge"])
        with refused("instance_types needs node_provisioning_mode 'Continuous'"):
            eks_cluster(instance_groups=[group], node_provisioning_mode=None)

    def test_all_are_vouched_for_together(self) -> None:
        group = eks_workers(
            instance_type=None,
            instance_types=["ml.p9.48xlarge", "ml.p5.48xlarge"],
            unlisted_instance_type=True,
        )
        assert group.is_accelerated
        made = eks_cluster(instance_groups=[group], resilience=ResiliencePolicy())
        assert group_of(made)["InstanceRequirements"] == {
            "InstanceTypes": ["ml.p9.48xlarge", "ml.p5.48xlarge"]
        }


class TestImage:
    def test_release(self) -> None:
        assert rendered(image_release_version="1.2.3")["ImageReleaseVersion"] == "1.2.3"

    @pytest.mark.parametrize("version", ["1.2", "v1.2.3", ""])
    def test_other_forms(self, version: str) -> None:
        with refused("instance group 'workers': image_release_version must"):
            eks_workers(image_release_version=version)

    def test_a_token_passes(self) -> None:
        version = CfnParameter(Stack(), "Version").value_as_string
        assert eks_workers(image_release_version=version).image_release_version == version

    def test_on_slurm(self) -> None:
        with refused("instance group 'workers': image_release_version goes with the EKS orchestrator only"):
            cluster(instance_groups=[controller(), workers(image_release_version="1.2.3")])


class TestKubernetes:
    def test_labels_and_taints(self) -> None:
        group = rendered(
            deep_health_checks=[],
            kubernetes_labels={"example.com/team": "vision"},
            kubernetes_taints=[
                KubernetesTaint(key="example.com/team", value="vision", effect="NoSchedule"),
                KubernetesTaint(key="reserved", effect="NoExecute"),
            ],
        )
        assert group["KubernetesConfig"] == {
            "Labels": {"example.com/team": "vision"},
            "Taints": [
                {"Key": "example.com/team", "Value": "vision", "Effect": "NoSchedule"},
                {"Key": "reserved", "Effect": "NoExecute"},
            ],
        }

    def test_empty_ones_leave_nothing(self) -> None:
        assert "KubernetesConfig" not in rendered(kubernetes_labels={}, kubernetes_taints=[])

    def test_taints_and_deep_checks(self) -> None:
        taint = KubernetesTaint(key="a", effect="NoSchedule")
        with refused("kubernetes_taints cannot be set on a group with deep_health_checks"):
            eks_cluster(instance_groups=[eks_workers(kubernetes_taints=[taint])])
        without = eks_workers(kubernetes_taints=[taint], deep_health_checks=[])
        assert violations(properties_of(eks_cluster(instance_groups=[without]))) == []

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ({"-a": "b"}, "kubernetes_labels['-a'] must be a Kubernetes label key, got '-a'"),
            ({"a": "b c"}, "kubernetes_labels['a'] must be a Kubernetes label value, got 'b c'"),
            ({"n" * 64: "b"}, "must have at most 63 characters after its prefix, got 64"),
            (["a=b"], "kubernetes_labels must be a mapping of keys to values, got ['a=b']"),
        ],
    )
    def test_labels_that_kubernetes_refuses(self, labels: Any, message: str) -> None:
        with refused(message):
            eks_workers(kubernetes_labels=labels)

    @pytest.mark.parametrize(
        ("props", "message"),
        [
            (
                {"key": "a", "effect": "Never"},
                "taint: effect must be one of 'NoSchedule', 'PreferNoSchedule'",
            ),
            ({"key": "a/b/c", "effect": "NoSchedule"}, "taint: key must be a Kubernetes label key"),
            ({"key": "n" * 64, "effect": "NoSchedule"}, "taint: key must have at most 63 characters"),
            ({"key": "a", "effect": "NoSchedule", "value": "b c"}, "taint: value must be a Kubernetes label"),
        ],
    )
    def test_taints_that_kubernetes_refuses(self, props: Any, message: str) -> None:
        with refused(message):
            KubernetesTaint(**props)

    def test_a_taint_of_another_kind(self) -> None:
        with refused(
            "instance group 'workers': kubernetes_taints[0] must be a KubernetesTaint(...), got 'a'"
        ):
            eks_workers(kubernetes_taints=["a"])

    def test_labels_of_the_service_are_a_warning(self) -> None:
        group = eks_workers(kubernetes_labels={"sagemaker.amazonaws.com/compute-type": "HyperPod"})
        made = eks_cluster(instance_groups=[group])
        assert any("has the prefix of HyperPod's own labels" in one for one in warnings_of(made))

    def test_tokens_pass(self) -> None:
        value = Token.as_string({"Ref": "Team"})
        assert rendered(kubernetes_labels={"team": value})["KubernetesConfig"] == {
            "Labels": {"team": {"Ref": "Team"}}
        }
        KubernetesTaint(key=value, value=value, effect=value)

    def test_on_slurm(self) -> None:
        with refused("instance group 'workers': kubernetes_labels goes with the EKS orchestrator only"):
            cluster(instance_groups=[controller(), workers(kubernetes_labels={"a": "b"})])

    def test_labels_cannot_be_changed_afterwards(self) -> None:
        labels = {"a": "b"}
        group = eks_workers(kubernetes_labels=labels)
        labels["c"] = "d"
        assert group.kubernetes_labels == {"a": "b"}
        assert hash(group) == hash(replace(group))


class TestNetworkInterface:
    @pytest.mark.parametrize("kind", ["efa", "efa-only"])
    def test_kinds(self, kind: str) -> None:
        assert rendered(network_interface_type=kind)["NetworkInterface"] == {"InterfaceType": kind}

    def test_another_kind(self) -> None:
        with refused("network_interface_type must be one of 'efa', 'efa-only', got 'ena'"):
            eks_workers(network_interface_type="ena")

    def test_a_type_without_efa(self) -> None:
        with refused("network_interface_type 'efa' needs instance types with EFA, got 'ml.g6.xlarge'"):
            eks_workers(instance_type="ml.g6.xlarge", network_interface_type="efa")

    def test_a_token_passes(self) -> None:
        eks_workers(network_interface_type=Token.as_string({"Ref": "Kind"}))

    def test_interfaces_without_addresses_leave_room(self) -> None:
        def made(**props: Any) -> HyperPodCluster:
            where = stack()
            network = ClusterNetwork(
                where, "Network", availability_zone_id="usw2-az1", accelerator_subnet_prefix_length=24
            )
            groups = [eks_workers(instance_count=4, **props)]
            return eks_cluster(where, network=network, vpc_subnets=None, instance_groups=groups)

        assert made(network_interface_type="efa-only")
        with refused("a /24 subnet has 251 usable addresses, the cluster needs 324"):
            made()


class TestOverrideNetwork:
    def test_subnets_and_groups(self) -> None:
        where = stack()
        group = eks_workers(
            override_subnets=[ec2.Subnet.from_subnet_id(where, "Own", "subnet-0123456789abcdef9")],
            override_security_groups=[
                ec2.SecurityGroup.from_security_group_id(where, "OwnGroup", "sg-0123456789abcdef9")
            ],
        )
        made = eks_cluster(where, instance_groups=[group])
        assert violations(properties_of(made)) == []
        assert group_of(made)["OverrideVpcConfig"] == {
            "SecurityGroupIds": ["sg-0123456789abcdef9"],
            "Subnets": ["subnet-0123456789abcdef9"],
        }

    def test_subnets_alone(self) -> None:
        subnet = ec2.Subnet.from_subnet_id(stack(), "Own", "subnet-0123456789abcdef9")
        with refused("instance group 'workers': override_security_groups is required"):
            eks_workers(override_subnets=[subnet])

    def test_an_id_is_no_subnet(self) -> None:
        with refused("instance group 'workers': override_subnets[0] must be a subnet, such as"):
            eks_workers(override_subnets=["subnet-0123456789abcdef9"], override_security_groups=[])

    def test_the_cluster_waits_for_them(self) -> None:
        where = stack()
        vpc = ec2.Vpc.from_vpc_attributes(
            where, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
        )
        own = EfaSecurityGroup(where, "Own", vpc=vpc)
        subnet = ec2.Subnet.from_subnet_id(where, "OwnSubnet", "subnet-0123456789abcdef9")
        group = eks_workers(override_subnets=[subnet], override_security_groups=[own])
        template = template_of(eks_cluster(where, instance_groups=[group]))
        (resource,) = cluster_resources(template)
        rules = [
            name
            for name, one in template["Resources"].items()
            if one["Type"] in ("AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress")
        ]
        assert rules
        assert set(rules) <= set(resource["DependsOn"])

    @pytest.mark.parametrize("shaped", [True, False])
    def test_the_pack_finds_groups_that_carry_no_efa(self, shaped: bool) -> None:
        where = stack()
        vpc = ec2.Vpc.from_vpc_attributes(
            where, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
        )
        own = EfaSecurityGroup(where, "Own", vpc=vpc) if shaped else ec2.SecurityGroup(where, "Own", vpc=vpc)
        subnet = ec2.Subnet.from_subnet_id(where, "OwnSubnet", "subnet-0123456789abcdef9")
        group = eks_workers(override_subnets=[subnet], override_security_groups=[own])
        report = review(template_of(eks_cluster(where, instance_groups=[group])))
        found = [one.logical_id for one in report.failures if one.rule_id == "EfaSelfTraffic"]
        assert bool(found) is not shaped

    def test_nodes_elsewhere_take_no_addresses_of_the_shared_subnet(self) -> None:
        where = stack()
        shared = ec2.Subnet.from_subnet_id(where, "Shared", "subnet-0123456789abcdef8")
        other = ec2.Subnet.from_subnet_id(where, "Other", "subnet-0123456789abcdef9")
        efa = ec2.SecurityGroup.from_security_group_id(where, "Efa", "sg-0123456789abcdef9")
        asked: list[Any] = []
        network = SimpleNamespace(
            accelerator_subnet=shared, check_capacity=lambda **said: asked.append(said["groups"])
        )
        flexible = {"instance_type": None, "instance_types": ["ml.p5.4xlarge", "ml.p5.48xlarge"]}
        eks_cluster(
            where,
            network=network,
            vpc_subnets=None,
            instance_groups=[
                eks_workers(**flexible),
                eks_workers(name="far", override_subnets=[other], override_security_groups=[efa]),
                eks_workers(name="near", override_subnets=[shared], override_security_groups=[efa]),
            ],
            restricted_instance_groups=[restricted()],
        )
        assert asked == [
            [
                ("workers", "ml.p5.48xlarge", 16),
                ("near", "ml.p5.48xlarge", 16),
                ("nova", "ml.p5.48xlarge", 4),
            ]
        ]


class TestUpdates:
    def test_a_schedule_with_everything(self) -> None:
        where = stack()
        deployment = Deployment(
            maximum_batch_size=BatchSize.instances(2),
            rollback_maximum_batch_size=BatchSize.percentage(50),
            wait_interval_seconds=300,
            rollback_alarms=[alarm(where), alarm(where, "Nccl")],
        )
        group = eks_workers(
            scheduled_update=ScheduledUpdate(schedule_expression="cron(0 3 ? * SUN *)", deployment=deployment)
        )
        made = eks_cluster(where, instance_groups=[group])
        assert violations(properties_of(made)) == []
        assert group_of(made)["ScheduledUpdateConfig"] == {
            "ScheduleExpression": "cron(0 3 ? * SUN *)",
            "DeploymentConfig": {
                "RollingUpdatePolicy": {
                    "MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
                    "RollbackMaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 50},
                },
                "WaitIntervalInSeconds": 300,
                "AutoRollbackConfiguration": [{"AlarmName": "loss-loss"}, {"AlarmName": "loss-nccl"}],
            },
        }

    @pytest.mark.parametrize("strategy", ["WhenIdle", "WhenAllIdle"])
    def test_patching(self, strategy: str) -> None:
        assert rendered(auto_patching=AutoPatching(strategy=strategy))["AutoPatchConfig"] == {
            "PatchingStrategy": strategy
        }

    def test_patching_in_batches(self) -> None:
        patching = AutoPatching(
            strategy="WhenIdle", deployment=Deployment(maximum_batch_size=BatchSize.percentage(10))
        )
        assert rendered(auto_patching=patching)["AutoPatchConfig"]["DeploymentConfig"] == {
            "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 10}}
        }

    def test_an_empty_deployment_leaves_nothing(self) -> None:
        patching = AutoPatching(strategy="WhenIdle", deployment=Deployment())
        assert rendered(auto_patching=patching)["AutoPatchConfig"] == {"PatchingStrategy": "WhenIdle"}

    def test_the_strategy_that_only_the_api_knows(self) -> None:
        with refused(
            "auto patching: strategy 'DrainFirst' is known to the API only; CloudFormation allows "
            "'WhenIdle', 'WhenAllIdle'"
        ):
            AutoPatching(strategy="DrainFirst")

    @pytest.mark.parametrize("expression", ["rate(7 days)", "0 3 * * 0", "cron(0 3 * * SUN *)", ""])
    def test_other_schedules(self, expression: str) -> None:
        with refused("scheduled update: schedule_expression must"):
            ScheduledUpdate(schedule_expression=expression)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: BatchSize.instances(0), "batch size: value must be at least 1, got 0"),
            (lambda: BatchSize.percentage(101), "batch size: value must be 1 to 100 percent, got 101"),
            (lambda: BatchSize("NODES", 1), "batch size: type must be one of 'INSTANCE_COUNT', 'CAPACITY_PE"),
            (lambda: BatchSize.instances("2"), "batch size: value must be a whole number, got '2'"),
            (
                lambda: Deployment(wait_interval_seconds=3601),
                "deployment: wait_interval_seconds must be 0 to 3600, got 3601",
            ),
            (
                lambda: Deployment(rollback_alarms=["loss"]),
                "deployment: rollback_alarms[0] must be an alarm, such as cloudwatch.Alarm.from_alarm_arn",
            ),
            (
                lambda: Deployment(maximum_batch_size=2),
                "deployment: maximum_batch_size must be a BatchSize, such as BatchSize.instances(1), got 2",
            ),
            (
                lambda: Deployment(rollback_maximum_batch_size=BatchSize.instances(1)),
                "deployment: rollback_maximum_batch_size needs maximum_batch_size",
            ),
            (
                lambda: AutoPatching(strategy="WhenIdle", deployment={}),
                "auto patching: deployment must be a Deployment(...), got a mapping",
            ),
            (
                lambda: eks_workers(auto_patching="WhenIdle"),
                "instance group 'workers': auto_patching must be an AutoPatching(...), got 'WhenIdle'",
            ),
            (
                lambda: eks_workers(scheduled_update="cron(0 3 ? * SUN *)"),
                "instance group 'workers': scheduled_update must be a ScheduledUpdate(...), got 'cron",
            ),
        ],
    )
    def test_wrong_values(self, make: Any, message: str) -> None:
        with refused(message):
            make()

    def test_eleven_alarms(self) -> None:
        where = stack()
        alarms = [alarm(where, f"A{n}") for n in range(11)]
        with refused("deployment: rollback_alarms must have 1 to 10 items, got 11"):
            Deployment(rollback_alarms=alarms)

    def test_tokens_pass(self) -> None:
        number = Token.as_number({"Ref": "Seconds"})
        ScheduledUpdate(
            schedule_expression=Token.as_string({"Ref": "When"}),
            deployment=Deployment(
                maximum_batch_size=BatchSize.instances(number), wait_interval_seconds=number
            ),
        )

    def test_batches_on_slurm(self) -> None:
        patching = AutoPatching(
            strategy="WhenIdle", deployment=Deployment(maximum_batch_size=BatchSize.instances(1))
        )
        with refused(
            "instance group 'workers': auto_patching.deployment updates in batches, which goes with the EKS "
            "orchestrator only"
        ):
            cluster(instance_groups=[controller(), workers(auto_patching=patching)])

    def test_roles_may_describe_the_alarms_of_their_groups(self) -> None:
        where = stack()
        nodes = iam.Role(where, "Nodes", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        update = ScheduledUpdate(
            schedule_expression="cron(0 3 ? * SUN *)",
            deployment=Deployment(
                maximum_batch_size=BatchSize.instances(1), rollback_alarms=[alarm(where), alarm(where, "B")]
            ),
        )
        made = eks_cluster(
            where, execution_role=nodes, instance_groups=[eks_workers(scheduled_update=update)]
        )
        assertions.Template.from_stack(where).has_resource_properties(
            "AWS::IAM::Policy",
            {
                "PolicyDocument": {
                    "Statement": [
                        {
                            "Action": "cloudwatch:DescribeAlarms",
                            "Effect": "Allow",
                            "Resource": [f"{ALARM_ARN}-loss", f"{ALARM_ARN}-b"],
                        }
                    ]
                }
            },
        )
        (resource,) = cluster_resources(template_of(made))
        assert any(name.startswith("NodesDefaultPolicy") for name in resource["DependsOn"])

    def test_composite_alarms_take_all_of_them(self) -> None:
        where = stack()
        nodes = iam.Role(where, "Nodes", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        both = cloudwatch.CompositeAlarm(
            where, "Both", alarm_rule=cloudwatch.AlarmRule.any_of(alarm(where), alarm(where, "B"))
        )
        update = ScheduledUpdate(
            schedule_expression="cron(0 3 ? * SUN *)",
            deployment=Deployment(maximum_batch_size=BatchSize.instances(1), rollback_alarms=[both]),
        )
        eks_cluster(where, execution_role=nodes, instance_groups=[eks_workers(scheduled_update=update)])
        assertions.Template.from_stack(where).has_resource_properties(
            "AWS::IAM::Policy",
            {
                "PolicyDocument": {
                    "Statement": [{"Action": "cloudwatch:DescribeAlarms", "Effect": "Allow", "Resource": "*"}]
                }
            },
        )


class TestMounts:
    def test_an_existing_lustre_file_system_replaces_the_clusters(self) -> None:
        own = LustreMount(dns_name=LUSTRE, mount_name="own", mount_path="/scratch")
        made = cluster(file_system=FileSystem(), instance_groups=[controller(), workers(lustre_mounts=[own])])
        assert group_of(made)["InstanceStorageConfigs"][1:] == [
            {"FsxLustreConfig": {"DnsName": LUSTRE, "MountName": "own", "MountPath": "/scratch"}}
        ]
        assert group_of(made, "controller")["InstanceStorageConfigs"][0]["FsxLustreConfig"]["DnsName"] == (
            FileSystem.dns_name
        )

    def test_home_directories(self) -> None:
        made = cluster(instance_groups=[controller(), workers(open_zfs_mounts=[OpenZfsMount(dns_name=HOME)])])
        assert violations(properties_of(made)) == []
        assert {"FsxOpenZfsConfig": {"DnsName": HOME}} in group_of(made)["InstanceStorageConfigs"]

    def test_two_of_a_kind(self) -> None:
        mounts = [LustreMount(dns_name=LUSTRE, mount_name="a", mount_path=path) for path in ("/a", "/b")]
        with refused("instance group 'workers': lustre_mounts is a second FSx for Lustre file system"):
            workers(lustre_mounts=mounts)

    def test_on_eks(self) -> None:
        group = eks_workers(open_zfs_mounts=[OpenZfsMount(dns_name=HOME)])
        with refused("instance group 'workers': open_zfs_mounts is mounted by HyperPod on Slurm only"):
            eks_cluster(instance_groups=[group])

    def test_the_clusters_file_system_is_left_to_pods_on_eks(self) -> None:
        made = eks_cluster(file_system=FileSystem())
        assert group_of(made)["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]

    @pytest.mark.parametrize(
        ("props", "message"),
        [
            (
                {"dns_name": "example.com"},
                "Lustre mount: dns_name must be the DNS name of an FSx file system",
            ),
            ({"mount_name": "far-too-long"}, "Lustre mount: mount_name must have 1 to 8 characters, got 12"),
            ({"mount_path": "/fsx/"}, "Lustre mount: mount_path must be a path such as /fsx"),
        ],
    )
    def test_wrong_values(self, props: Any, message: str) -> None:
        with refused(message):
            LustreMount(**{"dns_name": LUSTRE, "mount_name": "own", **props})

    def test_tokens_pass(self) -> None:
        text = Token.as_string({"Ref": "Text"})
        LustreMount(dns_name=text, mount_name=text, mount_path=text)


class TestScripts:
    def test_nodes_may_run_none(self) -> None:
        assert "LifeCycleConfig" not in rendered(runs_lifecycle_scripts=False)

    @pytest.mark.parametrize("hook", ["OnCreate", "OnInitComplete"])
    def test_hooks_on_eks(self, hook: str) -> None:
        made = eks_cluster(orchestrator=Orchestrator.eks(EKS_ARN, script_hook=hook))
        assert group_of(made)["LifeCycleConfig"] == {
            hook: "main.sh",
            "SourceS3Uri": "s3://sagemaker-scripts/abc",
        }

    def test_another_hook(self) -> None:
        with refused(
            "EKS orchestrator: script_hook must be one of 'OnInitComplete', 'OnCreate', got 'onCreate'"
        ):
            Orchestrator.eks(EKS_ARN, script_hook="onCreate")


class TestAutoScaling:
    def test_karpenter(self) -> None:
        where = stack()
        made = eks_cluster(
            where,
            auto_scaling=AutoScaling(role=role(where)),
            instance_groups=[eks_workers(), eks_workers(name="burst", instance_count=0)],
        )
        properties = properties_of(made)
        assert violations(properties) == []
        assert properties["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}
        assert properties["ClusterRole"] == "arn:aws:iam::111122223333:role/autoscaler"
        assert warnings_of(made) == []

    def test_off_in_so_many_words(self) -> None:
        made = eks_cluster(auto_scaling=AutoScaling(mode="Disable"))
        assert properties_of(made)["AutoScaling"] == {"Mode": "Disable", "AutoScalerType": "Karpenter"}
        assert "ClusterRole" not in properties_of(made)

    def test_a_role_alone(self) -> None:
        where = stack()
        properties = properties_of(eks_cluster(where, auto_scaling=AutoScaling(mode=None, role=role(where))))
        assert "AutoScaling" not in properties
        assert properties["ClusterRole"].endswith("role/autoscaler")

    @pytest.mark.parametrize(
        ("props", "message"),
        [
            ({}, "autoscaling: role is required to enable autoscaling; AutoscalingRole makes one"),
            ({"mode": "On"}, "autoscaling: mode must be one of 'Enable', 'Disable', got 'On'"),
            ({"mode": None}, "autoscaling: mode and role are both None; leave auto_scaling out instead"),
            ({"role": "arn:aws:iam::111122223333:role/a"}, "autoscaling: role must be a role, such as"),
        ],
    )
    def test_wrong_values(self, props: Any, message: str) -> None:
        with refused(message):
            AutoScaling(**props)

    def test_what_it_needs(self) -> None:
        where = stack()
        scaling = AutoScaling(role=role(where))
        with refused("cluster 'llm-train': auto_scaling needs node_provisioning_mode 'Continuous'"):
            eks_cluster(where, auto_scaling=scaling, node_provisioning_mode=None)
        with refused("cluster 'llm-train': auto_scaling Karpenter goes with the EKS orchestrator only"):
            where = stack()
            cluster(where, auto_scaling=AutoScaling(role=role(where)))
        with refused("cluster 'llm-train': resilience.node_recovery must be 'Automatic' with autoscaling"):
            where = stack()
            eks_cluster(
                where,
                auto_scaling=AutoScaling(role=role(where)),
                resilience=ResiliencePolicy(node_recovery="None"),
            )

    def test_no_group_to_scale_is_a_warning(self) -> None:
        where = stack()
        made = eks_cluster(where, auto_scaling=AutoScaling(role=role(where)))
        (warning,) = warnings_of(made)
        assert "auto_scaling finds no group with instance_count 0" in warning
        assert warning.endswith("[ack: hyperpod:HyperPodCluster.AutoScaling]")

    def test_a_mode_that_is_a_token(self) -> None:
        AutoScaling(mode=Token.as_string({"Ref": "Mode"}), role=role(stack()))

    def test_the_cluster_waits_for_the_policies_of_the_role(self) -> None:
        where = stack()
        own = iam.Role(where, "Own", assumed_by=iam.ServicePrincipal("hyperpod.sagemaker.amazonaws.com"))
        own.add_to_policy(iam.PolicyStatement(actions=["sagemaker:BatchAddClusterNodes"], resources=["*"]))
        made = eks_cluster(where, auto_scaling=AutoScaling(role=own))
        (resource,) = cluster_resources(template_of(made))
        assert any(name.startswith("OwnDefaultPolicy") for name in resource["DependsOn"])

    def test_a_grant_to_the_role_makes_a_cycle(self) -> None:
        where = stack()
        own = iam.Role(where, "Own", assumed_by=iam.ServicePrincipal("hyperpod.sagemaker.amazonaws.com"))
        made = eks_cluster(where, auto_scaling=AutoScaling(role=own))
        with refused("grant to 'Stack/Own', a role of its autoscaler, makes a dependency cycle; "):
            made.grant_describe(own)


class TestTieredCheckpointing:
    def test_on(self) -> None:
        made = eks_cluster(
            tiered_checkpointing=TieredCheckpointing(memory_percentage=40, s3_interval_steps=1000)
        )
        assert properties_of(made)["TieredStorageConfig"] == {
            "Mode": "Enable",
            "InstanceMemoryAllocationPercentage": 40,
        }
        found = assertions.Annotations.from_stack(Stack.of(made)).find_info(
            f"/{made.node.path}", assertions.Match.any_value()
        )
        assert any("saves nothing until jobs write" in str(one.entry.data) for one in found)

    def test_off_in_so_many_words(self) -> None:
        made = eks_cluster(tiered_checkpointing=TieredCheckpointing.disabled())
        assert properties_of(made)["TieredStorageConfig"] == {"Mode": "Disable"}

    def test_on_slurm(self) -> None:
        tiered = TieredCheckpointing(memory_percentage=40, s3_interval_steps=1000)
        with refused(
            "cluster 'llm-train': tiered_checkpointing managed tiered checkpointing goes with the EKS"
        ):
            cluster(tiered_checkpointing=tiered)

    def test_off_on_slurm_passes(self) -> None:
        assert violations(properties_of(cluster(tiered_checkpointing=TieredCheckpointing.disabled()))) == []

    def test_another_kind(self) -> None:
        with refused("cluster 'llm-train': tiered_checkpointing must be a TieredCheckpointing(...), got 40"):
            eks_cluster(tiered_checkpointing=40)


class TestAccountingDatabase:
    def database(self, scope: Construct, **props: Any) -> AccountingDatabase:
        secret = secretsmanager.Secret.from_secret_complete_arn(scope, "Secret", SECRET_ARN)
        return AccountingDatabase(
            **{"endpoint": "db.example.com", "secret": secret, "database_name": "accounting", **props}
        )

    def test_everything(self) -> None:
        where = stack()
        made = cluster(
            where, orchestrator=Orchestrator.slurm(accounting_database=self.database(where, port=3307))
        )
        assert violations(properties_of(made)) == []
        assert properties_of(made)["Orchestrator"] == {
            "Slurm": {
                "AccountingDatabase": {
                    "Endpoint": "db.example.com",
                    "SecretArn": SECRET_ARN,
                    "Name": "accounting",
                    "Port": 3307,
                }
            }
        }

    def test_the_controllers_role_alone_reads_the_secret(self) -> None:
        where = stack()
        head, nodes = (
            iam.Role(where, name, assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
            for name in ("Head", "Nodes")
        )
        secret = secretsmanager.Secret(where, "Own", encryption_key=kms.Key(where, "Key"))
        cluster(
            where,
            execution_role=nodes,
            instance_groups=[controller(execution_role=head), workers()],
            orchestrator=Orchestrator.slurm(accounting_database=self.database(where, secret=secret)),
        )
        policies = assertions.Template.from_stack(where).find_resources("AWS::IAM::Policy")
        reads = {
            policy["Properties"]["Roles"][0]["Ref"]
            for policy in policies.values()
            if "secretsmanager:GetSecretValue" in str(policy)
        }
        assert len(reads) == 1
        assert reads.pop().startswith("Head")

    @pytest.mark.parametrize(
        ("props", "message"),
        [
            ({"endpoint": "db example"}, "accounting database: endpoint must be a host name"),
            ({"secret": SECRET_ARN}, "accounting database: secret must be a secret, such as"),
            ({"database_name": None}, "accounting database: database_name is required, such as"),
            ({"database_name": "a-b"}, "accounting database: database_name must be letters, digits"),
            ({"port": 0}, "accounting database: port must be 1 to 65535, got 0"),
        ],
    )
    def test_wrong_values(self, props: Any, message: str) -> None:
        with refused(message):
            self.database(stack(), **props)

    def test_tokens_pass(self) -> None:
        text = Token.as_string({"Ref": "Text"})
        self.database(stack(), endpoint=text, database_name=text, port=Token.as_number({"Ref": "Port"}))

    def test_what_it_needs(self) -> None:
        where = stack()
        database = self.database(where)
        with refused("orchestrator accounting_database needs node_provisioning_mode 'Continuous'"):
            cluster(
                where,
                orchestrator=Orchestrator.slurm(strategy="Merge", accounting_database=database),
                node_provisioning_mode=None,
            )
        with refused("Slurm orchestrator: accounting_database needs SlurmConfiguration.BY_HYPERPOD"):
            Orchestrator.slurm(
                configuration=SlurmConfiguration.BY_LIFECYCLE_SCRIPTS, accounting_database=database
            )
        with refused("Slurm orchestrator: accounting_database must be an AccountingDatabase(...), got 'db'"):
            Orchestrator.slurm(accounting_database="db")


class TestRestrictedGroups:
    def test_own_file_system(self) -> None:
        made = eks_cluster(
            restricted_instance_groups=[
                restricted(
                    threads_per_core=1,
                    deep_health_checks=["InstanceStress"],
                    training_plan_arn="arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved-p5",
                    secondary_volume_size_gib=200,
                )
            ]
        )
        properties = properties_of(made)
        assert violations(properties) == []
        assert properties["RestrictedInstanceGroups"] == [
            {
                "InstanceGroupName": "nova",
                "InstanceType": "ml.p5.48xlarge",
                "InstanceCount": 4,
                "ExecutionRole": "arn:aws:iam::111122223333:role/hp-exec",
                "ThreadsPerCore": 1,
                "OnStartDeepHealthChecks": ["InstanceStress"],
                "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved-p5",
                "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 200}}],
                "EnvironmentConfig": {
                    "FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}
                },
            }
        ]
        assert warnings_of(made) == []

    def test_shared_file_system(self) -> None:
        made = eks_cluster(
            restricted_instance_groups=[restricted(file_system=None)],
            restricted_environment=RestrictedEnvironment(
                file_system=RestrictedFileSystem(storage_capacity_gib=2400, throughput_mbps_per_tib=250)
            ),
        )
        properties = properties_of(made)
        assert violations(properties) == []
        assert properties["RestrictedInstanceGroupsConfig"] == {
            "SharedEnvironmentConfig": {
                "FSxLustreConfig": {"SizeInGiB": 2400, "PerUnitStorageThroughput": 250},
                "FSxLustreDeletionPolicy": "Keep",
            }
        }

    def test_restricted_groups_alone(self) -> None:
        made = eks_cluster(
            instance_groups=[], restricted_instance_groups=[restricted()], resilience=ResiliencePolicy()
        )
        assert "InstanceGroups" not in properties_of(made)
        assert violations(properties_of(made)) == []

    def test_mounts_and_networks(self) -> None:
        where = stack()
        group = restricted(
            lustre_mounts=[LustreMount(dns_name=LUSTRE, mount_name="own")],
            open_zfs_mounts=[OpenZfsMount(dns_name=HOME)],
            override_subnets=[ec2.Subnet.from_subnet_id(where, "Own", "subnet-0123456789abcdef9")],
            override_security_groups=[
                ec2.SecurityGroup.from_security_group_id(where, "OwnGroup", "sg-0123456789abcdef9")
            ],
        )
        properties = properties_of(eks_cluster(where, restricted_instance_groups=[group]))
        assert violations(properties) == []
        assert properties["RestrictedInstanceGroups"][0]["InstanceStorageConfigs"] == [
            {"FsxLustreConfig": {"DnsName": LUSTRE, "MountName": "own"}},
            {"FsxOpenZfsConfig": {"DnsName": HOME}},
        ]

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (
                lambda: restricted(instance_count=-1),
                "restricted instance group 'nova': instance_count must be 0 to 6758, got -1",
            ),
            (lambda: restricted(instance_count="4"), "instance_count must be a whole number, got '4'"),
            (
                lambda: restricted(instance_type="ml.m5.large", deep_health_checks=["InstanceStress"]),
                "restricted instance group 'nova': deep_health_checks needs an accelerated instance type",
            ),
            (
                lambda: restricted(file_system="fs"),
                "restricted instance group 'nova': file_system must be a RestrictedFileSystem(...), got 'fs'",
            ),
            (
                lambda: RestrictedFileSystem(storage_capacity_gib=1199, throughput_mbps_per_tib=125),
                "restricted file system: storage_capacity_gib must be 1200 to 100800, got 1199",
            ),
            (
                lambda: RestrictedFileSystem(storage_capacity_gib=1200, throughput_mbps_per_tib=124),
                "restricted file system: throughput_mbps_per_tib must be 125 to 1000, got 124",
            ),
            (
                lambda: RestrictedEnvironment(file_system=None),
                "restricted environment: file_system must be a RestrictedFileSystem(...), got None",
            ),
            (
                lambda: RestrictedEnvironment(
                    file_system=RestrictedFileSystem(storage_capacity_gib=1200, throughput_mbps_per_tib=125),
                    deletion_policy="Delete",
                ),
                "restricted environment: deletion_policy must be one of",
            ),
            (
                lambda: eks_cluster(restricted_instance_groups=[eks_workers()]),
                "restricted_instance_groups[0] must be a RestrictedInstanceGroup(...), got an object of",
            ),
            (
                lambda: eks_cluster(instance_groups=[restricted()]),
                "cluster 'llm-train': instance_groups[0] must be an InstanceGroup(...), got an object of",
            ),
            (
                lambda: eks_cluster(restricted_instance_groups=[restricted(name="workers")]),
                "restricted instance group 'workers': name 'workers' is taken by instance_groups[0]",
            ),
            (
                lambda: eks_cluster(restricted_instance_groups=[restricted(instance_type="ml.p9.48xlarge")]),
                "restricted instance group 'nova': instance_type must be an instance type of HyperPod",
            ),
            (
                lambda: eks_cluster(instance_groups=[]),
                "cluster 'llm-train': instance_groups is empty; a cluster has at least one group",
            ),
        ],
    )
    def test_wrong_values(self, make: Any, message: str) -> None:
        with refused(message):
            make()

    def test_a_newer_type_is_vouched_for_by_the_cluster(self) -> None:
        group = restricted(instance_type="ml.p9.48xlarge")
        made = eks_cluster(restricted_instance_groups=[group], unlisted_instance_types=["ml.p9.48xlarge"])
        assert properties_of(made)["RestrictedInstanceGroups"][0]["InstanceType"] == "ml.p9.48xlarge"

    def test_no_file_system_is_a_warning(self) -> None:
        made = eks_cluster(restricted_instance_groups=[restricted(file_system=None)])
        (warning,) = warnings_of(made)
        assert "restricted instance group 'nova': file_system is missing, and so is a shared" in warning

    def test_tokens_pass(self) -> None:
        text, number = Token.as_string({"Ref": "Text"}), Token.as_number({"Ref": "Number"})
        restricted(
            name=text,
            instance_type=text,
            instance_count=number,
            file_system=RestrictedFileSystem(storage_capacity_gib=number, throughput_mbps_per_tib=number),
        )


class TestEksOrchestrator:
    def test_an_arn(self) -> None:
        made = eks_cluster()
        properties = properties_of(made)
        assert violations(properties) == []
        assert properties["Orchestrator"] == {"Eks": {"ClusterArn": EKS_ARN}}
        assert "SlurmConfig" not in group_of(made)
        assert made.orchestrator.kind == "eks"
        assert made.orchestrator.slurm_configuration is None
        assert "SageMaker" not in {tag["Key"] for tag in properties["Tags"]}

    def test_trainium_is_checked(self) -> None:
        made = eks_cluster(instance_groups=[eks_workers(instance_type="ml.trn1.32xlarge")])
        assert group_of(made)["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]

    def test_an_arn_that_is_a_token(self) -> None:
        arn = CfnParameter(Stack(), "Arn").value_as_string
        assert Orchestrator.eks(arn).eks_cluster_arn == arn

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ("training", "EKS orchestrator: control_plane must"),
            (
                "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc",
                "control_plane must be an EKS cluster ARN",
            ),
            (None, "EKS orchestrator: control_plane must be an EKS cluster, such as"),
            (17, "EKS orchestrator: control_plane must be an EKS cluster, such as"),
        ],
    )
    def test_other_kinds(self, value: Any, message: str) -> None:
        with refused(message):
            Orchestrator.eks(value)

    def test_a_network_is_needed(self) -> None:
        with refused("cluster 'llm-train': vpc_subnets is required with the EKS orchestrator"):
            eks_cluster(vpc_subnets=None, security_groups=None)

    def test_node_types_are_left_out(self) -> None:
        made = eks_cluster(instance_groups=[workers()])
        assert "SlurmConfig" not in group_of(made)

    def test_the_cluster_waits_for_the_control_plane_and_what_it_names(self) -> None:
        where = stack()
        plane = Construct(where, "Plane")
        CfnResource(plane, "Cluster", type="AWS::EKS::Cluster")
        later = CfnResource(where, "Chart", type="Custom::Chart")
        stand_in: Any = plane
        stand_in.cluster_arn = EKS_ARN
        stand_in.dependencies_ready = DependencyGroup(later)
        template = template_of(eks_cluster(where, orchestrator=Orchestrator.eks(stand_in)))
        (resource,) = cluster_resources(template)
        assert "Chart" in resource["DependsOn"]
        assert any(name.startswith("PlaneCluster") for name in resource["DependsOn"])

    def test_an_existing_control_plane(self) -> None:
        where = stack()
        plane = EksControlPlane.from_existing(
            where, "Eks", cluster_arn=EKS_ARN, dependency_chart=DependencyChart.installed()
        )
        made = eks_cluster(where, orchestrator=Orchestrator.eks(plane))
        assert properties_of(made)["Orchestrator"] == {"Eks": {"ClusterArn": EKS_ARN}}

    @pytest.mark.parametrize("said", ["installed_add_ons", "operators"])
    def test_the_training_operator_may_read_the_cluster(self, said: str) -> None:
        where = stack()
        chosen: Any = {said: ["cert-manager", "amazon-sagemaker-hyperpod-training-operator"]}
        plane = EksControlPlane.from_existing(
            where, "Eks", cluster_arn=EKS_ARN, dependency_chart=DependencyChart.installed(), **chosen
        )
        made = eks_cluster(where, orchestrator=Orchestrator.eks(plane))
        assert {"Key": "SageMaker", "Value": "true"} in properties_of(made)["Tags"]

    def test_the_training_operator_of_an_arn(self) -> None:
        orchestrator = Orchestrator.eks(EKS_ARN, has_training_operator=True)
        made = eks_cluster(orchestrator=orchestrator, tags={"SageMaker": "true"})
        assert [tag for tag in properties_of(made)["Tags"] if tag["Key"] == "SageMaker"] == [
            {"Key": "SageMaker", "Value": "true"}
        ]
        with refused("tags['SageMaker'] must be 'true', or the HyperPod training operator cannot read the"):
            eks_cluster(orchestrator=orchestrator, tags={"SageMaker": "no"})
        token = Token.as_string({"Ref": "Text"})
        eks_cluster(orchestrator=orchestrator, tags={"SageMaker": token})

    def test_a_switch_that_is_none(self) -> None:
        with refused("EKS orchestrator: has_training_operator must be True or False, got 'yes'"):
            Orchestrator.eks(EKS_ARN, has_training_operator="yes")

    def test_replacing_the_eks_cluster_is_said_on_the_prop(self) -> None:
        assert Orchestrator.eks.__doc__ is not None
        assert "it is replaced" in Orchestrator.eks.__doc__


FIXED = (
    "instance_type",
    "instance_types",
    "execution_role",
    "threads_per_core",
    "capacity_type",
    "slurm_node_type",
    "override_subnets",
    "override_security_groups",
    "root_volume_kms_key",
    "secondary_volume_kms_key",
)


@pytest.mark.parametrize("prop", FIXED)
def test_what_is_fixed_without_a_word_of_cloudformation_is_said_on_the_prop(prop: str) -> None:
    assert InstanceGroup.__doc__ is not None
    (text,) = re.findall(
        rf"\n        {prop}: (.*?)(?=\n        \w+: |\n\n)", InstanceGroup.__doc__, re.DOTALL
    )
    said = re.sub(r"\s+", " ", text)
    assert "Fixed for an existing group" in said or "existing group cannot change" in said


def test_the_registry_schema_takes_everything() -> None:
    where = Stack(App(), "Everything", env=ENV)
    deployment = Deployment(
        maximum_batch_size=BatchSize.instances(1),
        rollback_maximum_batch_size=BatchSize.percentage(100),
        wait_interval_seconds=0,
        rollback_alarms=[alarm(where)],
    )
    made = eks_cluster(
        where,
        auto_scaling=AutoScaling(role=role(where)),
        tiered_checkpointing=TieredCheckpointing(memory_percentage=20, s3_interval_steps=1),
        restricted_instance_groups=[restricted()],
        restricted_environment=RestrictedEnvironment(
            file_system=RestrictedFileSystem(storage_capacity_gib=1200, throughput_mbps_per_tib=1000),
            deletion_policy="DeleteIfNotUsed",
        ),
        instance_groups=[
            eks_workers(
                capacity_type="spot",
                kubernetes_labels={"team": "vision"},
                network_interface_type="efa-only",
                image_release_version="1.2.3",
                auto_patching=AutoPatching(strategy="WhenAllIdle", deployment=deployment),
                scheduled_update=ScheduledUpdate(
                    schedule_expression="cron(0 3 ? * SUN *)", deployment=deployment
                ),
            ),
            InstanceGroup(
                name="burst",
                instance_types=["ml.g6.12xlarge", "ml.g6.24xlarge"],
                instance_count=0,
                capacity_type="on-demand",
                deep_health_checks=[],
                kubernetes_taints=[KubernetesTaint(key="burst", effect="PreferNoSchedule")],
            ),
        ],
    )
    assert violations(properties_of(made)) == []
    from cfnlint.api import lint  # takes more than a second to import

    assert [str(match) for match in lint(json.dumps(template_of(made)), regions=["us-west-2"])] == []
