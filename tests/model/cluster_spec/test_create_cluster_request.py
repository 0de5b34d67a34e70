from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml

from hyperpod_model.catalog.cluster_request import REPORTED_ONLY
from hyperpod_model.cluster_spec import LoadedCluster, load_cluster
from hyperpod_model.cluster_spec.request_fields import NOT_EXPRESSIBLE
from hyperpod_model.faults import UNKNOWN, Fault

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

REQUEST: dict[str, Any] = json.loads((EXAMPLES / "llm-train-request.json").read_text())
PLACE = {"region": "us-west-2", "availability_zone_id": "usw2-az1"}
SUBNET, GROUP = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"
ROLE = "arn:aws:iam::111122223333:role/hp-exec"


def request(**top: Any) -> dict[str, Any]:
    return copy.deepcopy(REQUEST) | top


def with_worker(**fields: Any) -> dict[str, Any]:
    changed = request()
    changed["InstanceGroups"][2] |= fields
    return changed


def with_network(subnets: list[str | None], groups: list[str]) -> dict[str, Any]:
    return request(VpcConfig={"Subnets": subnets, "SecurityGroupIds": groups})


def text(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1)


def noted(loaded: LoadedCluster, pattern: str) -> list[str]:
    return [note for note in loaded.notes if re.search(pattern, note)]


def test_the_example_is_used_unchanged() -> None:
    loaded = load_cluster(EXAMPLES / "llm-train-request.json", **PLACE)
    assert loaded.kind == "create-cluster-request"
    expected = request(VpcConfig={"SecurityGroupIds": [UNKNOWN], "Subnets": [UNKNOWN]})
    assert loaded.spec.to_request() == expected
    assert loaded.spec.region == "us-west-2"
    assert loaded.spec.network.availability_zone_id == "usw2-az1"


def test_the_example_is_accompanied_by_notes() -> None:
    loaded = load_cluster(EXAMPLES / "llm-train-request.json", **PLACE)
    for pattern in (
        r"^VpcConfig\.Subnets\[0\] \(line 4\): 'subnet-0abc\.\.\.' is not a legal id; a VPC .* in usw2-az1",
        r"^VpcConfig\.SecurityGroupIds\[0\] \(line 4\): 'sg-0abc\.\.\.' is not a legal id; a security",
        r"^Slurm: the request has no SlurmConfig, so the lifecycle scripts .*are not added$",
        r"^NodeProvisioningMode: the request names none and none is added",
        r"^LifeCycleConfig: the scripts at s3://my-bucket/lifecycle/ are used as they are; nothing is",
        rf"^ExecutionRole: {ROLE} is imported and not changed; it must already trust .*"
        r"have the managed policy AmazonSageMakerClusterInstanceRolePolicy, .*ec2:DetachNetworkInterface.*"
        r"read s3://my-bucket/lifecycle/ .*buckets named sagemaker-\* only",
        r"^file system and checkpoint bucket: the request names none, so none is made",
        r"^resilience: deep health checks run as the request says; a request declares no spare nodes",
        r"^observability: nobody hears of failing nodes",
        r"^metrics: nobody counts jobs, since only the package's own lifecycle scripts do",
        r"^budget: nobody hears what the cluster costs",
    ):
        assert len(noted(loaded, pattern)) == 1, pattern
    assert len(loaded.notes) == 11


def test_nothing_irreversible_or_costly_is_added() -> None:
    spec = load_cluster(EXAMPLES / "llm-train-request.json", **PLACE).spec
    made = spec.to_request()
    assert "Orchestrator" not in made
    assert "NodeProvisioningMode" not in made
    assert all("SlurmConfig" not in group for group in made["InstanceGroups"])
    assert all("InstanceStorageConfigs" not in group for group in made["InstanceGroups"])
    assert spec.file_system is None
    assert spec.checkpoint_bucket is None


def test_strict_refuses_what_would_be_made(faults_in: Faults) -> None:
    changed = request()
    changed["InstanceGroups"][0]["ExecutionRole"] = "arn:aws:iam::<account>:role/hp-exec"
    faults = {fault.path: fault.message for fault in faults_in(text(changed), strict=True, **PLACE)}
    assert "got 'sg-0abc...'" in faults["VpcConfig", "SecurityGroupIds", 0]
    assert "got 'subnet-0abc...'" in faults["VpcConfig", "Subnets", 0]
    assert "give a real role" in faults["InstanceGroups", 0, "ExecutionRole"]
    assert len(faults) == 3


def test_strict_takes_what_is_real(load: Load) -> None:
    assert load(text(with_network([SUBNET], [GROUP])), strict=True).spec.network.is_existing


