"""An instance group: what it renders, what it refuses."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from aws_cdk import Aws, CfnParameter, Fn, Token, assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from clusters import FileSystem, Scripts, cluster, controller, group_of, properties_of, stack, workers
from create_cluster_model import violations

from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.slurm_configuration import SlurmConfiguration
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_model.faults import InvalidInputError

PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved-p5"


def rendered(**props: Any) -> dict[str, Any]:
    made = cluster(instance_groups=[controller(), workers(**props)])
    assert violations(properties_of(made)) == []
    return group_of(made)


def test_a_group_with_nothing_but_the_needed() -> None:
    assert group_of(cluster(), "controller") == {
        "InstanceGroupName": "controller",
        "InstanceType": "ml.m5.2xlarge",
        "InstanceCount": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/hp-exec",
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/abc", "OnInitComplete": "main.sh"},
        "SlurmConfig": {"NodeType": "Controller"},
    }


@pytest.mark.parametrize(
    ("prop", "value", "name"),
    [
        ("instance_count", 4, "InstanceCount"),
        ("min_instance_count", 0, "MinInstanceCount"),
        ("min_instance_count", 4, "MinInstanceCount"),
        ("threads_per_core", 1, "ThreadsPerCore"),
        ("threads_per_core", 2, "ThreadsPerCore"),
        ("training_plan_arn", PLAN, "TrainingPlanArn"),
        ("image_id", "ami-0123456789abcdef0", "ImageId"),
        ("image_id", "default", "ImageId"),
        ("deep_health_checks", ["InstanceStress"], "OnStartDeepHealthChecks"),
        ("name", "workers", "InstanceGroupName"),
    ],
)
def test_props_of_the_same_meaning(prop: str, value: Any, name: str) -> None:
    assert rendered(**{prop: value})[name] == value


def test_optional_props_leave_nothing_behind() -> None:
    assert set(rendered()) == {
        "InstanceGroupName",
        "InstanceType",
        "InstanceCount",
        "ExecutionRole",
        "LifeCycleConfig",
        "OnStartDeepHealthChecks",
        "InstanceStorageConfigs",
        "SlurmConfig",
    }


class TestVolumes:
    def test_accelerated_groups_have_a_second_volume_by_default(self) -> None:
        assert rendered()["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]

    def test_other_groups_have_none(self) -> None:
        assert "InstanceStorageConfigs" not in group_of(cluster(), "controller")

    def test_zero_is_none_and_not_the_default(self) -> None:
        assert "InstanceStorageConfigs" not in rendered(secondary_volume_size_gib=0)

    def test_a_size_of_ones_own(self) -> None:
        assert rendered(secondary_volume_size_gib=16384)["InstanceStorageConfigs"] == [
            {"EbsVolumeConfig": {"VolumeSizeInGB": 16384}}
        ]

    def test_keys(self) -> None:
        where = stack()
        root, second = kms.Key(where, "Root"), kms.Key(where, "Second")
        group = group_of(
            cluster(
                where,
                instance_groups=[
                    controller(),
                    workers(root_volume_kms_key=root, secondary_volume_kms_key=second),
                ],
            )
        )
        (root_id,) = [one for one in _names(where, "AWS::KMS::Key") if one.startswith("Root")]
        (second_id,) = [one for one in _names(where, "AWS::KMS::Key") if one.startswith("Second")]
        assert group["InstanceStorageConfigs"] == [
            {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": {"Fn::GetAtt": [root_id, "Arn"]}}},
            {
                "EbsVolumeConfig": {
                    "VolumeSizeInGB": 500,
                    "VolumeKmsKeyId": {"Fn::GetAtt": [second_id, "Arn"]},
                }
            },
        ]

    def test_the_file_system_is_mounted(self) -> None:
        made = cluster(
            file_system=FileSystem(), instance_groups=[controller(mounts_file_system=False), workers()]
        )
        assert group_of(made)["InstanceStorageConfigs"][1] == {
            "FsxLustreConfig": {
                "DnsName": FileSystem.dns_name,
                "MountName": FileSystem.mount_name,
                "MountPath": "/fsx",
            }
        }
        assert "InstanceStorageConfigs" not in group_of(made, "controller")

    def test_the_mount_path_can_be_chosen(self) -> None:
        made = cluster(file_system=FileSystem(), file_system_mount_path="/data/lustre")
        assert group_of(made)["InstanceStorageConfigs"][1]["FsxLustreConfig"]["MountPath"] == "/data/lustre"

    def test_lifecycle_scripts_mount_where_they_configure_slurm(self) -> None:
        made = cluster(
            file_system=FileSystem(),
            orchestrator=Orchestrator.slurm(configuration=SlurmConfiguration.BY_LIFECYCLE_SCRIPTS),
            node_provisioning_mode=None,
        )
        assert group_of(made)["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]


class TestDeepHealthChecks:
    def test_the_resilience_policy_chooses_for_gpus(self) -> None:
        made = cluster()
        assert group_of(made)["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
        assert "OnStartDeepHealthChecks" not in group_of(made, "controller")

    def test_an_empty_list_is_off(self) -> None:
        assert "OnStartDeepHealthChecks" not in rendered(deep_health_checks=[])

    def test_trainium_is_not_checked_on_slurm_unasked(self) -> None:
        assert "OnStartDeepHealthChecks" not in rendered(instance_type="ml.trn1.32xlarge")

    def test_a_type_of_which_nothing_is_known_is_not_checked_unasked(self) -> None:
        made = cluster(
            instance_groups=[
                controller(),
                workers(),
                workers(
                    name="new",
                    instance_type="ml.p9.48xlarge",
                    unlisted_instance_type=True,
                    min_instance_count=1,
                ),
            ],
            resilience=None,
        )
        assert set(group_of(made, "new")) & {"OnStartDeepHealthChecks", "InstanceStorageConfigs"} == set()


class TestOverrides:
    def test_a_role_of_its_own(self) -> None:
        where = stack()
        own = iam.Role.from_role_arn(where, "Own", "arn:aws:iam::111122223333:role/own")
        made = cluster(where, instance_groups=[controller(), workers(execution_role=own)])
        assert group_of(made)["ExecutionRole"] == "arn:aws:iam::111122223333:role/own"
        assert group_of(made, "controller")["ExecutionRole"] == "arn:aws:iam::111122223333:role/hp-exec"

    def test_scripts_of_its_own(self) -> None:
        class Own(Scripts):
            source_s3_uri = "s3://other/prefix"
            entry_point = "other.sh"

        made = cluster(instance_groups=[controller(), workers(lifecycle_scripts=Own())])
        assert group_of(made)["LifeCycleConfig"] == {
            "SourceS3Uri": "s3://other/prefix",
            "OnInitComplete": "other.sh",
        }

    def test_no_scripts(self) -> None:
        assert "LifeCycleConfig" not in group_of(cluster(lifecycle_scripts=None))


FAULTS: list[tuple[dict[str, Any], str]] = [
    (
        {"name": "work_ers"},
        "'work_ers': name must be letters, digits and hyphens, first and last a letter or ",
    ),
    ({"name": "w" * 64}, f"'{'w' * 64}': name must have 1 to 63 characters, got 64"),
    (
        {"instance_type": "ml.p5.48xlrge"},
        "'workers': instance_type must be an instance type of HyperPod, got 'ml.p5.48xlrge'; ",
    ),
    ({"instance_count": -1}, "'workers': instance_count must be 0 to 6758, got -1"),
    ({"instance_count": 6759}, "'workers': instance_count must be 0 to 6758, got 6759"),
    ({"instance_count": "16"}, "'workers': instance_count must be a whole number, got '16'"),
    ({"min_instance_count": 17}, "'workers': min_instance_count must not exceed instance_count 16, got 17"),
    ({"threads_per_core": 3}, "'workers': threads_per_core must be 1 to 2, got 3"),
    ({"threads_per_core": 0}, "'workers': threads_per_core must be 1 to 2, got 0"),
    (
        {"instance_type": "ml.m5.2xlarge", "deep_health_checks": ["InstanceStress"]},
        "'workers': deep_health_checks needs an accelerated instance type, got 'ml.m5.2xlarge'; "
        "remove the checks or choose one of ml.p5.48xlarge, ",
    ),
    (
        {"deep_health_checks": ["Stress"]},
        "'workers': deep_health_checks[0] must be one of 'InstanceStress', ",
    ),
    (
        {"deep_health_checks": ["MultiNodeTrainingValidation"]},
        "'workers': deep_health_checks[0] 'MultiNodeTrainingValidation' is known to the API only; ",
    ),
    ({"deep_health_checks": "InstanceStress"}, "'workers': deep_health_checks must be a list, got 'Inst"),
    ({"training_plan_arn": "plan"}, "'workers': training_plan_arn must be a training plan ARN such as "),
    ({"training_plan_arn": "x" * 60}, "'workers': training_plan_arn must be a training plan ARN such as "),
    ({"image_id": "ami-1"}, "'workers': image_id must be an AMI id such as ami-0123456789abcdef0, or "),
    ({"image_id": "my-image"}, "'workers': image_id must be an AMI id such as ami-0123456789abcdef0, or "),
    (
        {"secondary_volume_size_gib": 16385},
        "'workers': secondary_volume_size_gib must be 1 to 16384, got 16385",
    ),
    ({"secondary_volume_size_gib": -1}, "'workers': secondary_volume_size_gib must be 1 to 16384, got -1"),
    (
        {"slurm_node_type": "Compute"},
        "'workers': slurm_node_type must be a SlurmNodeType, got 'Compute'; use ",
    ),
    ({"slurm_node_type": None}, "'workers': slurm_node_type is required"),
    (
        {"partition_names": None},
        "'workers': partition_names must name exactly 1 partition in a Compute group, got 0",
    ),
    (
        {"partition_names": []},
        "'workers': partition_names must name exactly 1 partition in a Compute group, got 0",
    ),
    (
        {"partition_names": ["a", "b"]},
        "'workers': partition_names must name exactly 1 partition in a Compute group, got 2",
    ),
    ({"partition_names": "train"}, "'workers': partition_names must be a list, got 'train'"),
    (
        {"partition_names": ["dev"]},
        "'workers': partition_names[0] 'dev' is taken: HyperPod makes it and puts ",
    ),
    (
        {"slurm_node_type": SlurmNodeType.LOGIN},
        "'workers': partition_names go with Compute groups only, got a Login group; leave them out",
    ),
    (
        {"slurm_node_type": SlurmNodeType.CONTROLLER, "partition_names": None},
        "'workers': instance_count must be 1 for the Controller group, got 16",
    ),
]


@pytest.mark.parametrize(("props", "message"), FAULTS, ids=[message[:70] for _, message in FAULTS])
def test_refused(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(f"instance group {message}")):
        workers(**props)


def test_a_key_for_a_volume_that_is_not_there() -> None:
    with pytest.raises(InvalidInputError, match="secondary_volume_kms_key needs a secondary volume; set"):
        workers(secondary_volume_kms_key=kms.Key(stack(), "Key"), secondary_volume_size_gib=0)


def test_scripts_are_checked() -> None:
    class Wrong(Scripts):
        source_s3_uri = "bucket/prefix"
        entry_point = "/main.sh"

    with pytest.raises(InvalidInputError) as caught:
        workers(lifecycle_scripts=Wrong())
    assert [str(fault) for fault in caught.value.faults] == [
        "instance group 'workers': lifecycle_scripts.source_s3_uri must be an address such as "
        "s3://bucket/prefix, got 'bucket/prefix'",
        "instance group 'workers': lifecycle_scripts.entry_point must be the name of a file under "
        "source_s3_uri, got '/main.sh'",
    ]


VALUES = [
    "name",
    "instance_type",
    "instance_count",
    "min_instance_count",
    "threads_per_core",
    "training_plan_arn",
]
VALUES += [
    "image_id",
    "secondary_volume_size_gib",
    "deep_health_checks",
    "partition_names",
    "slurm_node_type",
]


@pytest.mark.parametrize("prop", VALUES)
@pytest.mark.parametrize("garbage", [1.5, {"a": 1}, [[]], object(), True])
def test_any_garbage_is_a_fault_and_no_other_exception(prop: str, garbage: Any) -> None:
    with pytest.raises(InvalidInputError):
        workers(**{prop: garbage})


def test_all_faults_come_together() -> None:
    with pytest.raises(InvalidInputError) as caught:
        workers(instance_count=-1, threads_per_core=3, partition_names=["dev"])
    assert len(caught.value.faults) == 3


def test_tokens_pass() -> None:
    where = stack()
    count = CfnParameter(where, "Count", type="Number", default=4)
    name = CfnParameter(where, "Name")
    group = workers(
        name=name.value_as_string,
        instance_type=Fn.import_value("type"),
        instance_count=count.value_as_number,
        min_instance_count=Token.as_number(Fn.ref("Count")),
        threads_per_core=count.value_as_number,
        training_plan_arn=Fn.import_value("plan"),
        image_id=Fn.import_value("image"),
        secondary_volume_size_gib=count.value_as_number,
        partition_names=[f"train-{Aws.REGION}"],
        deep_health_checks=[Fn.import_value("check")],
    )
    properties = properties_of(cluster(where, instance_groups=[controller(), group], resilience=None))
    assert properties["InstanceGroups"][1]["InstanceCount"] == {"Ref": "Count"}
    assert properties["InstanceGroups"][1]["InstanceGroupName"] == {"Ref": "Name"}
    assert properties["InstanceGroups"][1]["InstanceType"] == {"Fn::ImportValue": "type"}
    assert properties["InstanceGroups"][1]["InstanceStorageConfigs"] == [
        {"EbsVolumeConfig": {"VolumeSizeInGB": {"Ref": "Count"}}}
    ]
    assert violations(properties) == []


def test_lists_that_are_tokens_pass() -> None:
    partitions = Fn.split(",", Fn.import_value("partitions"))
    made = cluster(instance_groups=[controller(), workers(partition_names=partitions)])
    assert group_of(made)["SlurmConfig"]["PartitionNames"] == {
        "Fn::Split": [",", {"Fn::ImportValue": "partitions"}]
    }


def test_a_group_with_a_token_for_a_name_is_named_by_its_place() -> None:
    name = CfnParameter(stack(), "Name").value_as_string
    with pytest.raises(InvalidInputError, match=r"^instance group: threads_per_core must be 1 to 2, got 3$"):
        workers(name=name, threads_per_core=3)
    group = workers(name=name, secondary_volume_size_gib=0, min_instance_count=1)
    with pytest.raises(
        InvalidInputError, match=r"^instance group #1: min_instance_count needs node_provisioning"
    ):
        cluster(
            instance_groups=[controller(), group],
            node_provisioning_mode=None,
            orchestrator=Orchestrator.slurm(strategy="Merge"),
        )


def test_a_group_is_an_immutable_value() -> None:
    names = ["train"]
    group = workers(partition_names=names)
    with pytest.raises(FrozenInstanceError):
        group.instance_count = 17  # type: ignore[misc]
    names.append("other")
    assert group.partition_names == ("train",)
    assert group == workers()
    assert group != workers(instance_count=17)


def test_one_group_serves_two_clusters() -> None:
    group = workers()
    for name in ("one", "two"):
        assert (
            group_of(cluster(cluster_name=name, instance_groups=[controller(), group]))["InstanceCount"] == 16
        )


@pytest.mark.parametrize("name", ["Controller", "Login", "Compute"])
def test_node_types(name: str) -> None:
    assert SlurmNodeType.of(name) == getattr(SlurmNodeType, name.upper())
    assert SlurmNodeType.of(name).name == name


def test_other_node_types_are_refused() -> None:
    with pytest.raises(
        InvalidInputError, match="no Slurm node type 'Worker'; the service has Controller, Login, Comp"
    ):
        SlurmNodeType.of("Worker")


def _names(where: Any, kind: str) -> list[str]:
    return list(assertions.Template.from_stack(where).find_resources(kind))


def test_the_docstring_names_every_prop() -> None:
    assert InstanceGroup.__doc__ is not None
    documented = re.findall(r"^ {8}(\w+): ", InstanceGroup.__doc__, flags=re.MULTILINE)
    assert documented == [*InstanceGroup.__dataclass_fields__, "InvalidInputError"]
