"""What the writer of a wrong field reads: one line for each slip, with advice that works when followed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperpod_model.cluster_spec import LoadedCluster
from hyperpod_model.faults import Fault

Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

SPEC = """\
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
REQUEST = Path(__file__).parents[3] / "examples" / "clusters" / "llm-train-request.json"
PLACE = {"region": "us-west-2", "availability_zone_id": "usw2-az1"}


def spec(old: str = "", new: str = "", more: str = "") -> str:
    assert old in SPEC
    return SPEC.replace(old, new, 1) + more if old else SPEC + more


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            spec("instance_count: 4", "instance_cuont: 4"),
            "instance_groups[1].instance_cuont (line 14): is no field here; did you mean 'instance_count'",
        ),
        (
            spec("instance_count: 4", "InstanceCount: 4"),
            "instance_groups[1].InstanceCount (line 14): is no field here; did you mean 'instance_count'",
        ),
        (
            spec("instance_count: 4", "count: 4"),
            "instance_groups[1].count (line 14): is no field here; did you mean 'instance_count'",
        ),
        (
            spec("instance_type: ml.p5", "type: ml.p5"),
            "instance_groups[1].type (line 13): is no field here; did you mean 'instance_type'",
        ),
        (
            spec("partition_names: [train]", "partition: train"),
            "instance_groups[1].partition (line 12): is no field here; did you mean 'partition_names'",
        ),
        (
            spec("availability_zone_id", "availability_zone"),
            "network.availability_zone (line 4): is no field here; did you mean 'availability_zone_id'",
        ),
        (spec("name: llm-train", "Name: llm-train"), "Name (line 1): is no field here; did you mean 'name'"),
    ],
)
def test_a_misspelt_field_is_not_reported_as_missing_too(faults_in: Faults, text: str, expected: str) -> None:
    assert [str(fault) for fault in faults_in(text)] == [expected]


def test_a_suggestion_never_names_a_field_that_is_given(faults_in: Faults) -> None:
    [fault] = faults_in(spec(more="    instance_counts: 4\n"))
    assert "did you mean" not in fault.message or "min_instance_count" in fault.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (spec("instance_count: 4", "instance_count: '4'"), "got '4'; write it without quotes"),
        (spec("instance_count: 4", "instance_count: four"), "got 'four'; write it in digits"),
        (spec(more="    secondary_volume_size_gib: 500GB\n"), "got '500GB'; write it in digits alone"),
        (spec(more="    mounts_file_system: 'True'\n"), "got 'True'; write it without quotes"),
        (spec(more="    mounts_file_system: maybe\n"), "must be true or false, got 'maybe'"),
        (spec("instance_count: 4", "instance_count:"), "got nothing (null); give a value"),
        (spec("\n  availability_zone_id: usw2-az1", ""), "got nothing (null); give a value"),
        (spec(more="tags: {team: null}\n"), "got nothing (null); give a value, or leave the field out"),
        (spec(more="slurm: null\n"), "got nothing (null); give a value, or leave the field out"),
        (
            spec("\n  availability_zone_id: usw2-az1", " usw2-az1"),
            "got 'usw2-az1'; write its fields below it: availability_zone_id, vpc_cidr, "
            "accelerator_subnet_prefix_length, vpc_id, subnet_ids, security_group_ids, http_egress, "
            "isolated, subnet_cidr",
        ),
        (
            spec(more="file_system: false\n"),
            "must be a mapping of fields, got the boolean false; write its fields below it: "
            "storage_capacity_gib, throughput_mbps_per_tib, mount_path, removal, efa_enabled, "
            "data_repository; or null for none",
        ),
        (
            spec(more="checkpoint_signing_key: true\n"),
            "got the boolean true; write its fields below it: verifier_role_arns; or {} for its defaults; "
            "or null for none",
        ),
        (
            spec(more="tiered_checkpointing: true\n"),
            "got the boolean true; write its fields below it: enabled, memory_percentage, s3_interval_steps; "
            "or null for none",
        ),
        (
            spec(more="checkpoint_bucket: None\n"),
            "must be a mapping of fields, got 'None'; write its fields below it: reader_role_arns; "
            "or null for none",
        ),
        (spec(more="node_provisioning_mode: None\n"), "must be one of 'Continuous', got 'None'; or null"),
        (spec(more="node_recovery: false\n"), "must be one of 'Automatic', 'None', got the boolean false"),
        (spec(more="node_recovery: null\n"), "got nothing (null); write None, which is text in YAML"),
        (
            spec(more="orchestrator: Slurm\n"),
            "must be one of 'slurm', 'eks', got 'Slurm'; did you mean 'slurm'",
        ),
        (
            spec(more="tags:\n  - {Key: team, Value: ml}\n"),
            "must be a mapping of keys to values, got a list; write each as key: value",
        ),
        (
            "name: a\nregion: us-west-2\nnetwork: {availability_zone_id: usw2-az1}\n"
            "instance_groups: {workers: {instance_count: 1}}\n",
            "must be a list, got a mapping; begin each item with '- '",
        ),
    ],
)
def test_the_advice_works_when_followed(faults_in: Faults, text: str, message: str) -> None:
    [fault] = faults_in(text)
    assert fault.message.endswith(message)