def test_a_request_may_be_yaml(load: Load) -> None:
    assert load(yaml.safe_dump(REQUEST), **PLACE).spec == load(text(REQUEST), **PLACE).spec


def test_real_ids_are_imported_and_need_no_place(load: Load) -> None:
    loaded = load(text(with_network([SUBNET, "subnet-01234567"], [GROUP])))
    assert loaded.spec.region is None
    assert loaded.spec.network.subnet_ids == (SUBNET, "subnet-01234567")
    assert loaded.spec.to_request() == with_network([SUBNET, "subnet-01234567"], [GROUP])
    assert [note.split(":")[0] for note in noted(loaded, "is made")] == [
        "file system and checkpoint bucket",
        "observability",
    ]


def test_every_placeholder_is_listed(load: Load) -> None:
    loaded = load(text(with_network(["subnet-a", "subnet-b"], ["sg-<x>", "sg-"])), **PLACE)
    assert [note.split(" ")[0] for note in noted(loaded, "is not a legal id")] == [
        "VpcConfig.Subnets[0]",
        "VpcConfig.Subnets[1]",
        "VpcConfig.SecurityGroupIds[0]",
        "VpcConfig.SecurityGroupIds[1]",
    ]
    assert loaded.spec.to_request()["VpcConfig"] == {"Subnets": [UNKNOWN], "SecurityGroupIds": [UNKNOWN]}


def test_roles_that_are_no_roles_are_made(load: Load) -> None:
    loaded = load(text(with_worker(ExecutionRole="arn:aws:iam::<account>:role/hp")), **PLACE)
    assert [group.execution_role_arn for group in loaded.spec.instance_groups] == [ROLE, ROLE, None]
    assert len(noted(loaded, r"^InstanceGroups\[2\]\.ExecutionRole \(line \d+\): .* is not a legal ARN")) == 1


def test_everything_expressible_comes_back(load: Load) -> None:
    key = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large"
    full = {
        "ClusterName": "full",
        "NodeRecovery": "None",
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"SecurityGroupIds": [GROUP], "Subnets": [SUBNET]},
        "Tags": [{"Key": "team", "Value": "a"}, {"Key": "cost", "Value": ""}],
        "InstanceGroups": [
            {
                "InstanceGroupName": "head",
                "InstanceType": "ml.m5.large",
                "InstanceCount": 1,
                "ExecutionRole": ROLE,
                "SlurmConfig": {"NodeType": "Controller"},
                "LifeCycleConfig": {
                    "SourceS3Uri": "s3://one-bucket/a",
                    "OnInitComplete": "on_init_complete.sh",
                },
            },
            {
                "InstanceGroupName": "gpu",
                "InstanceType": "ml.p5.48xlarge",
                "InstanceCount": 4,
                "MinInstanceCount": 2,
                "ThreadsPerCore": 2,
                "TrainingPlanArn": plan,
                "ImageId": "ami-0123456789abcdef0",
                "ExecutionRole": ROLE.replace("hp-exec", "other"),
                "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
                "OnStartDeepHealthChecks": ["InstanceConnectivity"],
                "LifeCycleConfig": {"SourceS3Uri": "s3://two-bucket/b", "OnInitComplete": "other.sh"},
                "InstanceStorageConfigs": [
                    {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": key}},
                    {"EbsVolumeConfig": {"VolumeSizeInGB": 300, "VolumeKmsKeyId": key}},
                ],
            },
        ],
    }
    loaded = load(text(full), region="us-west-2")
    assert loaded.spec.to_request() == full
    assert noted(
        loaded, "^Slurm: the request has SlurmConfig or Orchestrator.Slurm, so HyperPod configures Slurm"
    )
    assert len(noted(loaded, "^LifeCycleConfig: the scripts at")) == 2
    assert len(noted(loaded, "^ExecutionRole: ")) == 2


def test_node_types_without_an_orchestrator_are_noted(load: Load) -> None:
    changed = request()
    for group, slurm in zip(
        changed["InstanceGroups"],
        (
            {"NodeType": "Controller"},
            {"NodeType": "Login"},
            {"NodeType": "Compute", "PartitionNames": ["train"]},
        ),
        strict=True,
    ):
        group["SlurmConfig"] = slurm
        group["LifeCycleConfig"] = {"SourceS3Uri": "s3://my-bucket/lifecycle/", "OnInitComplete": "end.sh"}
    loaded = load(text(changed), **PLACE)
    assert loaded.spec.slurm.mode == "api"
    assert loaded.spec.entry_point == "end.sh"
    assert noted(loaded, "the template says Orchestrator.Slurm too")
    assert noted(loaded, r"^Orchestrator\.Slurm\.SlurmConfigStrategy.*should be chosen")


