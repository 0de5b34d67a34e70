"""The preflight over HTTP, against the double of AWS: what it finds of things that are really there."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from training_parts import Parts

from aws_double import ACCOUNT
from aws_double.progress import CREATION_SECONDS
from aws_double.session import Session
from hyperpod_lifecycle.preflight.command import main


@pytest.fixture(autouse=True)
def as_root(root: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for name, value in root.environment().items():
        monkeypatch.setenv(name, value)


def cluster(parts: Parts, *, subnet: str, group: str, role: str) -> dict[str, Any]:
    return {
        "name": parts.name,
        "region": "us-west-2",
        "network": {"vpc_id": parts.vpc, "subnet_ids": [subnet], "security_group_ids": [group]},
        "file_system": None,
        "lifecycle_scripts": {
            "source_s3_uri": f"s3://{parts.name}/v1/",
            "entry_point": "on_init_complete.sh",
        },
        "instance_groups": [
            {
                "name": "controller",
                "node_type": "Controller",
                "instance_type": "ml.m5.2xlarge",
                "instance_count": 1,
                "execution_role_arn": role,
            },
            {
                "name": "workers",
                "node_type": "Compute",
                "partition_names": ["train"],
                "instance_type": "ml.p5.48xlarge",
                "instance_count": 2,
                "execution_role_arn": role,
            },
        ],
    }


def findings(spec: dict[str, Any], tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> dict[str, list[Any]]:
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump(spec))
    main([str(file), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert told["account"] == ACCOUNT
    found: dict[str, list[Any]] = {}
    for finding in told["findings"]:
        found.setdefault(finding["check"], []).append(finding)
    return found


def verdicts(found: dict[str, list[Any]], check: str) -> set[str]:
    return {finding["verdict"] for finding in found[check]}


def test_a_cluster_that_can_be_made(root: Session, tmp_path: Any, capsys: Any) -> None:
    parts = Parts(root)
    parts.bucket()
    spec = cluster(parts, subnet=parts.subnet, group=parts.hosts(), role=parts.role())
    found = findings(spec, tmp_path, capsys)
    for check in ("cluster name", "instance type", "subnet", "security group", "bucket", "role"):
        assert verdicts(found, check) == {"ok"}, found[check]
    (addresses,) = found["subnet"]
    assert addresses["message"].startswith("251 free addresses in ")
    # moto keeps no quotas of SageMaker, which is what an unknown quota looks like.
    assert verdicts(found, "quota") == {"cannot tell"}


def test_what_stands_in_the_way_is_found(root: Session, tmp_path: Any, capsys: Any) -> None:
    parts, elsewhere = Parts(root), Parts(root)
    small = parts.make_subnet("10.0.3.0/28", "a")
    spec = cluster(parts, subnet=small, group=parts.group(), role=parts.role(service="ec2.amazonaws.com"))
    found = findings(spec, tmp_path, capsys)
    assert "11 free addresses" in found["subnet"][0]["message"]
    assert "all traffic from and to itself" in found["security group"][0]["message"]
    assert "does not trust sagemaker.amazonaws.com" in found["role"][0]["message"]
    assert "there is no such bucket" in found["bucket"][0]["message"]
    for check in ("subnet", "security group", "bucket", "role"):
        assert verdicts(found, check) == {"problem"}
    foreign = {**spec, "network": {**spec["network"], "security_group_ids": [elsewhere.hosts()]}}
    assert (
        f"the subnets of {parts.vpc}" in findings(foreign, tmp_path, capsys)["security group"][0]["message"]
    )


def test_an_existing_eks_cluster(root: Session, tmp_path: Any, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", "")
    parts = Parts(root)
    eks = parts.eks_cluster()
    root.client("eks").create_addon(clusterName=parts.name, addonName="vpc-cni")
    spec = cluster(parts, subnet=parts.subnet, group=parts.hosts(), role=parts.role())
    parts.bucket()
    for group in spec["instance_groups"]:
        group.pop("node_type")
        group.pop("partition_names", None)
    arn = root.client("eks").describe_cluster(name=eks.physical_id)["cluster"]["arn"]
    spec |= {
        "orchestrator": "eks",
        "eks": {"cluster_arn": arn, "dependency_chart": {"installed": True}},
        "checkpoint_bucket": None,
    }
    found = findings(spec, tmp_path, capsys)
    assert verdicts(found, "EKS cluster") == {"ok"}, found["EKS cluster"]
    assert verdicts(found, "add-on") == {"ok"}, found["add-on"]
    # The double has no Kubernetes API.
    assert verdicts(found, "Kubernetes") == {"cannot tell"}


def test_an_eks_cluster_that_is_made(root: Session, tmp_path: Any, capsys: Any) -> None:
    zones = root.client("ec2").describe_availability_zones()["AvailabilityZones"]
    ids = sorted(zone["ZoneId"] for zone in zones)[:2]
    spec = {
        "name": "made",
        "region": "us-west-2",
        "orchestrator": "eks",
        "network": {"availability_zone_id": ids[0]},
        "file_system": None,
        "checkpoint_bucket": None,
        "eks": {
            "control_plane_availability_zone_ids": ids,
            "dependency_chart": {"oci_uri": "oci://registry.example.com/chart", "version": "0.1.0"},
        },
        "task_governance": {"teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 1}}]},
        "instance_groups": [{"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 2}],
    }
    found = findings(spec, tmp_path, capsys)
    for check in ("cluster name", "zone", "instance type", "EKS cluster", "add-on"):
        assert verdicts(found, check) == {"ok"}, found[check]
    names = [finding["subject"] for finding in found["add-on"]]
    assert "amazon-sagemaker-hyperpod-taskgovernance" in names
    old = {**spec, "eks": {**spec["eks"], "add_on_versions": {"vpc-cni": "v1.18.4-eksbuild.1"}}}
    add_ons = findings(old, tmp_path, capsys)["add-on"]
    assert "EKS has no version v1.18.4-eksbuild.1" in add_ons[0]["message"]


def test_a_cluster_that_exists_is_known(root: Session, tmp_path: Any, capsys: Any) -> None:
    parts = Parts(root)
    root.client("sagemaker").create_cluster(
        ClusterName=parts.name,
        NodeProvisioningMode="Continuous",
        InstanceGroups=[
            {
                "InstanceGroupName": "workers",
                "InstanceType": "ml.m5.2xlarge",
                "InstanceCount": 1,
                "ExecutionRole": parts.role(),
            }
        ],
    )
    parts.bucket()
    spec = cluster(parts, subnet=parts.subnet, group=parts.hosts(), role=parts.role())
    found = findings(spec, tmp_path, capsys)
    assert "there is such a cluster (InService)" in found["cluster name"][0]["message"]
    assert "workers 1 x 32" in found["subnet"][0]["message"]
