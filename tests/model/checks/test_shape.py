"""The table of request fields against botocore's model, and the walk over it."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest
from botocore.model import Shape
from cluster_requests import eks_request, scripted_request, slurm_request

from hyperpod_model.catalog import limits, names
from hyperpod_model.catalog.cluster_request import (
    RequestField,
    checked_on,
    cluster_request,
    instance_group,
    source,
)
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.checks.shape import check_shape, matches
from hyperpod_model.faults import UNKNOWN


def model() -> Shape:
    service = botocore.session.get_session().get_service_model("sagemaker")
    shape = service.operation_model("CreateCluster").input_shape
    assert shape is not None
    return shape


def pairs(shape: Any, field: RequestField, path: str = "") -> Any:
    yield path, shape, field
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            yield from pairs(member, field.members[name], f"{path}.{name}")
    elif shape.type_name == "list":
        yield from pairs(shape.member, field.item, f"{path}[]")
    elif shape.type_name == "map":
        yield from pairs(shape.key, field.key, f"{path}.key")
        yield from pairs(shape.value, field.item, f"{path}.value")


ALL = list(pairs(model(), cluster_request()))


def test_the_table_says_where_and_when_it_was_read() -> None:
    assert "botocore" in source()
    assert checked_on() >= "2026-11-29"


def test_the_table_is_botocores_model() -> None:
    assert len(ALL) > 100
    for path, shape, field in ALL:
        assert field.type == shape.type_name, path
        assert (field.min, field.max) == (shape.metadata.get("min"), shape.metadata.get("max")), path
        if shape.type_name == "structure":
            assert set(field.members) == set(shape.members), path
            assert set(field.required) == set(shape.required_members), path
        if shape.type_name == "string":
            pattern = shape.metadata.get("pattern")
            assert field.pattern == (None if pattern == r"[\S\s]+" else pattern), path
            values = tuple(instance_types()) if field.is_instance_type else field.enum
            assert sorted(values) == sorted(shape.enum), path
        if field.pattern or field.cloudformation_pattern:
            assert field.in_words, path


def test_the_catalogs_name_rules_agree_with_it() -> None:
    for field, rule in [
        (cluster_request().at("ClusterName"), names.CLUSTER),
        (instance_group().at("InstanceGroupName"), names.INSTANCE_GROUP),
        (instance_group().at("LifeCycleConfig", "SourceS3Uri"), names.SOURCE_S3_URI),
        (instance_group().at("ImageId"), names.IMAGE_ID),
        (instance_group().at("TrainingPlanArn"), names.TRAINING_PLAN_ARN),
    ]:
        assert field.max == rule.max_length
    assert cluster_request().at("InstanceGroups").max == max(
        c.value for c in limits.MAX_INSTANCE_GROUPS.claims
    )


@pytest.mark.parametrize(("path", "shape", "field"), ALL, ids=[path or "request" for path, *_ in ALL])
def test_every_bound_and_value_of_the_model(path: str, shape: Any, field: RequestField) -> None:
    if field.type == "integer":
        for legal in (field.min, field.max):
            assert legal is None or check_shape(legal, field) == []
        assert field.min is None or "must be" in check_shape(field.min - 1, field)[0].message
        assert field.max is None or "must be" in check_shape(field.max + 1, field)[0].message
        assert "must be a whole number" in check_shape("1", field)[0].message
        assert "must be a whole number" in check_shape(True, field)[0].message
    if field.type == "string":
        legal_values = field.cloudformation_enum or field.enum
        assert all(check_shape(value, field) == [] for value in legal_values)
        for value in set(field.enum) - set(legal_values):
            assert "known to the API only" in check_shape(value, field)[0].message
        if field.enum:
            assert "must be one of" in check_shape("Nonesuch", field)[0].message
        if field.max is not None and not field.enum:
            assert f"{field.max} characters" in check_shape("a" * (field.max + 1), field)[0].message
        if field.pattern is not None and not matches(field.pattern, "§"):
            assert check_shape("§" * max(field.min or 1, 1), field)
    if field.type == "list" and field.max is not None:
        assert "items" in check_shape([UNKNOWN] * (field.max + 1), field)[0].message
        assert check_shape([UNKNOWN] * field.max, field) == []
    if field.type in ("structure", "map"):
        assert "must be a mapping" in check_shape([], field)[0].message
        assert check_shape(dict.fromkeys(field.required, UNKNOWN), field) == []
        for name in field.required:
            assert [f.path for f in check_shape({}, field) if f.path == (name,)]
    assert check_shape(UNKNOWN, field) == []


@pytest.mark.parametrize("request_", [slurm_request(), scripted_request(), eks_request()])
def test_legal_requests_pass(request_: dict[str, Any]) -> None:
    assert check_shape(request_, cluster_request()) == []


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"InstanceCont": 1}, "InstanceCont: is no field of the service; did you mean 'InstanceCount'"),
        ({"Zebra": 1}, "Zebra: is no field that this version knows; known here: AutoPatchConfig, "),
        ({"OnStartDeepHealthChecks": []}, "OnStartDeepHealthChecks: must not be empty; leave it out instead"),
        (
            {"AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "DrainPolicy": {}}},
            "AutoPatchConfig.DrainPolicy: is known to the API only, not to CloudFormation; ",
        ),
        (
            {"OnStartDeepHealthChecks": ["MultiNodeTrainingValidation"]},
            "OnStartDeepHealthChecks[0]: 'MultiNodeTrainingValidation' is known to the API only; "
            "CloudFormation allows 'InstanceStress', 'InstanceConnectivity'; ",
        ),
        ({"ThreadsPerCore": 3}, "ThreadsPerCore: must be 1 to 2, got 3"),
        (
            {"ImageId": "ami-0123456789abcdefg"},
            "ImageId: must be an AMI id such as ami-0123456789abcdef0, or",
        ),
        ({"ExecutionRole": "arn:aws:iam::1:role/a-role"}, "ExecutionRole: must be an IAM role ARN such as "),
        ({"TrainingPlanArn": f"arn:{'x' * 60}"}, "TrainingPlanArn: must be a training plan ARN such as "),
        (
            {"LifeCycleConfig": {"SourceS3Uri": "bucket/prefix"}},
            "LifeCycleConfig.SourceS3Uri: must be an address such as s3://bucket/prefix, got 'bucket/prefix'",
        ),
        (
            {"LifeCycleConfig": {"SourceS3Uri": "s3://b/" + "a" * 1024}},
            "LifeCycleConfig.SourceS3Uri: must have 0 to 1024 characters, got 1031",
        ),
        (
            {"LifeCycleConfig": {"OnCreate": "a" * 129}},
            "LifeCycleConfig.OnCreate: must have 1 to 128 characters, got 129",
        ),
        (
            {
                "InstanceStorageConfigs": [
                    {"FsxLustreConfig": {"DnsName": UNKNOWN, "MountName": UNKNOWN, "MountPath": "/fsx/"}}
                ]
            },
            "InstanceStorageConfigs[0].FsxLustreConfig.MountPath: must be a path such as /fsx, ",
        ),
        (
            {"SlurmConfig": {"NodeType": "Worker"}},
            "SlurmConfig.NodeType: must be one of 'Controller', 'Login', ",
        ),
    ],
)
def test_faults_in_words(members: dict[str, Any], fault: str) -> None:
    group = {"InstanceGroupName": "g", "InstanceCount": 1, "ExecutionRole": UNKNOWN, **members}
    found = [str(one) for one in check_shape(group, instance_group())]
    assert len(found) == 1
    assert found[0].startswith(fault)


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("a", True),
        ("a" * 63, True),
        ("llm-train-2", True),
        ("a" * 64, False),
        ("", False),
        ("-a", False),
        ("a-", False),
        ("a_b", False),
        ("a b", False),
        ("é", False),
        ("a\n", False),
    ],
)
def test_names(name: str, legal: bool) -> None:
    assert (check_shape(name, cluster_request().at("ClusterName")) == []) is legal
    assert (check_shape(name, instance_group().at("InstanceGroupName")) == []) is legal


def test_tags_take_letters_of_any_script() -> None:
    field = cluster_request().at("Tags", "Value")
    assert check_shape("Größe 大 _.:/=+-@", field) == []
    assert check_shape("a,b", field)[0].message.startswith("must be letters, digits, spaces")


def test_none_counts_as_absent() -> None:
    group = {"InstanceGroupName": "g", "InstanceCount": 1, "ExecutionRole": UNKNOWN, "ThreadsPerCore": None}
    assert check_shape(group, instance_group()) == []


@pytest.mark.parametrize(
    ("labels", "fault"),
    [
        ({"-a": "b"}, "-a: must be a Kubernetes label key, got '-a'"),
        ({"a": "-b"}, "a: must be a Kubernetes label value, got '-b'"),
    ],
)
def test_keys_and_values_of_maps(labels: dict[str, str], fault: str) -> None:
    field = instance_group().at("KubernetesConfig", "Labels")
    assert [str(one) for one in check_shape(labels, field)] == [fault]


def test_a_number_without_a_maximum() -> None:
    field = instance_group().at(
        "ScheduledUpdateConfig", "DeploymentConfig", "RollingUpdatePolicy", "MaximumBatchSize", "Value"
    )
    assert [str(one) for one in check_shape(0, field)] == ["must be at least 1, got 0"]


def test_a_pattern_that_cannot_be_read_is_no_silent_pass() -> None:
    with pytest.raises(ValueError, match="expected one repeated character class"):
        matches(r"\p{L}+x", "ax")


def test_there_is_no_such_field() -> None:
    with pytest.raises(
        LookupError, match="no field 'Nonesuch' in a CreateCluster request; fields: ClusterName, "
    ):
        cluster_request().at("Nonesuch")


def test_an_item_that_is_nothing_is_refused() -> None:
    field = instance_group().at("OnStartDeepHealthChecks")
    (fault,) = check_shape(["InstanceStress", None], field)
    assert str(fault) == "[1]: is nothing; give a value, or leave the item out"
    assert check_shape(["InstanceStress", UNKNOWN], field) == []