@pytest.mark.parametrize(
    ("changed", "options", "path", "message"),
    [
        (
            request(),
            {},
            "VpcConfig",
            r"in which region and zone; pass for instance -c region=us-west-2 -c availability",
        ),
        (
            request(),
            {"region": "us-west-2"},
            "VpcConfig",
            r"in which zone; pass for instance -c availability_zone_id=",
        ),
        (
            request(),
            {"availability_zone_id": "usw2-az1"},
            "VpcConfig",
            r"in which region; pass .* -c region=us-west-2 ",
        ),
        (
            request(),
            PLACE | {"availability_zone_id": "us-west-2a"},
            "",
            r"must be the id of an Availability Zone, got the name",
        ),
        (
            request(),
            PLACE | {"availability_zone_id": "use1-az1"},
            "",
            r"must be a zone of us-west-2, got 'use1-az1'",
        ),
        (request(), PLACE | {"region": "us-west-9"}, "", r"there is no region 'us-west-9'"),
        (
            with_network([SUBNET], ["sg-0abc..."]),
            PLACE,
            "VpcConfig.SecurityGroupIds",
            r"write .* network\.vpc_id",
        ),
        (
            with_network(["subnet-0abc..."], [GROUP]),
            PLACE,
            "VpcConfig.Subnets",
            r"a VPC that the request does not name",
        ),
        (
            with_network([SUBNET, "subnet-x"], [GROUP]),
            PLACE,
            "VpcConfig.Subnets",
            r"mixes real ids with placeholders",
        ),
        (
            with_network(["subnet-0123456789abcdef"], [GROUP]),
            PLACE,
            "VpcConfig.Subnets[0]",
            r"a slip in a real id",
        ),
        (
            with_network([SUBNET], ["vpc-0123456789abcdef0"]),
            PLACE,
            "VpcConfig.SecurityGroupIds[0]",
            r"a slip in a re",
        ),
        (with_network([], [GROUP]), PLACE, "VpcConfig.Subnets", r"1 to 16 items"),
        (
            request(VpcConfig=None),
            PLACE,
            "VpcConfig",
            r"a cluster in the service's own network cannot be expressed yet",
        ),
        (request(InstanceGroups=[]), PLACE, "InstanceGroups", r"at least one group"),
        (request(InstanceGroups=None), PLACE, "InstanceGroups", r"at least one group"),
        (request(InstanceGroups=[None]), PLACE, "InstanceGroups[0]", r"is null; give a value"),
        (with_network([SUBNET, None], [GROUP]), PLACE, "VpcConfig.Subnets[1]", r"is null; give a value"),
        (request(InstanceGroups=[5]), PLACE, "InstanceGroups[0]", r"must be a mapping"),
        (request(NodeRecovry="None"), PLACE, "NodeRecovry", r"did you mean 'NodeRecovery'"),
        (request(node_recovery="None"), PLACE, "node_recovery", r"did you mean 'NodeRecovery'"),
        (request(Colour="red"), PLACE, "Colour", r"fields are ClusterName, InstanceGroups"),
        (request(ClusterName="a_b"), PLACE, "ClusterName", r"letters, digits and hyphens"),
        (request(ClusterName=5), PLACE, "ClusterName", r"must be text, got 5"),
        (request(Tags=[{"Key": "a", "Value": "1"}] * 2), PLACE, "Tags[1].Key", r"is given twice"),
        (
            with_worker(InstanceCont=3),
            PLACE,
            "InstanceGroups[2].InstanceCont",
            r"did you mean 'InstanceCount'",
        ),
        (
            with_worker(InstanceCount="16"),
            PLACE,
            "InstanceGroups[2].InstanceCount",
            r"must be a whole number",
        ),
        (
            with_worker(InstanceType="ml.p5"),
            PLACE,
            "InstanceGroups[2].InstanceType",
            r"unlisted_instance_types of a clus",
        ),
        (
            with_worker(MinInstanceCount=2),
            PLACE,
            "InstanceGroups[2].MinInstanceCount",
            r"needs NodeProvisioningMode 'C",
        ),
        (with_worker(ExecutionRole=None), PLACE, "InstanceGroups[2].ExecutionRole", r"is required"),
        (
            with_worker(LifeCycleConfig=None),
            PLACE,
            "InstanceGroups[2].LifeCycleConfig",
            r"is required where nothing but scripts configures Slurm",
        ),
        (
            with_worker(LifeCycleConfig={"SourceS3Uri": "s3://my-bucket/x"}),
            PLACE,
            "InstanceGroups[2].LifeCycleConfig",
            r"names no script; give OnCreate or OnInitComplete",
        ),
        (
            with_worker(LifeCycleConfig={"OnCreate": "a.sh"}),
            PLACE,
            "InstanceGroups[2].LifeCycleConfig.SourceS3Uri",
            r"is required for a script",
        ),
        (
            with_worker(LifeCycleConfig={"SourceS3Uri": "s3://my-bucket...", "OnCreate": "a.sh"}),
            PLACE,
            "InstanceGroups[2].LifeCycleConfig.SourceS3Uri",
            r"names no bucket: 'my-bucket\.\.\.'",
        ),
        (
            with_worker(
                LifeCycleConfig={"SourceS3Uri": "s3://ab-c", "OnCreate": "a.sh", "OnInitComplete": "b.sh"}
            ),
            PLACE,
            "InstanceGroups[2].LifeCycleConfig.OnInitComplete",
            r"excludes OnCreate",
        ),
        (
            with_worker(
                InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 9, "VolumeKmsKeyId": "id"}}]
            ),
            PLACE,
            "InstanceGroups[2].InstanceStorageConfigs[0].EbsVolumeConfig.VolumeKmsKeyId",
            r"must be the ARN of a key",
        ),
        (
            with_worker(InstanceCount=2000),
            PLACE,
            "",
            r"network\.accelerator_subnet_prefix_length: .*; write a cluster spec",
        ),
    ],
)
def test_refuses(
    changed: dict[str, Any], options: dict[str, Any], path: str, message: str, faults_in: Faults
) -> None:
    said = [str(fault) for fault in faults_in(text(changed), **options)]
    start = rf"{re.escape(path)} \(line \d+\): " if path else ""
    assert [text for text in said if re.match(f"{start}.*{message}", text)], said
    assert len(said) == len({line.split(":")[0] for line in said}) or not path, said


