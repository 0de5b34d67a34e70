"""The other door: a ``CreateCluster`` request, as ``aws sagemaker create-cluster --cli-input-json`` takes it.

What is said is used as it is; what is left out is not added, above all nothing that cannot be undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from hyperpod_model.catalog import iam, names
from hyperpod_model.catalog.add_ons import CHART_FOLDER, CHART_REPOSITORY
from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.catalog.names import NameRule
from hyperpod_model.catalog.versions import EKS_AUTHENTICATION_MODES, MIN_VPC_CNI
from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.vocabulary import in_request_terms
from hyperpod_model.checks.zones import check_availability_zone_id
from hyperpod_model.cluster_spec.cluster import ClusterSpec
from hyperpod_model.cluster_spec.lifecycle_hooks import HOOK_FIELDS
from hyperpod_model.cluster_spec.placeholder_ids import id_kind, looks_like_an_arn
from hyperpod_model.cluster_spec.request_fields import judge_fields
from hyperpod_model.cluster_spec.request_import import (
    Place,
    hook_of_request,
    is_eks,
    items_of,
    member,
    slurm_mode,
    spec_data,
)
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, InvalidInputError, dotted
from hyperpod_model.spec_files.yaml_document import YamlDocument

_REQUEST_MARKS = ("clustername", "instancegroups")

_IDS: tuple[tuple[str, str, NameRule], ...] = (
    ("Subnets", "a VPC with one private accelerator subnet", names.SUBNET_ID),
    ("SecurityGroupIds", "a security group for the nodes", names.SECURITY_GROUP_ID),
)
_GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")
_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:[^:]+:\d{12}:key/.+")
_S3_BUCKET = re.compile(r"s3://([^/]+)")


def is_request(data: Mapping[str, Any]) -> bool:
    """Tell whether a file is meant as a request: it names the cluster or its groups as a request does.

    Args:
        data: The file as it was read. The case of its keys is not looked at, so that ``clusterName`` is
            reported as a misspelt ``ClusterName`` and not as a field that no specification has.
    """
    return any(name.lower() in _REQUEST_MARKS for name in data)


def import_request(
    request: Mapping[str, Any], document: YamlDocument, *, strict: bool, region: str | None, zone: str | None
) -> tuple[list[Fault], ClusterSpec | None, tuple[str, ...]]:
    """Make a specification of a request.

    Args:
        request: The request as it was read.
        document: The file, for lines in notes.
        strict: Whether ids that are not legal are refused.
        region: Region of the cluster. None where nobody named one.
        zone: ID of the Availability Zone for a network that is made. None where nobody named one.

    Returns:
        All faults and warnings, in the request's terms; the specification, None if there are errors; and
        notes on what is made, imported, and left as it is.
    """
    usable, faults = judge_fields(request)
    place = Place(region, zone)
    groups: list[tuple[FaultPath, Mapping[str, Any]]] = [
        ((kind, index), group)
        for kind in _GROUPS
        for index, group in enumerate(items_of(usable, kind))
        if isinstance(group, Mapping)
    ]
    if all(usable.get(kind) in (None, []) for kind in _GROUPS):
        faults.append(Fault(("InstanceGroups",), "is required; a cluster has at least one group"))
    found, made = _judge_ids(usable, strict=strict)
    faults += found
    faults += _judge_network(usable, made, region=region, zone=zone)
    roles, made_roles = _judge_roles(groups, strict=strict)
    faults += roles
    for path, group in groups:
        faults += [
            fault._replace(path=(*path, *fault.path))
            for fault in _judge_group(usable, group, is_restricted=path[0] != "InstanceGroups")
        ]
    faults += [*_judge_tiers(usable), *_judge_database(usable)]
    said = {fault.path for fault in faults}
    faults += [
        fault for fault in _service_faults(usable, made | made_roles, region) if fault.path not in said
    ]
    if any(fault.severity == "error" for fault in faults):
        return faults, None, ()
    try:
        spec = ClusterSpec.model_validate(spec_data(usable, made | made_roles, place))
    except ValidationError as error:
        return [*faults, *_late_faults(error)], None, ()
    notes = [
        *_made_notes(usable, made, made_roles, document, zone),
        *(_eks_notes(usable) if is_eks(usable) else _slurm_notes(usable)),
        *_provisioning_notes(usable),
        *_script_notes(groups),
        *_role_notes(groups, made_roles, is_eks=is_eks(usable)),
        *_left_out_notes(usable),
    ]
    return faults, spec, tuple(notes)


def _text(value: Any, *path: str) -> str | None:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else None


def _vpc_ids(request: Mapping[str, Any]) -> Iterator[tuple[FaultPath, str, NameRule]]:
    config = request.get("VpcConfig")
    for name, _, rule in _IDS:
        for index, value in enumerate(items_of(config, name)):
            if isinstance(value, str):
                yield ("VpcConfig", name, index), value, rule


def _judge_ids(request: Mapping[str, Any], *, strict: bool) -> tuple[list[Fault], set[FaultPath]]:
    faults: list[Fault] = []
    made: set[FaultPath] = set()
    for path, value, rule in _vpc_ids(request):
        kind = id_kind(value, rule)
        if kind == "mistyped":
            faults.append(
                Fault(path, f"must be {rule.in_words}, got {value!r}, which looks like a slip in a real id")
            )
        elif kind == "placeholder" and strict:
            faults.append(
                Fault(
                    path,
                    f"must be {rule.in_words}, got {value!r}; without strict it would be made, give a real "
                    "id",
                )
            )
        elif kind == "placeholder":
            made.add(path)
    return faults, made


def _judge_network(
    request: Mapping[str, Any], made: set[FaultPath], *, region: str | None, zone: str | None
) -> list[Fault]:
    if request.get("VpcConfig") is None:
        return [
            Fault(
                ("VpcConfig",),
                "is required: a cluster in the service's own network cannot be expressed yet; give Subnets "
                "and SecurityGroupIds, or placeholders such as 'subnet-new' and 'sg-new' to have them made",
            )
        ]
    faults: list[Fault] = []
    shares: dict[str, set[bool]] = {member: set() for member, _, _ in _IDS}
    for path, _, _ in _vpc_ids(request):
        shares[str(path[1])].add(path in made)
    faults += [
        Fault(
            ("VpcConfig", member),
            "mixes real ids with placeholders; give real ids only, or placeholders only",
        )
        for member, share in shares.items()
        if len(share) > 1
    ]
    if faults:
        return faults
    subnets, security_groups = shares["Subnets"], shares["SecurityGroupIds"]
    if subnets == {False} and security_groups == {True}:
        return [
            Fault(
                ("VpcConfig", "SecurityGroupIds"),
                "is a placeholder beside real subnets, and a request does not name the VPC in which to make "
                "the security group; give a real id, or write a cluster spec with network.vpc_id and "
                "network.subnet_ids",
            )
        ]
    if subnets == {True} and security_groups == {False}:
        return [
            Fault(
                ("VpcConfig", "Subnets"),
                "is a placeholder beside real security groups, which belong to a VPC that the request does "
                "not name; give real subnets, or placeholders for both to have a network made",
            )
        ]
    if subnets == {True}:
        return _judge_place(region=region, zone=zone)
    return []


def _judge_place(*, region: str | None, zone: str | None) -> list[Fault]:
    if region is not None and zone is not None:
        return check_availability_zone_id(zone, region=region)
    missing = {}
    if region is None:
        missing["region"] = "-c region=us-west-2"
    if zone is None:
        missing["zone"] = "-c availability_zone_id=usw2-az1"
    return [
        Fault(
            ("VpcConfig",),
            f"the network has to be made, and a request does not say in which {' and '.join(missing)}; pass "
            f"for instance {' '.join(missing.values())} (the ID of the zone that has your capacity, not its "
            "name), or give real ids",
        )
    ]


def _judge_roles(
    groups: list[tuple[FaultPath, Mapping[str, Any]]], *, strict: bool
) -> tuple[list[Fault], set[FaultPath]]:
    illegal = {
        (*path, "ExecutionRole"): role
        for path, group in groups
        if (role := _text(group, "ExecutionRole")) is not None and not names.ROLE_ARN.matches(role)
    }
    slips = [
        Fault(path, f"must be {names.ROLE_ARN.in_words}, got {role!r}, which looks like a slip in a real ARN")
        for path, role in illegal.items()
        if looks_like_an_arn(role)
    ]
    if not strict:
        return slips, set(illegal)
    return [
        Fault(
            path,
            f"must be {names.ROLE_ARN.in_words}, got {role!r}; without strict it would be made, give a real "
            "role",
        )
        for path, role in illegal.items()
    ], set()


def _judge_group(request: Mapping[str, Any], group: Mapping[str, Any], *, is_restricted: bool) -> list[Fault]:
    faults = [] if is_restricted else _judge_scripts(request, group)
    config = group.get("LifeCycleConfig")
    for name, _, rule in _IDS:
        faults += [
            Fault(
                ("OverrideVpcConfig", name, index),
                f"must be {rule.in_words}, got {value!r}; a network of a group's own is not made",
            )
            for index, value in enumerate(items_of(group, "OverrideVpcConfig", name))
            if isinstance(value, str) and not rule.matches(value)
        ]
    bucket = _S3_BUCKET.match(_text(config, "SourceS3Uri") or "")
    if bucket is not None and not names.BUCKET.matches(bucket[1]):
        faults.append(
            Fault(
                ("LifeCycleConfig", "SourceS3Uri"),
                f"names no bucket: {bucket[1]!r} is not {names.BUCKET.with_length}; give the place of your "
                "scripts, or write a cluster spec to have scripts uploaded",
            )
        )
    for volume, storage in enumerate(items_of(group, "InstanceStorageConfigs")):
        key = _text(storage, "EbsVolumeConfig", "VolumeKmsKeyId")
        if key is not None and _KEY_ARN.fullmatch(key) is None:
            faults.append(
                Fault(
                    ("InstanceStorageConfigs", volume, "EbsVolumeConfig", "VolumeKmsKeyId"),
                    "must be the ARN of a key, arn:<partition>:kms:<region>:<account>:key/<id>, to be "
                    f"imported, got {key!r}",
                )
            )
    return faults


def _judge_scripts(request: Mapping[str, Any], group: Mapping[str, Any]) -> list[Fault]:
    config, path = group.get("LifeCycleConfig"), ("LifeCycleConfig",)
    configures_slurm = not is_eks(request) and slurm_mode(request) == "lifecycle"
    if config is None:
        if not configures_slurm:
            return []
        message = "is required where nothing but scripts configures Slurm; give it, or SlurmConfig"
        return [Fault(path, message)]
    if not isinstance(config, Mapping):
        return []
    if all(config.get(hook) is None for hook in HOOK_FIELDS):
        return [Fault(path, "names no script; give OnCreate or OnInitComplete")]
    if config.get(hook_of_request(request)) is not None:
        return []
    if is_eks(request):
        message = "names OnCreate beside OnInitComplete of another group; with EKS keep to one of them"
    elif configures_slurm:
        message = (
            "OnInitComplete where nothing but scripts can configure Slurm cannot be expressed yet; give "
            "OnCreate, or SlurmConfig"
        )
    else:
        message = "OnCreate where HyperPod configures Slurm cannot be expressed yet; give OnInitComplete"
    return [Fault(path, message)]


def _judge_tiers(request: Mapping[str, Any]) -> list[Fault]:
    mode = _text(request, "TieredStorageConfig", "Mode")
    share = member(request, "TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    path = ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    if mode == "Enable" and share is None:
        least, most = TIERED_MEMORY_PERCENTAGE.value
        return [
            Fault(path, f"is required, since the service's default is not documented; give {least} to {most}")
        ]
    if mode == "Disable" and share is not None:
        return [Fault(path, "goes with Mode Enable; leave it out")]
    return []


def _judge_database(request: Mapping[str, Any]) -> list[Fault]:
    database = member(request, "Orchestrator", "Slurm", "AccountingDatabase")
    if not isinstance(database, Mapping) or database.get("Name") is not None:
        return []
    return [
        Fault(
            ("Orchestrator", "Slurm", "AccountingDatabase", "Name"),
            "is required here, since the API and CloudFormation document different defaults; name the schema",
        )
    ]


def _service_faults(request: Mapping[str, Any], made: set[FaultPath], region: str | None) -> list[Fault]:
    found = check_cluster(_with_unknown(request, made, ()), region=region)
    return [fault._replace(message=in_request_terms(fault)) for fault in found]


def _with_unknown(value: Any, made: set[FaultPath], path: FaultPath) -> Any:
    if path in made:
        return UNKNOWN
    if isinstance(value, Mapping):
        return {name: _with_unknown(member, made, (*path, name)) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_unknown(item, made, (*path, index)) for index, item in enumerate(value)]
    return value


def _late_faults(error: ValidationError) -> list[Fault]:
    """Faults that only the whole specification shows, such as a subnet too small for the nodes."""
    faults: list[Fault] = []
    for found in error.errors(include_url=False):
        cause = found.get("ctx", {}).get("error")
        if not isinstance(cause, InvalidInputError):
            raise error
        faults += [Fault((), f"{fault}; write a cluster spec to set it") for fault in cause.faults]
    return faults


def _made_notes(
    request: Mapping[str, Any],
    made: set[FaultPath],
    made_roles: set[FaultPath],
    document: YamlDocument,
    zone: str | None,
) -> list[str]:
    notes = []
    words = {member: what for member, what, _ in _IDS}
    for path, value, _ in _vpc_ids(request):
        if path in made:
            what = words[str(path[1])] + (f" in {zone}" if path[1] == "Subnets" else "")
            shared = "the same is used: " if path[2] != 0 else ""
            notes.append(
                f"{_at(path, document)}: {value!r} is not a legal id; {shared}{what} is made in its place"
            )
    for path in sorted(made_roles, key=str):
        role = request[str(path[0])][path[1]]["ExecutionRole"]
        notes.append(
            f"{_at(path, document)}: {role!r} is not a legal ARN; an execution role, shared by all such "
            "groups, is made in its place"
        )
    return notes


def _at(path: FaultPath, document: YamlDocument) -> str:
    return f"{dotted(path)} (line {document.line(path)})"


def _slurm_notes(request: Mapping[str, Any]) -> list[str]:
    if slurm_mode(request) == "lifecycle":
        return [
            "Slurm: the request has no SlurmConfig, so the lifecycle scripts configure Slurm; SlurmConfig "
            "and Orchestrator.Slurm, which a cluster cannot give up again, are not added"
        ]
    slurm = (
        "Slurm: the request has SlurmConfig or Orchestrator.Slurm, so HyperPod configures Slurm, and the "
        "cluster cannot go back to scripts that do"
    )
    if request.get("Orchestrator") is None:
        slurm += "; the template says Orchestrator.Slurm too, which goes with SlurmConfig"
    return [slurm]


def _eks_notes(request: Mapping[str, Any]) -> list[str]:
    arn = request["Orchestrator"]["Eks"]["ClusterArn"]
    notes = [
        f"Orchestrator.Eks: {arn} is used as it is; what nodes need has to be in it: {CHART_FOLDER} of "
        f"{CHART_REPOSITORY}, the VPC CNI {MIN_VPC_CNI} or later, and authentication mode "
        f"{' or '.join(EKS_AUTHENTICATION_MODES)}; and its VPC is the one of VpcConfig"
    ]
    if _text(request, "TieredStorageConfig", "Mode") == "Enable":
        notes.append(
            "TieredStorageConfig: the memory tier does not outlive a stop of the whole cluster, and a "
            "request names no durable tier; make sure that jobs write one, or write a cluster spec with "
            "checkpoint_bucket and tiered_checkpointing.s3_interval_steps"
        )
    return notes


def _provisioning_notes(request: Mapping[str, Any]) -> list[str]:
    if request.get("NodeProvisioningMode") is not None:
        return []
    return [
        "NodeProvisioningMode: the request names none and none is added, so the service's default applies "
        "(AWS documentation does not settle which one that is)"
    ]


def _script_notes(groups: list[tuple[FaultPath, Mapping[str, Any]]]) -> list[str]:
    locations = dict.fromkeys(location for _, group in groups if (location := _location(group)) is not None)
    notes = [
        f"LifeCycleConfig: the scripts at {location} are used as they are; nothing is uploaded, checked or "
        "locked there, and whoever can write there runs code as root on the nodes"
        for location in locations
    ]
    without = [
        group["InstanceGroupName"]
        for path, group in groups
        if path[0] == "InstanceGroups" and _location(group) is None
    ]
    if without:
        notes.append(f"LifeCycleConfig: {', '.join(without)} have none and none is added")
    return notes


def _location(group: Mapping[str, Any]) -> str | None:
    return _text(group, "LifeCycleConfig", "SourceS3Uri")


def _role_notes(
    groups: list[tuple[FaultPath, Mapping[str, Any]]], made: set[FaultPath], *, is_eks: bool
) -> list[str]:
    needs: dict[str, set[str]] = {}
    for path, group in groups:
        if (*path, "ExecutionRole") not in made:
            location = _location(group)
            needs.setdefault(group["ExecutionRole"], set()).update([] if location is None else [location])
    needed = (*iam.EKS_ACTIONS, *iam.ECR_ACTIONS) if is_eks else iam.SLURM_VPC_ACTIONS
    actions = ", ".join(action.name for action in (*needed, iam.CREATE_TAGS_ACTION))
    notes = []
    for role, locations in needs.items():
        wants = [
            f"trust {iam.EXECUTION_ROLE_SERVICE}",
            f"have the managed policy {iam.CLUSTER_INSTANCE_MANAGED_POLICY}",
            f"allow {actions}",
        ]
        if locations:
            reads = f"read {', '.join(sorted(locations))} (s3:GetObject, s3:ListBucket"
            if any(not location.startswith(f"s3://{names.MANAGED_BUCKET_PREFIX}") for location in locations):
                reads += f"; the managed policy covers buckets named {names.MANAGED_BUCKET_PREFIX}* only"
            wants.append(f"{reads})")
        notes.append(
            f"ExecutionRole: {role} is imported and not changed; it must already "
            f"{', '.join(wants[:-1])}, and {wants[-1]}"
        )
    return notes


def _left_out_notes(request: Mapping[str, Any]) -> list[str]:
    notes = [
        "file system and checkpoint bucket: the request names none, so none is made; write a cluster spec to "
        "have them"
    ]
    if any(group.get("OnStartDeepHealthChecks") is not None for group in items_of(request, "InstanceGroups")):
        notes.append(
            "resilience: deep health checks run as the request says; a request declares no spare nodes, so "
            "none are recorded, and while a replacement is checked its job waits; write a cluster spec to "
            "declare spares"
        )
    return notes
