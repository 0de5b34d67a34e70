from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hyperpod_model.cluster_spec import (
    ClusterSpec,
    InstanceGroupSpec,
    LoadedCluster,
    NetworkSpec,
    load_cluster,
)
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError

Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

VALID = """\
name: llm-train
region: us-west-2
network:
  availability_zone_id: usw2-az1
instance_groups:
  - name: controller
    node_type: Controller
    instance_type: ml.m5.2xlarge
    instance_count: 1
  - name: workers
    node_type: Compute
    partition_names: [train]
    instance_type: ml.p5.48xlarge
    instance_count: 4
"""
UNCOUNTED = "budget: null\n"
HEARD = "observability: {emails: [oncall@example.com]}\n" + UNCOUNTED

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ROLE = "arn:aws:iam::111122223333:role/team/nodes"

EXISTING = """\
network:
  vpc_id: vpc-0123456789abcdef0
  subnet_ids: [subnet-0123456789abcdef0]
  security_group_ids: [sg-0123456789abcdef0]
"""


def valid(*changes: tuple[str, str], more: str = "") -> str:
    """The valid specification with text replaced and text appended."""
    text = VALID
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text + more


def existing(*, without: str = "", more: str = "") -> str:
    network = "".join(line for line in EXISTING.splitlines(True) if not without or without not in line)
    return valid(("network:\n  availability_zone_id: usw2-az1\n", network), more=more)


def test_defaults_are_those_of_the_documentation(load: Load) -> None:
    loaded = load(VALID + HEARD)
    spec = loaded.spec
    assert loaded.kind == "spec"
    assert loaded.notes == ()
    assert spec.node_provisioning_mode == "Continuous"
    assert spec.node_recovery == "Automatic"
    assert spec.slurm.mode == "api"
    assert spec.network.vpc_cidr == "10.0.0.0/16"
    assert spec.network.accelerator_subnet_prefix_length == 17
    assert spec.resilience.spare_nodes == 0
    assert spec.file_system is not None
    assert spec.file_system.storage_capacity_gib == 4800
    assert spec.checkpoint_bucket is not None
    assert spec.instance_groups[1].mounts_file_system is True
    assert spec.entry_point == "on_init_complete.sh"


def test_a_specification_cannot_be_changed() -> None:
    spec = ClusterSpec.model_validate(_python())
    with pytest.raises(ValidationError, match="frozen"):
        spec.name = "other"  # type: ignore[misc]


def _python(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": "llm-train",
        "region": "us-west-2",
        "network": NetworkSpec(availability_zone_id="usw2-az1"),
        "instance_groups": (
            InstanceGroupSpec(
                name="controller", node_type="Controller", instance_type="ml.m5.2xlarge", instance_count=1
            ),
            InstanceGroupSpec(
                name="workers",
                node_type="Compute",
                partition_names=("train",),
                instance_type="ml.p5.48xlarge",
                instance_count=4,
            ),
        ),
    }
    return fields | changes


def test_python_says_the_same_as_yaml(load: Load) -> None:
    assert ClusterSpec(**_python()) == load(VALID).spec


def test_python_is_refused_for_what_the_fields_say_together() -> None:
    with pytest.raises(
        ValidationError, match=r"resilience\.spare_nodes: must be fewer than the accelerated nodes"
    ):
        ClusterSpec(**_python(resilience={"spare_nodes": 4}))


def test_region_may_be_left_to_the_credentials_in_python_only(faults_in: Faults) -> None:
    assert ClusterSpec(**_python(region=None)).region is None
    [fault] = faults_in(valid(("us-west-2", "null")))
    assert str(fault) == "region (line 2): is required: the AWS region of the cluster, such as us-west-2"


