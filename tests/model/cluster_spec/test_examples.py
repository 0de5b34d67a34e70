from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import botocore.session
import jsonschema
import pytest
import yaml
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from hyperpod_model.checks.resilience import deep_health_checks
from hyperpod_model.cluster_spec import LoadedCluster, load_cluster
from hyperpod_model.cluster_spec.request_fields import NOT_EXPRESSIBLE
from hyperpod_model.cluster_spec.schema import SCHEMA_FILE
from hyperpod_model.faults import UNKNOWN

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
SPECS = sorted(EXAMPLES.glob("*.yaml"))
ALL = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".yaml", ".json"))

PLACEHOLDERS = {
    "SecurityGroupIds": "sg-0123456789abcdef0",
    "Subnets": "subnet-0123456789abcdef0",
    "ExecutionRole": "arn:aws:iam::111122223333:role/made",
    "SourceS3Uri": "s3://sagemaker-made/prefix/",
    "DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "MountName": "abcdefgh",
    "ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/made",
    "ClusterRole": "arn:aws:iam::111122223333:role/made",
}


def load(path: Path) -> LoadedCluster:
    if path.suffix == ".json":
        return load_cluster(path, region="us-west-2", availability_zone_id="usw2-az1")
    return load_cluster(path)


@pytest.fixture(scope="module")
def create_cluster() -> StructureShape:
    return (
        botocore.session.get_session()
        .get_service_model("sagemaker")
        .operation_model("CreateCluster")
        .input_shape
    )


def deployed(value: Any, name: str = "") -> Any:
    """The request with a legal value for everything that exists only at deployment."""
    if value is UNKNOWN:
        return PLACEHOLDERS[name]
    if isinstance(value, dict):
        return {key: deployed(member, key) for key, member in value.items()}
    return [deployed(item, name) for item in value] if isinstance(value, list) else value


def mismatches(value: Any, shape: Shape, path: str = "") -> list[str]:
    """Enums, patterns and lengths, which botocore itself leaves to the service."""
    found = []
    if isinstance(shape, StructureShape):
        for name, member in value.items():
            found += mismatches(member, shape.members[name], f"{path}.{name}")
    elif isinstance(shape, ListShape):
        for item in value:
            found += mismatches(item, shape.member, f"{path}[]")
    elif isinstance(shape, MapShape):
        for item in value.values():
            found += mismatches(item, shape.value, f"{path}{{}}")
    elif isinstance(shape, StringShape):
        pattern = shape.metadata.get("pattern")
        if shape.enum and value not in shape.enum:
            found.append(f"{path}: {value!r} is not in {shape.enum}")
        if pattern and r"\p" not in pattern and re.fullmatch(pattern, value) is None:
            found.append(f"{path}: {value!r} does not match {pattern}")
    limits = shape.metadata
    size = value if isinstance(value, int) else len(value)
    if not limits.get("min", size) <= size <= limits.get("max", size):
        found.append(f"{path}: {size} is not in {limits['min']}..{limits['max']}")
    return found


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_the_service_model_accepts_the_request_of(path: Path, create_cluster: StructureShape) -> None:
    request = deployed(load(path).spec.to_request())
    report = ParamValidator().validate(request, create_cluster)
    assert not report.has_errors(), report.generate_report()
    assert mismatches(request, create_cluster) == []


def test_the_comparison_with_the_service_model_can_fail(create_cluster: StructureShape) -> None:
    request = deployed(load(EXAMPLES / "llm-train.yaml").spec.to_request())
    request["ClusterName"] = "a_b"
    request["InstanceGroups"][0]["InstanceType"] = "ml.none"
    request["InstanceGroups"][0]["InstanceCount"] = 7000
    assert len(mismatches(request, create_cluster)) == 3


def test_fields_that_cannot_be_expressed_exist_in_the_service_model(create_cluster: StructureShape) -> None:
    for names in NOT_EXPRESSIBLE:
        shape: Any = create_cluster
        for name in names:
            while isinstance(shape, ListShape):
                shape = shape.member
            shape = shape.members[name]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_editors_find_the_schema_of(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found is not None
    assert (path.parent / found[1]).resolve() == SCHEMA_FILE.resolve()


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_the_schema_accepts(path: Path) -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), schema)


def test_the_default_is_the_usual_cluster() -> None:
    loaded = load(EXAMPLES / "llm-train.yaml")
    request = loaded.spec.to_request()
    [note] = loaded.notes
    assert note.startswith("budget: counts only what has the tag 'hyperpod-cluster'; the step that is due")
    assert loaded.spec.region == "us-west-2"
    assert loaded.spec.resilience.spare_nodes == 1
    assert request["ClusterName"] == "llm-train"
    assert request["Orchestrator"] == {"Slurm": {}}
    groups = {group["InstanceGroupName"]: group for group in request["InstanceGroups"]}
    assert {name: (group["InstanceType"], group["InstanceCount"]) for name, group in groups.items()} == {
        "controller": ("ml.m5.2xlarge", 1),
        "login": ("ml.m5.4xlarge", 1),
        "workers": ("ml.p5.48xlarge", 16),
    }
    workers = groups["workers"]
    assert workers["ThreadsPerCore"] == 1
    assert workers["OnStartDeepHealthChecks"] == list(deep_health_checks())
    assert workers["InstanceStorageConfigs"] == [
        {"EbsVolumeConfig": {"VolumeSizeInGB": 500}},
        {"FsxLustreConfig": {"DnsName": UNKNOWN, "MountName": UNKNOWN, "MountPath": "/fsx"}},
    ]
    assert "OnStartDeepHealthChecks" not in groups["controller"]


def test_lifecycle_mode_adds_nothing_that_hyperpod_would_configure() -> None:
    request = load(EXAMPLES / "own-lifecycle-scripts.yaml").spec.to_request()
    assert "Orchestrator" not in request
    assert "NodeProvisioningMode" not in request
    for group in request["InstanceGroups"]:
        assert "SlurmConfig" not in group
        assert all("FsxLustreConfig" not in volume for volume in group.get("InstanceStorageConfigs", []))
        assert group["LifeCycleConfig"] == {
            "SourceS3Uri": "s3://sagemaker-my-team-lifecycle/pretrain/",
            "OnCreate": "on_create.sh",
        }


def test_an_existing_network_is_used_as_it_is() -> None:
    request = load(EXAMPLES / "small-existing-network.yaml").spec.to_request()
    assert request["VpcConfig"] == {
        "SecurityGroupIds": ["sg-0123456789abcdef0"],
        "Subnets": ["subnet-0123456789abcdef0"],
    }