API_ONLY: dict[tuple[str, str], Any] = {
    ("AutoPatchConfig", "PatchSchedule"): {"NextPatchDate": "2027-01-01"},
    ("AutoPatchConfig", "IdleWaitWindowInSeconds"): 7200,
    ("AutoPatchConfig", "DrainPolicy"): {"OnDrainTimeout": "Skip"},
}


@pytest.mark.parametrize("names", API_ONLY, ids=".".join)
def test_what_cloudformation_cannot_say_is_refused_by_name(names: tuple[str, str], faults_in: Faults) -> None:
    config = {"PatchingStrategy": "WhenIdle", names[1]: API_ONLY[names]}
    [fault] = faults_in(text(with_worker(AutoPatchConfig=config)), **PLACE)
    assert fault.path == ("InstanceGroups", 2, *names)
    assert "CloudFormation" in fault.message
    assert fault.line is not None


def test_every_field_that_is_refused_is_tried() -> None:
    assert {("InstanceGroups", *names) for names in API_ONLY} >= set(NOT_EXPRESSIBLE)


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        (
            with_worker(AutoPatchConfig={"PatchingStrategy": "DrainFirst"}),
            "InstanceGroups[2].AutoPatchConfig.PatchingStrategy",
        ),
        (
            with_worker(OnStartDeepHealthChecks=["MultiNodeTrainingValidation"]),
            "InstanceGroups[2].OnStartDeepHealthChecks[0]",
        ),
    ],
)
def test_values_that_cloudformation_lacks_are_refused_by_name(
    changed: dict[str, Any], path: str, faults_in: Faults
) -> None:
    [fault] = faults_in(text(changed), **PLACE)
    assert str(fault).startswith(f"{path} (line ")
    assert "is known to the API only; CloudFormation allows " in fault.message


@pytest.mark.parametrize(
    "name",
    ["TieredStorageConfig", "AutoScaling", "ClusterRole", "RestrictedInstanceGroups", "Orchestrator", "Tags"],
)
def test_null_counts_as_absent(name: str, load: Load) -> None:
    assert load(text(request(**{name: None})), **PLACE).kind == "create-cluster-request"


def test_scripts_that_all_groups_share_are_said_once(load: Load) -> None:
    changed = request()
    for group in changed["InstanceGroups"]:
        group["LifeCycleConfig"]["OnCreate"] = "start.sh"
    spec = load(text(changed), **PLACE).spec
    assert spec.entry_point == "start.sh"
    assert all(group.lifecycle_scripts is None for group in spec.instance_groups)