@pytest.mark.parametrize(
    ("text", "path", "line", "message"),
    [
        # single fields
        (valid(("name: llm-train\n", "")), "name", 1, r"is required: name of the cluster"),
        (valid(("llm-train", "llm_train")), "name", 1, r"letters, digits and hyphens.* got 'llm_train'"),
        (
            valid(("llm-train", "yes")),
            "name",
            1,
            r"must be text, got the boolean true; put it in quotes.*'yes'",
        ),
        (valid(("llm-train", "0123")), "name", 1, r"got the number 83; put it in quotes: write '0123'"),
        (valid(("llm-train", "2026-01-31")), "name", 1, r"got a date; put it in quotes: write '2026-01-31'"),
        (valid(("llm-train", "")), "name", 1, r"must be text, got nothing \(null\); give a value"),
        (valid(("llm-train", "[a]")), "name", 1, r"must be text, got a list$"),
        (valid(more="node_recovery: off\n"), "node_recovery", 15, r"got the boolean false$"),
        (valid(more="node_recovery: automatic\n"), "node_recovery", 15, r"did you mean 'Automatic'"),
        (valid(more="orchestrator: ecs\n"), "orchestrator", 15, r"must be one of 'slurm', 'eks', got 'ecs'"),
        (
            valid(more="checkpoint_buckets: {}\n"),
            "checkpoint_buckets",
            15,
            r"did you mean 'checkpoint_bucket'",
        ),
        (
            valid(more="colour: red\n"),
            "colour",
            15,
            r"is no field here; fields are name, region, orchestrator",
        ),
        (
            valid(("node_type: Controller", "node-type: Controller")),
            "instance_groups[0].node-type",
            7,
            "'node_type'",
        ),
        (
            valid(("instance_count: 4", "instance_count: '4'")),
            "instance_groups[1].instance_count",
            14,
            "without quo",
        ),
        (
            valid(("instance_count: 4", "instance_count: 4.5")),
            "instance_groups[1].instance_count",
            14,
            "whole number",
        ),
        (
            valid(("instance_count: 4", "instance_count: true")),
            "instance_groups[1].instance_count",
            14,
            "whole numb",
        ),
        (
            valid(("instance_count: 4", "instance_count: 9999")),
            "instance_groups[1].instance_count",
            14,
            "0 to 6758",
        ),
        (
            valid(("[train]", "train")),
            "instance_groups[1].partition_names",
            12,
            r"must be a list.*begin with '- '",
        ),
        (valid(more="resilience: 1\n"), "resilience", 15, r"must be a mapping of fields, got the number 1"),
        (valid(more="tags: {a: 1}\n"), "tags.a", 15, r"must be text, got the number 1; put it in quotes"),
        (valid(more="tags: {'aws:a': b}\n"), "tags.aws:a", 15, r"must not start with 'aws:'"),
        (
            valid(more="resilience: {spare_nodes: -1}\n"),
            "resilience.spare_nodes",
            15,
            r"at least 0, got the number -1",
        ),
        (valid(("instance_groups:", "instance_groups: []\nx:")), "instance_groups", 5, r"at least one group"),
        # region and zone
        (valid(("us-west-2", "us-west-9")), "region", 2, r"there is no region 'us-west-9'; did you mean"),
        (valid(("us-west-2", "eu-west-3")), "region", 2, r"region 'eu-west-3' has no HyperPod"),
        (
            valid(("usw2-az1", "us-west-2a")),
            "network.availability_zone_id",
            4,
            r"must be the id of an Availability Zone, got the name",
        ),
        (
            valid(("usw2-az1", "one")),
            "network.availability_zone_id",
            4,
            r"must be the id of an Availability Zone, got 'one'",
        ),
        (
            valid(("usw2-az1", "use1-az1")),
            "network.availability_zone_id",
            4,
            r"must be a zone of us-west-2, got 'use1-az1' of us-east-1",
        ),
        # the network
        (
            valid(("availability_zone_id: usw2-az1", "vpc_cidr: 10.1.0.0/16")),
            "network.availability_zone_id",
            3,
            "zone",
        ),
        (valid(("usw2-az1", "usw2-az1\n  vpc_id: vpc-01234567")), "network.vpc_id", 5, "give subnet_ids too"),
        (valid(("usw2-az1", "usw2-az1\n  vpc_cidr: ten")), "network.vpc_cidr", 5, r"must be an IPv4 range"),
        (
            valid(("usw2-az1", "usw2-az1\n  accelerator_subnet_prefix_length: 26")),
            "network.accelerator_subnet_prefix_length",
            5,
            r"a /26 subnet has 59 usable addresses, the cluster needs .*; use a prefix length of 24",
        ),
        (
            existing(without="vpc_id"),
            "network.vpc_id",
            3,
            r"to make a file system \(or set file_system: null\)",
        ),
        (
            existing(without="security", more="").replace("vpc-0123456789abcdef0", "x"),
            "network.vpc_id",
            4,
            r"vpc- and",
        ),
        (
            existing().replace("subnet-0123456789abcdef0", "subnet-1"),
            "network.subnet_ids[0]",
            5,
            r"8 or 17 hex",
        ),
        (existing().replace("[sg-0123456789abcdef0]", "[]"), "network.security_group_ids", 6, r"is empty"),
        (existing().replace("[subnet-0123456789abcdef0]", "[]"), "network.subnet_ids", 5, r"is empty"),
        (
            existing().replace("vpc_id", "vpc_cidr: 10.0.0.0/16\n  vpc_id"),
            "network.vpc_cidr",
            4,
            r"sizes a network that is made",
        ),
        (
            existing().replace("vpc_id", "subnet_cidr: 10.0.0.0/26\n  vpc_id"),
            "network.subnet_cidr",
            4,
            r"a /26 subnet has 59 usable addresses",
        ),
        (
            existing().replace("vpc_id", "subnet_cidr: 10.0.0.0/26\n  vpc_id")
            + "    override_subnet_ids: [subnet-0123456789abcdef0]\n"
            + "    override_security_group_ids: [sg-01234567]\n",
            "network.subnet_cidr",
            4,
            r"a /26 subnet has 59 usable addresses",
        ),
        (
            existing().replace("vpc_id", "subnet_cidr: ten\n  vpc_id"),
            "network.subnet_cidr",
            4,
            r"an IPv4 range",
        ),
        # Slurm
        (
            valid(more="slurm: {strategy: Merge}\n"),
            "slurm.strategy",
            15,
            r"must be absent with node_provisioning_mode",
        ),
        (
            valid(more="slurm: {mode: lifecycle, strategy: Merge}\nnode_provisioning_mode: null\n"),
            "slurm.strategy",
            15,
            r"goes with mode 'api'",
        ),
        (
            valid(("    node_type: Controller\n", "")),
            "instance_groups[0].node_type",
            6,
            r"give node_type to every group",
        ),
        (valid(("[train]", "[dev]")), "instance_groups[1].partition_names[0]", 12, r"'dev' is taken"),
        (valid(("[train]", "[]")), "instance_groups[1].partition_names", 12, r"exactly 1 partition"),
        # resilience
        (
            valid(more="resilience: {spare_nodes: 4}\n"),
            "resilience.spare_nodes",
            15,
            r"fewer than the accelerated nodes of the cluster, which are 4, got 4",
        ),
        # instance types and volumes
        (
            valid(("p5.48xlarge", "p5.48xlrge")),
            "instance_groups[1].instance_type",
            13,
            r"did you mean ml.p5.48xlarge",
        ),
        (
            valid(
                ("usw2-az1", "afs1-az1"),
                ("us-west-2", "af-south-1"),
                ("ml.p5.48xlarge", "ml.p6-b200.48xlarge"),
            ),
            "region",
            2,
            r"has no HyperPod",
        ),
        (
            valid(more="    secondary_volume_size_gib: 99999\n"),
            "instance_groups[1].secondary_volume_size_gib",
            15,
            r"1 to 16384, got 99999",
        ),
        (
            valid(("instance_count: 1", f"instance_count: 1\n    secondary_volume_kms_key_arn: {KEY}")),
            "instance_groups[0].secondary_volume_kms_key_arn",
            10,
            r"is for a volume that the group has not",
        ),
        (
            valid(more=f"    root_volume_kms_key_arn: {KEY}\nnode_provisioning_mode: null\n"),
            "instance_groups[1].root_volume_kms_key_arn",
            15,
            r"needs node_provisioning_mode 'Continuous'",
        ),
        (
            valid(more=f"    secondary_volume_kms_key_arn: {KEY}\nnode_provisioning_mode: null\n"),
            "instance_groups[1].secondary_volume_kms_key_arn",
            15,
            r"needs node_provisioning_mode 'Continuous'",
        ),
        (
            valid(more="    deep_health_checks: [Stress]\n"),
            "instance_groups[1].deep_health_checks[0]",
            15,
            r"InstanceS",
        ),
        (
            valid(("instance_count: 1", "instance_count: 1\n    deep_health_checks: [InstanceStress]")),
            "instance_groups[0].deep_health_checks",
            10,
            r"needs an accelerated instance type, got 'ml.m5.2xlarge'; remove the checks or choose",
        ),
        # scripts
        (
            valid(more="lifecycle_scripts: {source_s3_uri: ftp://x/y}\n"),
            "lifecycle_scripts.source_s3_uri",
            15,
            r"an address such as s3://bucket/prefix",
        ),
        (
            valid(more="lifecycle_scripts: {folder: a, source_s3_uri: s3://abc/y}\n"),
            "lifecycle_scripts.source_s3_uri",
            15,
            r"excludes folder",
        ),
        (
            valid(more="lifecycle_scripts: {folder: none}\n"),
            "lifecycle_scripts.folder",
            15,
            r"there is no folder 'none'",
        ),
        (
            valid(more="lifecycle_scripts: {entry_point: /x.sh}\n"),
            "lifecycle_scripts.entry_point",
            15,
            r"must be the name of a file at the top of the folder",
        ),
        (
            valid(more="    lifecycle_scripts: {on_create: a.sh, on_init_complete: b.sh}\n"),
            "instance_groups[1].lifecycle_scripts.on_init_complete",
            15,
            r"excludes on_create",
        ),
        (
            valid(more="    lifecycle_scripts: {on_create: a.sh}\n"),
            "instance_groups[1].lifecycle_scripts.on_create",
            15,
            r"goes with slurm.mode 'lifecycle', got 'api'; use on_init_complete",
        ),
        (
            valid(
                more="    lifecycle_scripts: {on_init_complete: a.sh}\nslurm: {mode: lifecycle}\n"
                "node_provisioning_mode: null\n"
            ),
            "instance_groups[1].lifecycle_scripts.on_init_complete",
            15,
            r"goes with slurm.mode 'api', got 'lifecycle'; use on_create",
        ),
        # file system and bucket
        (
            valid(more="file_system: {storage_capacity_gib: 5000}\n"),
            "file_system.storage_capacity_gib",
            15,
            r"use 4800",
        ),
        (
            valid(more="file_system: {throughput_mbps_per_tib: 300}\n"),
            "file_system.throughput_mbps_per_tib",
            15,
            "250",
        ),
        (
            valid(more="file_system: {mount_path: fsx/}\n"),
            "file_system.mount_path",
            15,
            r"must be a path such as /fsx",
        ),
        (
            valid(more="file_system: {mount_path: /opt/sagemaker}\n"),
            "file_system.mount_path",
            15,
            r"is taken by the seco",
        ),
        (
            valid(more="acknowledged_findings: {LustreRemoval: archived}\n"),
            "acknowledged_findings.LustreRemoval",
            15,
            r"must be the full id, .* such as HyperPodChecks::LustreRemoval",
        ),
        (
            valid(more="acknowledged_findings: {'HyperPodChecks::LustreRemoval': ' '}\n"),
            "acknowledged_findings.HyperPodChecks::LustreRemoval",
            15,
            r"needs a reason",
        ),
        (
            existing().replace("vpc_id", "http_egress: true\n  vpc_id"),
            "network.http_egress",
            4,
            r"security_group_ids name existing ones",
        ),
        (
            valid(more="administrator_role_arns: [me]\n"),
            "administrator_role_arns[0]",
            15,
            r"must be arn:<partition>:iam",
        ),
        (
            valid(more="checkpoint_bucket: {reader_role_arns: [me]}\n"),
            "checkpoint_bucket.reader_role_arns[0]",
            15,
            r"must be arn:<partition>:iam",
        ),
    ],
)
def test_refuses(text: str, path: str, line: int, message: str, faults_in: Faults) -> None:
    faults = faults_in(text)
    said = [str(fault) for fault in faults]
    assert [
        text for text in said if text.startswith(f"{path} (line {line}): ") and re.search(message, text)
    ], said
    assert len(said) == len(set(said))
    for text in said:
        assert not text.removesuffix("...").endswith(".")


