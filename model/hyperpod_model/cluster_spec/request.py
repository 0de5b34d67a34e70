"""From a specification to a ``CreateCluster`` request, and back from the request's paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.cluster_spec.group_request import (
    group_of,
    group_path,
    restricted_file_system_of,
    restricted_file_system_path,
    restricted_group_of,
)
from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_TOP = {
    "ClusterName": "name",
    "NodeRecovery": "node_recovery",
    "NodeProvisioningMode": "node_provisioning_mode",
    "InstanceGroups": "instance_groups",
    "RestrictedInstanceGroups": "restricted_instance_groups",
    "Tags": "tags",
}
_NETWORK = {"Subnets": "subnet_ids", "SecurityGroupIds": "security_group_ids"}
_DATABASE = {"Endpoint": "endpoint", "Port": "port", "Name": "database_name", "SecretArn": "secret_arn"}
_TIERED = {"Mode": "enabled", "InstanceMemoryAllocationPercentage": "memory_percentage"}


def request_of(spec: ClusterSpec) -> dict[str, Any]:
    """Return the ``CreateCluster`` request of a specification.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    request: dict[str, Any] = {"ClusterName": spec.name, "NodeRecovery": spec.node_recovery}
    request["VpcConfig"] = UNKNOWN
    if known(spec.network):
        request["VpcConfig"] = {
            "SecurityGroupIds": _ids(spec.network.security_group_ids),
            "Subnets": _ids(spec.network.subnet_ids),
        }
    if spec.node_provisioning_mode is not None:
        request["NodeProvisioningMode"] = spec.node_provisioning_mode
    orchestrator = _orchestrator(spec)
    if orchestrator is not None:
        request["Orchestrator"] = orchestrator
    if spec.instance_groups != () or spec.restricted_instance_groups == ():
        request["InstanceGroups"] = _each(spec.instance_groups, lambda group: group_of(spec, group))
    if spec.restricted_instance_groups != ():
        request["RestrictedInstanceGroups"] = _each(
            spec.restricted_instance_groups, lambda group: restricted_group_of(spec, group)
        )
    optional = {
        "RestrictedInstanceGroupsConfig": _restricted_environment(spec.restricted_environment),
        "TieredStorageConfig": _tiered_storage(spec.tiered_checkpointing),
        **_auto_scaling(spec.auto_scaling),
    }
    request |= {name: value for name, value in optional.items() if value is not None}
    if not known(spec.tags):
        request["Tags"] = UNKNOWN
    elif spec.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in spec.tags.items()]
    return request


def spec_path(path: FaultPath, spec: ClusterSpec, request: Mapping[str, Any]) -> FaultPath:
    """Translate a path of a request into the specification's terms.

    Args:
        path: Path in API terms.
        spec: The specification that the request was made of.
        request: The request.
    """
    match path:
        case ("InstanceGroups" | "RestrictedInstanceGroups" as groups, int(index), *rest):
            at = (_TOP[groups], index)
            group = getattr(spec, _TOP[groups])[index]
            return at if not known(group) else group_path(at, tuple(rest), spec, group)
        case ("RestrictedInstanceGroupsConfig", *rest):
            return ("restricted_environment", *_restricted_environment_path(tuple(rest)))
        case ("Orchestrator", "Slurm", "SlurmConfigStrategy"):
            return ("slurm", "strategy")
        case ("Orchestrator", "Slurm", "AccountingDatabase", *rest):
            member = next((_DATABASE[name] for name in rest if name in _DATABASE), None)
            return ("slurm", "accounting_database", *(() if member is None else (member,)))
        case ("Orchestrator", "Eks", "ClusterArn"):
            return ("eks", "cluster_arn")
        case ("Orchestrator", *_):
            return ("eks",) if spec.orchestrator == "eks" else ("slurm",)
        case ("VpcConfig", str(name), *rest) if name in _NETWORK:
            return ("network", _NETWORK[name], *rest)
        case ("VpcConfig", *_):
            return ("network",)
        case ("TieredStorageConfig", *rest):
            return ("tiered_checkpointing", *(_TIERED[name] for name in rest if name in _TIERED))
        case ("AutoScaling", *rest):
            return ("auto_scaling", *(("mode",) if rest else ()))
        case ("ClusterRole", *_):
            return ("auto_scaling", "role_arn")
        case ("Tags", int(index), *_):
            return ("tags", request["Tags"][index]["Key"])
        case (str(name), *rest) if name in _TOP:
            return (_TOP[name], *rest)
    return path


def _ids(ids: Any) -> Any:
    if ids is UNKNOWN:
        return UNKNOWN
    return [UNKNOWN] if ids is None else list(ids)


def _each(items: Any, of: Any) -> Any:
    if items is UNKNOWN:
        return UNKNOWN
    return [UNKNOWN if item is UNKNOWN else of(item) for item in items]


def _orchestrator(spec: ClusterSpec) -> Any:
    if not known(spec.orchestrator):
        return UNKNOWN
    if spec.orchestrator == "eks":
        arn = spec.eks.cluster_arn if known(spec.eks) else UNKNOWN
        return {"Eks": {"ClusterArn": UNKNOWN if arn is None else arn}}
    if not known(spec.slurm) or not known(spec.slurm.mode):
        return UNKNOWN
    if spec.slurm.mode == "lifecycle":
        return None
    strategy, database = spec.slurm.strategy, _accounting_database(spec.slurm.accounting_database)
    return {
        "Slurm": ({} if strategy is None else {"SlurmConfigStrategy": strategy})
        | ({} if database is None else {"AccountingDatabase": database})
    }


def _accounting_database(said: Any) -> Any:
    if said is None or not known(said):
        return said
    values = {member: getattr(said, field) for member, field in _DATABASE.items()}
    return {member: value for member, value in values.items() if value is not None}


def _restricted_environment(said: Any) -> Any:
    if said is None or not known(said):
        return said
    return {
        "SharedEnvironmentConfig": {
            "FSxLustreDeletionPolicy": said.deletion_policy,
            "FSxLustreConfig": restricted_file_system_of(said.file_system),
        }
    }


def _restricted_environment_path(path: FaultPath) -> FaultPath:
    if "FSxLustreConfig" in path:
        return restricted_file_system_path(path)
    return ("deletion_policy",) if "FSxLustreDeletionPolicy" in path else ()


def _tiered_storage(said: Any) -> Any:
    if said is None or not known(said):
        return said
    if not known(said.enabled):
        return UNKNOWN
    share = said.memory_percentage
    return {"Mode": "Enable" if said.enabled else "Disable"} | (
        {} if share is None else {"InstanceMemoryAllocationPercentage": share}
    )


def _auto_scaling(said: Any) -> dict[str, Any]:
    if said is None:
        return {}
    if not known(said):
        return {"AutoScaling": UNKNOWN, "ClusterRole": UNKNOWN}
    role = said.role_arn
    if role is None and said.mode == "Enable":
        role = UNKNOWN
    if said.mode is None:
        return {"ClusterRole": role}
    scaler = cluster_request().at("AutoScaling", "AutoScalerType").enum[0]
    return {"AutoScaling": {"Mode": said.mode, "AutoScalerType": scaler}, "ClusterRole": role}
