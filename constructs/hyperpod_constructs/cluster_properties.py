"""From values in the terms of the ``CreateCluster`` request to checks and to the L1 construct."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aws_cdk import Token
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_model.faults import UNKNOWN

_CLASSES: Mapping[str, Any] = {
    "InstanceGroups": sagemaker.CfnCluster.ClusterInstanceGroupProperty,
    "LifeCycleConfig": sagemaker.CfnCluster.ClusterLifeCycleConfigProperty,
    "InstanceStorageConfigs": sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty,
    "EbsVolumeConfig": sagemaker.CfnCluster.ClusterEbsVolumeConfigProperty,
    "FsxLustreConfig": sagemaker.CfnCluster.ClusterFsxLustreConfigProperty,
    "FsxOpenZfsConfig": sagemaker.CfnCluster.ClusterFsxOpenZfsConfigProperty,
    "InstanceRequirements": sagemaker.CfnCluster.InstanceRequirementsProperty,
    "CapacityRequirements": sagemaker.CfnCluster.ClusterCapacityRequirementsProperty,
    "NetworkInterface": sagemaker.CfnCluster.ClusterNetworkInterfaceProperty,
    "KubernetesConfig": sagemaker.CfnCluster.ClusterKubernetesConfigProperty,
    "Taints": sagemaker.CfnCluster.ClusterKubernetesTaintProperty,
    "OverrideVpcConfig": sagemaker.CfnCluster.VpcConfigProperty,
    "AutoPatchConfig": sagemaker.CfnCluster.AutoPatchConfigProperty,
    "ScheduledUpdateConfig": sagemaker.CfnCluster.ScheduledUpdateConfigProperty,
    "DeploymentConfig": sagemaker.CfnCluster.DeploymentConfigProperty,
    "RollingUpdatePolicy": sagemaker.CfnCluster.RollingUpdatePolicyProperty,
    "MaximumBatchSize": sagemaker.CfnCluster.CapacitySizeConfigProperty,
    "RollbackMaximumBatchSize": sagemaker.CfnCluster.CapacitySizeConfigProperty,
    "AutoRollbackConfiguration": sagemaker.CfnCluster.AlarmDetailsProperty,
    "SlurmConfig": sagemaker.CfnCluster.ClusterSlurmConfigProperty,
    "RestrictedInstanceGroups": sagemaker.CfnCluster.ClusterRestrictedInstanceGroupProperty,
    "EnvironmentConfig": sagemaker.CfnCluster.EnvironmentConfigProperty,
    "FSxLustreConfig": sagemaker.CfnCluster.FSxLustreConfigProperty,
    "RestrictedInstanceGroupsConfig": sagemaker.CfnCluster.RestrictedInstanceGroupsConfigProperty,
    "SharedEnvironmentConfig": sagemaker.CfnCluster.SharedEnvironmentConfigProperty,
    "VpcConfig": sagemaker.CfnCluster.VpcConfigProperty,
    "Orchestrator": sagemaker.CfnCluster.OrchestratorProperty,
    "Eks": sagemaker.CfnCluster.ClusterOrchestratorEksConfigProperty,
    "Slurm": sagemaker.CfnCluster.ClusterOrchestratorSlurmConfigProperty,
    "AccountingDatabase": sagemaker.CfnCluster.ClusterAccountingDatabaseProperty,
    "AutoScaling": sagemaker.CfnCluster.ClusterAutoScalingConfigProperty,
    "TieredStorageConfig": sagemaker.CfnCluster.TieredStorageConfigProperty,
}
_MAPS = ("Labels", "Spot", "OnDemand")
_KEYWORDS = {
    "FSxLustreConfig": "f_sx_lustre_config",
    "FSxLustreDeletionPolicy": "f_sx_lustre_deletion_policy",
    "SizeInGiB": "size_in_gib",
}
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TOKEN_MARK = "Token["


def known_values(value: Any) -> Any:
    """Replace whatever is or holds an unresolved Token, at any depth, with ``UNKNOWN``."""
    if isinstance(value, Mapping):
        return {name: known_values(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        unresolved = any(isinstance(item, str) and item.startswith("#{") for item in value)
        return UNKNOWN if unresolved else [known_values(item) for item in value]
    # Asking jsii costs more than all other checks, and it takes no Python objects of other libraries.
    may_be_token = (
        isinstance(value, float)
        or (isinstance(value, str) and _TOKEN_MARK in value)
        or hasattr(type(value), "__jsii_type__")
    )
    return UNKNOWN if may_be_token and Token.is_unresolved(value) else value


def without_absent(values: Mapping[str, Any]) -> dict[str, Any]:
    """Drop members that are ``None``."""
    return {name: value for name, value in values.items() if value is not None}


def cluster_properties(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of ``CfnCluster`` for a request, tags aside.

    Structures become the L1's own classes: with these, empty ones such as ``Slurm: {}`` survive synthesis,
    which they do not as property overrides.
    """
    return {_keyword(name): _property(name, value) for name, value in request.items() if name != "Tags"}


def _property(name: str, value: Any) -> Any:
    if isinstance(value, list) and name in _CLASSES:
        return [_structure(name, item) for item in value]
    if name in _MAPS and isinstance(value, Mapping):
        return dict(value)
    return _structure(name, value) if isinstance(value, Mapping) else value


def _structure(name: str, value: Mapping[str, Any]) -> Any:
    return _CLASSES[name](**{_keyword(member): _property(member, item) for member, item in value.items()})


def _keyword(name: str) -> str:
    return _KEYWORDS.get(name, _WORD_START.sub("_", name).lower())