@pytest.mark.parametrize(
    "text",
    [
        existing(),
        existing(without="security"),
        existing(without="vpc_id", more="file_system: null\n"),
        existing().replace("vpc_id", "subnet_cidr: 10.0.0.0/22\n  vpc_id"),
        valid(more="resilience: {spare_nodes: 3}\n"),
        valid(more="resilience: {replacement_wait: intolerable}\n"),
        valid(more="file_system: null\ncheckpoint_bucket: null\n"),
        valid(more="slurm: {strategy: Merge}\nnode_provisioning_mode: null\n"),
        valid(more="    deep_health_checks: []\n    secondary_volume_size_gib: 0\n"),
        valid(more="    min_instance_count: 4\n    mounts_file_system: false\n"),
        valid(more="tags: {'7': 'yes'}\n"),
        valid(("usw2-az1", "usw2-az1\n  http_egress: true")),
        valid(more="node_recovery: None\n"),
        valid(more="acknowledged_findings: {'HyperPodChecks::LustreRemoval': archived every night}\n"),
        valid(more="administrator_role_arns: ['arn:aws:iam::111122223333:role/platform/admin']\n"),
        valid(("ml.p5.48xlarge", "ml.p9.48xlarge"), more="unlisted_instance_types: [ml.p9.48xlarge]\n"),
        valid(more="    lifecycle_scripts: {on_init_complete: a.sh}\n"),
        valid(
            more=(
                "    lifecycle_scripts: {on_create: a.sh}\nslurm: {mode: lifecycle}\nnode_provisioning_mode: "
                "null\nlifecycle_scripts: {source_s3_uri: s3://any-bucket/x}\n"
            )
        ),
        valid(more="lifecycle_scripts: {source_s3_uri: s3://any-bucket/x, entry_point: run.sh}\n"),
        VALID.replace("instance_groups:\n", "instance_groups: # groups\n"),
    ],
)
def test_does_not_refuse(text: str, load: Load) -> None:
    assert load(text).kind == "spec"