def test_scripts_that_differ_are_said_in_full_for_every_group(load: Load) -> None:
    other = {"SourceS3Uri": "s3://my-bucket/lifecycle/", "OnCreate": "start.sh"}
    spec = load(text(with_worker(LifeCycleConfig=other)), **PLACE).spec
    said = [group.lifecycle_scripts for group in spec.instance_groups]
    assert [own and (own.source_s3_uri, own.on_create) for own in said] == [
        ("s3://my-bucket/lifecycle/", "on_create.sh"),
        ("s3://my-bucket/lifecycle/", "on_create.sh"),
        ("s3://my-bucket/lifecycle/", "start.sh"),
    ]
    assert spec.lifecycle_scripts.source_s3_uri is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            request(Orchestrator={"Slurm": {}}),
            "OnCreate where HyperPod configures Slurm cannot be expressed yet",
        ),
        (
            with_worker(LifeCycleConfig={"SourceS3Uri": "s3://my-bucket/x", "OnInitComplete": "a.sh"}),
            "OnInitComplete where nothing but scripts can configure Slurm",
        ),
    ],
)
def test_scripts_never_change_the_time_at_which_they_run(
    changed: dict[str, Any], message: str, faults_in: Faults
) -> None:
    found = [fault for fault in faults_in(text(changed), **PLACE) if message in fault.message]
    assert found
    assert all(fault.path[-1] == "LifeCycleConfig" for fault in found)


def test_all_faults_are_reported_together(faults_in: Faults) -> None:
    changed = with_worker(ThreadsPerCore=3, KubernetesConfig={}, InstanceType="ml.p5.48xlrge")
    changed |= {"ClusterName": "a_b", "AutoScaling": {"Mode": "Enable"}, "Colour": 1}
    assert {fault.path[-1] for fault in faults_in(text(changed))} == {
        "ClusterName",
        "AutoScaling",
        "ClusterRole",
        "Colour",
        "ThreadsPerCore",
        "KubernetesConfig",
        "InstanceType",
        "VpcConfig",
    }


@pytest.mark.parametrize(
    "role",
    [
        "arn:aws:iam::11112222333:role/hp-exec",
        "arn:aws:iam::111122223333:user/somebody",
        "arn:aws:sts::111122223333:assumed-role/hp-exec/me",
    ],
)
def test_a_slip_in_the_arn_of_a_role_makes_none(role: str, faults_in: Faults) -> None:
    [fault] = faults_in(text(with_worker(ExecutionRole=role)), **PLACE)
    assert str(fault).startswith("InstanceGroups[2].ExecutionRole (line ")
    assert fault.message.endswith(f"got {role!r}, which looks like a slip in a real ARN")


@pytest.mark.parametrize(
    "role",
    [
        "arn:aws:iam::<account>:role/hp-exec",
        "arn:aws:iam::123:role/...",
        "hp-exec",
        "arn:aws:iam::1111222233...:role/x",
    ],
)
def test_a_placeholder_for_a_role_makes_one(role: str, load: Load) -> None:
    assert len(noted(load(text(with_worker(ExecutionRole=role)), **PLACE), "is not a legal ARN")) == 1


def test_messages_name_only_fields_that_a_request_has(faults_in: Faults) -> None:
    tags = [{"Key": "team", "Value": "a"}, {"Key": "team", "Value": "b"}]
    volume = {"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 500}}
    changed = with_worker(InstanceGroupName="login", InstanceStorageConfigs=[volume]) | {"Tags": tags}
    assert [fault.message for fault in faults_in(text(changed), **PLACE)] == [
        "'login' is taken by InstanceGroups[1]; names are unique",
        "is required for a root volume",
        "does not go with a root volume, whose size HyperPod sets; give the size to a secondary volume",
        "'team' is given twice, here and in Tags[0]",
    ]


def test_what_describe_cluster_reports_is_told_apart_from_misspelt_fields(faults_in: Faults) -> None:
    described = with_worker(CurrentCount=16, TargetCount=16) | {
        "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
        "ClusterStatus": "InService",
    }
    faults = faults_in(text(described), **PLACE)
    assert len(faults) == 4
    assert {fault.message for fault in faults} == {
        "is what DescribeCluster reports, and cannot be asked for; leave it out"
    }


def test_reported_fields_are_those_of_the_service() -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    described = model.operation_model("DescribeCluster").output_shape.members
    of_groups = model.shape_for("ClusterInstanceGroupDetails").members
    asked = model.operation_model("CreateCluster").input_shape.members
    asked_of_groups = model.shape_for("ClusterInstanceGroupSpecification").members
    reported = (set(described) - set(asked)) | (set(of_groups) - set(asked_of_groups))
    assert reported == REPORTED_ONLY