def test_a_required_field_is_described_by_a_whole_sentence(faults_in: Faults) -> None:
    [fault] = faults_in(spec("    instance_count: 4\n", ""))
    assert fault.message == "is required: number of instances, spare nodes included"


def test_an_instance_type_is_required_where_no_list_of_them_stands_for_it(faults_in: Faults) -> None:
    [fault] = faults_in(spec("    instance_type: ml.p5.48xlarge\n", ""))
    assert str(fault) == ("instance_groups[1].instance_type (line 10): is required, such as 'ml.p5.48xlarge'")


def test_a_value_that_cannot_be_read_is_reported_once(faults_in: Faults) -> None:
    [fault] = faults_in(spec("name: llm-train", "name: !Ref ClusterName"))
    assert str(fault) == (
        "name (line 1): '!Ref' is a tag of another tool, which is not resolved here; write the value itself"
    )


@pytest.mark.parametrize("value", ["!Foo {availability_zone_id: usw2-az1}", "!GetAtt [a, b]"])
def test_tags_of_other_tools_are_not_dropped(faults_in: Faults, value: str) -> None:
    [fault] = faults_in(spec("\n  availability_zone_id: usw2-az1", f" {value}"))
    assert str(fault).startswith("network (line 3): '!")


def test_standard_tags_are_read(load: Load) -> None:
    text = spec("name: llm-train", "name: !!str 123").replace("network:", "network: !!map")
    assert load(text.replace("instance_count: 4", "instance_count: !!int '4'")).spec.name == "123"


def test_the_command_line_does_not_repeat_what_the_file_lacks(faults_in: Faults) -> None:
    [region] = faults_in(spec("region: us-west-2\n", ""), region="us-west-2")
    assert str(region).startswith("region (line 1): is required")
    [zone] = faults_in(spec("  availability_zone_id: usw2-az1", "  vpc_cidr: 10.0.0.0/16"), **PLACE)
    assert str(zone).startswith("network.availability_zone_id (line 3): is required")
    existing = "network:\n  vpc_id: vpc-0123456789abcdef0\n  subnet_ids: [subnet-0123456789abcdef0]\n"
    text = spec("network:\n  availability_zone_id: usw2-az1\n", existing)
    [said] = faults_in(text, **PLACE)
    assert str(said) == (
        "network.availability_zone_id (line 3): is 'usw2-az1' on the command line "
        "(-c availability_zone_id=...) and not in this file; write it there, or leave it out"
    )


def test_a_request_with_keys_in_camel_case_is_told_the_keys(faults_in: Faults) -> None:
    request = json.loads(REQUEST.read_text())
    lowered = {key[0].lower() + key[1:]: value for key, value in request.items()}
    assert [str(fault).partition(" (")[0] for fault in faults_in(json.dumps(lowered), **PLACE)] == [
        "clusterName",
        "nodeRecovery",
        "vpcConfig",
        "instanceGroups",
    ]
    del lowered["clusterName"]
    [name] = [fault for fault in faults_in(json.dumps(lowered), **PLACE) if "did you" not in fault.message]
    assert str(name) == "ClusterName (line 1): is required"


def test_a_misspelt_field_of_a_request_is_not_reported_as_missing_too(faults_in: Faults) -> None:
    request = json.loads(REQUEST.read_text())
    request["ClusterNme"] = request.pop("ClusterName")
    [fault] = faults_in(json.dumps(request), **PLACE)
    assert fault.message == "is no field of a CreateCluster request here; did you mean 'ClusterName'"