def test_reports_all_faults_together_in_the_order_of_the_file(faults_in: Faults) -> None:
    faults = faults_in(
        """\
name: llm_train
region: us-west-2
regoin: us-west-2
name: again
network:
  availability_zone_id: us-west-2a
resilience: {spare_nodes: 99}
instance_groups:
  - name: controller
    node_type: Controller
    instance_type: ml.m5.2xlarge
    instance_count: "1"
  - name: workers
    node_type: Compute
    instance_type: ml.p5.48xlarge
    instance_count: 4
    threads_per_core: 3
file_system: {storage_capacity_gib: 1}
"""
    )
    assert [(fault.line, fault.path[-1]) for fault in faults] == [
        (1, "name"),
        (3, "regoin"),
        (4, "name"),
        (6, "availability_zone_id"),
        (7, "spare_nodes"),
        (12, "instance_count"),
        (13, "partition_names"),
        (17, "threads_per_core"),
        (18, "storage_capacity_gib"),
    ]


def test_a_fault_in_one_field_hides_none_in_another_and_invents_none(faults_in: Faults) -> None:
    faults = faults_in(valid(more="slurm: {mode: apii}\n"))
    assert [str(fault) for fault in faults] == [
        "slurm.mode (line 15): must be one of 'api', 'lifecycle', got 'apii'; did you mean 'api'"
    ]


