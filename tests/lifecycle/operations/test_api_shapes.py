"""What the operations take for granted of the API is in botocore's model of it."""

from __future__ import annotations

import re
from pathlib import Path

import botocore.session
import pytest

import hyperpod_lifecycle.operations
from hyperpod_lifecycle.operations.deep_checks import known_checks
from hyperpod_model.catalog.limits import MAX_BATCH_REPAIR_NODES
from hyperpod_model.catalog.repairs import (
    MAX_CHECKED_GROUPS,
    MAX_CHECKED_INSTANCES,
    REFUSALS,
    REPAIRABLE_STATUSES,
)

FOLDER = Path(hyperpod_lifecycle.operations.__file__).parent
CALLS = {
    (service, operation)
    for path in FOLDER.rglob("*.py")
    for service, operation in re.findall(r'\.(?:call|pages)\(\s*"(\w+)", "(\w+)"', path.read_text())
}


@pytest.fixture(scope="module")
def sagemaker():
    return botocore.session.get_session().get_service_model("sagemaker")


def test_calls_are_found():
    assert {
        ("sagemaker", "ListClusterNodes"),
        ("eks", "DescribeCluster"),
        ("logs", "FilterLogEvents"),
    } <= CALLS


@pytest.mark.parametrize(("service", "operation"), sorted(CALLS))
def test_an_operation_exists(service, operation):
    assert operation in botocore.session.get_session().get_service_model(service).operation_names


@pytest.mark.parametrize("operation", ["BatchReplaceClusterNodes", "BatchRebootClusterNodes"])
def test_repairs(sagemaker, operation):
    model = sagemaker.operation_model(operation)
    assert model.input_shape.members["NodeIds"].metadata["max"] == MAX_BATCH_REPAIR_NODES
    failed = model.output_shape.members["Failed"].member
    assert set(failed.members["ErrorCode"].enum) == set(REFUSALS)
    assert set(failed.required_members) == {"NodeId", "ErrorCode", "Message"}


def test_statuses(sagemaker):
    assert set(REPAIRABLE_STATUSES) <= set(sagemaker.shape_for("ClusterInstanceStatus").enum)


def test_checks(sagemaker):
    asked = sagemaker.operation_model("StartClusterHealthCheck").input_shape
    configurations = asked.members["DeepHealthCheckConfigurations"]
    assert configurations.metadata["max"] == MAX_CHECKED_GROUPS
    members = configurations.member.members
    assert members["InstanceIds"].metadata["max"] == MAX_CHECKED_INSTANCES
    assert set(members["DeepHealthChecks"].member.enum) == set(known_checks())


def test_updates(sagemaker):
    asked = sagemaker.operation_model("UpdateClusterSoftware").input_shape
    assert set(sagemaker.shape_for("NodeUnavailabilityType").enum) == {
        "INSTANCE_COUNT",
        "CAPACITY_PERCENTAGE",
    }
    deployment = asked.members["DeploymentConfig"].members
    assert deployment["WaitIntervalInSeconds"].metadata["max"] == 3600
    assert deployment["RollingUpdatePolicy"].required_members == ["MaximumBatchSize"]