def test_warnings_are_notes_with_their_line(load: Load) -> None:
    loaded = load(valid(more="node_recovery: 'None'\nunlisted_instance_types: [ml.p9.48xlarge]\n"))
    assert any(note.startswith("node_recovery (line 15): ") for note in loaded.notes)
    assert any(note.startswith("unlisted_instance_types[0] (line 16): no group has") for note in loaded.notes)


def test_a_zone_that_the_catalog_lacks_may_exist(load: Load) -> None:
    [note] = load(valid(("usw2-az1", "usw2-az9"), more=HEARD)).notes
    assert note.startswith(
        "network.availability_zone_id (line 4): 'usw2-az9' is not a known zone of us-west-2"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; describe a cluster"),
        ("# only a comment\n", "is empty; describe a cluster"),
        ("- a\n", "must be a mapping of fields at the top"),
        ("text", "must be a mapping of fields at the top"),
    ],
)
def test_says_that_a_file_holds_no_cluster(content: str, message: str, faults_in: Faults) -> None:
    [fault] = faults_in(content)
    assert message in str(fault)


def test_spares_without_accelerated_nodes_are_refused(faults_in: Faults) -> None:
    [fault] = faults_in(valid(("ml.p5.48xlarge", "ml.m5.8xlarge"), more="resilience: {spare_nodes: 1}\n"))
    assert str(fault).startswith("resilience.spare_nodes (line 15): must be fewer than the accelerated nodes")
    empty = "name: a\nregion: us-west-2\nnetwork: {availability_zone_id: usw2-az1}\ninstance_groups: []\n"
    [none] = faults_in(f"{empty}resilience: {{spare_nodes: 1}}\n")
    assert str(none).startswith("instance_groups (line 4): is empty")


def test_a_group_without_node_type_is_one_fault(faults_in: Faults) -> None:
    [fault] = faults_in(valid(("    node_type: Controller\n", "")))
    assert str(fault) == (
        "instance_groups[0].node_type (line 6): is missing, while other groups have it; give node_type to "
        "every group"
    )


def test_roles_and_keys_that_aws_takes_are_not_refused(load: Load) -> None:
    replica = KEY.replace("1234abcd-12ab-34cd-56ef-1234567890ab", "mrk-1234abcd12ab34cd56ef1234567890ab")
    for more in (
        f"    root_volume_kms_key_arn: {replica}\n    execution_role_arn: {ROLE}\n",
        f"    secondary_volume_kms_key_arn: {KEY.replace('111122223333', '444455556666')}\n",
        f"checkpoint_bucket: {{reader_role_arns: ['{ROLE.replace('111122223333', '444455556666')}']}}\n",
    ):
        assert load(valid(more=more)).kind == "spec"


@pytest.mark.parametrize(
    ("more", "path", "message"),
    [
        (
            "    root_volume_kms_key_arn: alias/disks\n",
            "instance_groups[1].root_volume_kms_key_arn",
            r"must be the ARN of a key, arn:.*:key/<id>, got 'alias/disks'; `aws kms describe-key` says it$",
        ),
        (
            f"    secondary_volume_kms_key_arn: {KEY.replace('key/', 'alias/')}\n",
            "instance_groups[1].secondary_volume_kms_key_arn",
            r"must be the ARN of a key",
        ),
        (
            f"    root_volume_kms_key_arn: {KEY.replace('us-west-2', 'us-east-1')}\n",
            "instance_groups[1].root_volume_kms_key_arn",
            r"is of region 'us-east-1', the cluster is in 'us-west-2'; use a key of the same region",
        ),
        (
            f"    execution_role_arn: {ROLE.replace('arn:aws:', 'arn:aws-cn:')}\n",
            "instance_groups[1].execution_role_arn",
            r"must be of partition 'aws', as us-west-2 is, got 'aws-cn'",
        ),
        (
            f"administrator_role_arns: ['{ROLE.replace('arn:aws:', 'arn:aws-us-gov:')}']\n",
            "administrator_role_arns[0]",
            r"must be of partition 'aws'",
        ),
        (
            "    execution_role_arn: nodes\n",
            "instance_groups[1].execution_role_arn",
            r"must be an IAM role ARN such as arn:aws:iam::111122223333:role/name, got 'nodes'",
        ),
    ],
)
def test_refuses_arns_of_another_kind_or_place(more: str, path: str, message: str, faults_in: Faults) -> None:
    [fault] = faults_in(valid(more=more))
    assert re.match(rf"{re.escape(path)} \(line 15\): {message}", str(fault))


def test_execution_roles_are_of_one_account(faults_in: Faults) -> None:
    other = ROLE.replace("111122223333", "444455556666")
    text = valid(
        ("instance_count: 1", f"instance_count: 1\n    execution_role_arn: {ROLE}"),
        more=f"    execution_role_arn: {other}\n",
    )
    [fault] = faults_in(text)
    assert str(fault) == (
        "instance_groups[1].execution_role_arn (line 16): is of account 444455556666, that of "
        "instance_groups[0] of account 111122223333; a cluster's execution roles are of the cluster's own "
        "account"
    )


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (
            "lifecycle_scripts: {source_s3_uri: s3://My_Bucket/x}\n",
            "lifecycle_scripts.source_s3_uri (line 15): names no bucket: 'My_Bucket' is not 3 to 63 lower",
        ),
        (
            "lifecycle_scripts: {entry_point: sub/run.sh}\n",
            "lifecycle_scripts.entry_point (line 15): must be the name of a file at the top of the folder",
        ),
        (
            "    lifecycle_scripts: {source_s3_uri: 'https://b.s3.amazonaws.com/x'}\n",
            "instance_groups[1].lifecycle_scripts.source_s3_uri (line 15): must begin with s3:// so that",
        ),
    ],
)
def test_refuses_scripts_that_nodes_could_not_use(more: str, fault: str, faults_in: Faults) -> None:
    [found] = faults_in(valid(more=more))
    assert str(found).startswith(fault)


def test_tags_leave_room_for_the_cluster_s_own(load: Load, faults_in: Faults) -> None:
    def tags(count: int) -> str:
        return valid(more="tags:\n" + "".join(f"  key-{number}: x\n" for number in range(count)))

    assert len(load(tags(48)).spec.tags) == 48
    [fault] = faults_in(tags(49))
    assert str(fault) == (
        "tags (line 15): must be at most 48, since the cluster gets hyperpod:spare-nodes and "
        "hyperpod:replacement-wait besides, got 49"
    )


def test_tags_of_the_cluster_s_own_are_not_given(faults_in: Faults) -> None:
    [fault] = faults_in(valid(more="tags: {'hyperpod:spare-nodes': '3'}\n"))
    assert str(fault) == (
        "tags.hyperpod:spare-nodes (line 15): is set from resilience, got '3'; leave it out"
    )


def test_a_file_is_no_folder_of_scripts(faults_in: Faults, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/bash\n")
    [fault] = faults_in(valid(more="lifecycle_scripts: {folder: run.sh}\n"))
    assert str(fault) == (
        "lifecycle_scripts.folder (line 15): 'run.sh' is a file; give the folder that holds it, and its name "
        "as entry_point"
    )


def test_https_is_taken_where_every_group_has_its_role(load: Load) -> None:
    text = valid(
        ("    instance_count", f"    execution_role_arn: {ROLE}\n    instance_count"),
        more="lifecycle_scripts: {source_s3_uri: 'https://b.s3.amazonaws.com/x'}\n",
    )
    assert load(text).kind == "spec"


def test_a_network_that_is_made_holds_its_public_subnet_too(faults_in: Faults) -> None:
    text = valid(("usw2-az1", "usw2-az1\n  accelerator_subnet_prefix_length: 16"))
    [fault] = faults_in(text)
    assert str(fault) == (
        "network.vpc_cidr (line 3): must hold accelerator_subnet_prefix_length /16 and a public subnet /24, "
        "got '10.0.0.0/16' with 65536 addresses; use longer prefixes"
    )


def test_messages_name_only_fields_that_a_specification_has(faults_in: Faults, load: Load) -> None:
    [fault] = faults_in(valid(("usw2-az1", "usw2-az1\n  accelerator_subnet_prefix_length: 26")))
    assert "figures with ~ are estimates; use a prefix length of" in fault.message
    own = "slurm: {mode: lifecycle}\nlifecycle_scripts: {source_s3_uri: s3://any-bucket/x}\n"
    [note] = [note for note in load(valid(more=own)).notes if "provisioning" in note]
    assert note.endswith("; set it to null where lifecycle scripts configure Slurm")


def test_says_that_a_file_is_missing_or_a_folder(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none.yaml", "there is no cluster file"), (tmp_path, "is a folder")):
        with pytest.raises(InvalidInputError, match=message) as caught:
            load_cluster(path)
        assert "\n" not in str(caught.value)


def test_a_template_is_told_from_a_cluster(faults_in: Faults) -> None:
    [fault] = faults_in("Parameters: {}\nResources:\n  A: {Type: 'AWS::S3::Bucket', Name: !Sub '${B}'}\n")
    assert fault.message.endswith(
        "is a CloudFormation template, not a cluster; hyperpod-review judges templates"
    )
    assert "is no field here" in str(faults_in(valid(more="Resources: 5\n")))


def test_command_line_and_file_must_agree(load: Load, faults_in: Faults) -> None:
    assert load(VALID, region="us-west-2", availability_zone_id="usw2-az1").spec.region == "us-west-2"
    said = [str(fault) for fault in faults_in(VALID, region="us-east-1", availability_zone_id="usw2-az2")]
    assert said[0].startswith(
        "region (line 2): is 'us-west-2' in this file and 'us-east-1' on the command line"
    )
    assert said[1].startswith(
        "network.availability_zone_id (line 4): is 'usw2-az1' in this file and 'usw2-az2'"
    )


def test_folder_of_scripts_is_relative_to_the_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    spec = load(valid(more="lifecycle_scripts: {folder: scripts, entry_point: go.sh}\n")).spec
    assert spec.lifecycle_scripts.folder == str((tmp_path / "scripts").resolve())
    assert spec.to_request()["InstanceGroups"][0]["LifeCycleConfig"] == {
        "SourceS3Uri": UNKNOWN,
        "OnInitComplete": "go.sh",
    }


def test_anchors_and_merge_keys_save_writing(load: Load) -> None:
    text = valid(
        (
            "    instance_type: ml.p5.48xlarge\n",
            "    <<: &big {instance_type: ml.p5.48xlarge, threads_per_core: 1}\n",
        ),
        more="  - {<<: *big, name: more, node_type: Compute, partition_names: [b], instance_count: 2}\n",
    )
    more = load(text).spec.instance_groups[2]
    assert (more.instance_type, more.threads_per_core) == ("ml.p5.48xlarge", 1)


@pytest.mark.parametrize("more", ["", "observability: {emails: []}\n"])
def test_says_that_nobody_hears(load: Load, more: str) -> None:
    [note] = load(VALID + UNCOUNTED + more).notes
    assert note.startswith("observability: nobody hears of failing nodes, alarms and changes of state")


@pytest.mark.parametrize(
    "said",
    ["null", "{emails: [oncall@example.com]}", "{topic_arn: 'arn:aws:sns:us-west-2:111122223333:oncall'}"],
)
def test_says_nothing_where_somebody_hears_or_nobody_shall(load: Load, said: str) -> None:
    assert load(f"{VALID}{UNCOUNTED}observability: {said}\n").notes == ()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{emails: [oncall]}", r"observability.emails\[0\] .*must be an e-mail address, .*got 'oncall'"),
        ("{emails: ['a b@example.com']}", r"observability.emails\[0\] .*must be an e-mail address"),
        ("{emails: [a@example.com, a@example.com]}", r"emails\[1\] .*'a@example.com' is given twice"),
        (
            "{log_retention_days: 100}",
            r"observability.log_retention_days .*one of 1, 3, 5, .*got 100",
        ),
        ("{topic_arn: oncall}", r"observability.topic_arn .*must be the ARN of a topic, .*got 'oncall'"),
        (
            "{topic_arn: 'arn:aws:sns:us-east-1:111122223333:oncall'}",
            r"observability.topic_arn .*is of region 'us-east-1', the cluster is in 'us-west-2'",
        ),
        ("{health_events: 'no'}", r"observability.health_events .*true or false"),
        ("{pager: 1}", r"observability.pager .*"),
    ],
)
def test_refuses_readers_that_are_none(load: Load, said: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        load(f"{VALID}observability: {said}\n")


def test_warns_of_logs_that_expire_within_a_run(load: Load) -> None:
    said = "observability: {emails: [a@example.com], log_retention_days: 14}\n"
    [note] = load(VALID + UNCOUNTED + said).notes
    assert re.match(
        r"observability.log_retention_days \(line \d+\): is 14, so the log of a failure is gone", note
    )
