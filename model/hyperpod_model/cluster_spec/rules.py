"""What is wrong with a specification as a whole, and what its user should know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hyperpod_model import cluster_tags
from hyperpod_model.catalog import names
from hyperpod_model.catalog.cluster_request import cluster_request, instance_group
from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.lustre import check_lustre
from hyperpod_model.checks.resilience import check_spare_nodes
from hyperpod_model.checks.shape import check_shape
from hyperpod_model.cluster_spec.arn_rules import check_arns
from hyperpod_model.cluster_spec.budget import check_budget_of, cost_tag_of
from hyperpod_model.cluster_spec.data_repository_rules import check_data_repository_of
from hyperpod_model.cluster_spec.eks_rules import check_eks
from hyperpod_model.cluster_spec.job_figures import check_job_figures_of
from hyperpod_model.cluster_spec.lifecycle_hooks import HOOK_FIELDS, named_hooks, uploads_own
from hyperpod_model.cluster_spec.metrics import check_metrics_of
from hyperpod_model.cluster_spec.network_rules import check_network
from hyperpod_model.cluster_spec.observability import check_observability
from hyperpod_model.cluster_spec.request import request_of, spec_path
from hyperpod_model.cluster_spec.scripted_slurm import check_scripted_slurm
from hyperpod_model.cluster_spec.task_governance import check_task_governance_of
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec
    from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec

LUSTRE_DEPLOYMENT_TYPE = "PERSISTENT_2"
_S3_BUCKET = re.compile(r"s3://([^/]+)")

# Checks on the request name other fields by the constructs' properties; these differ here.
_VOCABULARY = {
    r"\bslurm_node_type\b": "node_type",
    r"\broot_volume_kms_key\b": "root_volume_kms_key_arn",
    r"\bInstanceGroups\b": "instance_groups",
    r" that addresses_per_node replaces": "",
    r"give node_type to every group or to none": "give node_type to every group",
    r"\bpublic_subnet_prefix_length\b": "a public subnet",
    r"\bendpoint_subnet_prefix_length\b": "a subnet of endpoints",
    r"\bcontrol_plane_subnet_prefix_length\b": "a subnet of the control plane",
    r"export_makes_fsx_users_writers=True": "export_makes_fsx_users_writers: true",
    # The specification's default is 'Continuous', so that leaving the field out keeps it.
    r"leave it out where lifecycle scripts": "set it to null where lifecycle scripts",
}


def faults_of(spec: ClusterSpec) -> list[Fault]:
    """Return everything that is wrong or probably not meant, in the specification's own terms.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    own = [
        *_check_groups(spec),
        *_check_vouched_types(spec),
        *check_network(spec),
        *_check_slurm(spec),
        *check_eks(spec),
        *_check_resilience(spec),
        *_check_scripts(spec),
        *_check_volumes(spec),
        *_check_file_system(spec),
        *check_data_repository_of(spec, deployment_type=LUSTRE_DEPLOYMENT_TYPE),
        *check_observability(spec),
        *check_task_governance_of(spec),
        *check_metrics_of(spec),
        *check_job_figures_of(spec),
        *check_budget_of(spec),
        *check_arns(spec),
        *_check_acknowledgements(spec),
        *_check_tags(spec),
    ]
    own = [fault._replace(message=in_spec_terms(fault.message)) for fault in own]
    said = {fault.path for fault in own}
    # What is said once for the cluster stands in the request of every group.
    return own + [fault for fault in dict.fromkeys(_check_request(spec)) if fault.path not in said]


def _check_request(spec: ClusterSpec) -> list[Fault]:
    request = request_of(spec)
    vouched = (
        [name for name in spec.unlisted_instance_types if known(name)]
        if known(spec.unlisted_instance_types)
        else []
    )
    region = spec.region if known(spec.region) else None
    found = check_cluster(request, region=region, unlisted_instance_types=vouched)
    return [
        fault._replace(path=_where(fault, spec, request), message=in_spec_terms(fault.message))
        for fault in found
    ]


def _where(fault: Fault, spec: ClusterSpec, request: dict[str, object]) -> FaultPath:
    if not fault.path and fault.message.startswith(("region", "there is no region")):
        return ("region",)
    return spec_path(fault.path, spec, request)


def in_spec_terms(message: str) -> str:
    """Name other fields as the specification does.

    Args:
        message: Message of a check on the request.
    """
    for pattern, word in _VOCABULARY.items():
        message = re.sub(pattern, word, message)
    return message


def _check_groups(spec: ClusterSpec) -> list[Fault]:
    if spec.instance_groups != () or spec.restricted_instance_groups != ():
        return []
    return [Fault(("instance_groups",), "is empty; a cluster has at least one group")]


def _check_vouched_types(spec: ClusterSpec) -> list[Fault]:
    groups: list[Any] = []
    for said in (spec.instance_groups, spec.restricted_instance_groups):
        if not known(said):
            return []
        groups += said
    if not known(spec.unlisted_instance_types):
        return []
    used = {name for group in groups if known(group) for name in _types_of(group)}
    return [
        Fault(
            ("unlisted_instance_types", index),
            f"no group has the instance type {name!r}; leave it out",
            severity="warning",
        )
        for index, name in enumerate(spec.unlisted_instance_types)
        if known(name) and name not in used and known(*used)
    ]


def _check_slurm(spec: ClusterSpec) -> list[Fault]:
    slurm = spec.slurm
    if spec.orchestrator != "slurm":
        return []
    if not known(slurm, spec.instance_groups) or not known(slurm.mode):
        return []
    faults = check_scripted_slurm(spec, uploads_own_scripts=_uploads_own_scripts(spec))
    if slurm.mode == "lifecycle":
        return faults + [
            Fault(
                ("slurm", field),
                "goes with mode 'api'; in mode 'lifecycle' the scripts own slurm.conf, leave it out",
            )
            for field in ("strategy", "accounting_database")
            if getattr(slurm, field) is not None
        ]
    # The check on the request says the same of single groups, and nothing where no group has a node type.
    groups = [group for group in spec.instance_groups if known(group)]
    if (
        groups
        and len(groups) == len(spec.instance_groups)
        and all(group.node_type is None for group in groups)
    ):
        return faults + [
            Fault(
                ("instance_groups", index, "node_type"),
                "is required in slurm.mode 'api': one of Controller, Login, Compute; or set slurm.mode "
                "'lifecycle', where your scripts configure Slurm",
            )
            for index in range(len(groups))
        ]
    return faults


def _check_resilience(spec: ClusterSpec) -> list[Fault]:
    if not known(spec.resilience, spec.instance_groups):
        return []
    if spec.instance_groups == ():
        return [] if not spec.restricted_instance_groups else _check_spares_of(spec, [])
    situation = spec.resilience
    requested = zip(spec.instance_groups, request_of(spec)["InstanceGroups"], strict=True)
    counted = [request for group, request in requested if not known(group) or _may_be_accelerated(group)]
    faults = _check_spares_of(spec, counted)
    applies = situation.spare_nodes == 0 and situation.replacement_wait == "avoid"
    if (
        known(situation.spare_nodes, situation.replacement_wait)
        and situation.commissioned is True
        and not applies
    ):
        faults.append(
            Fault(
                ("resilience", "commissioned"),
                "has no effect with spare nodes, or with a replacement_wait other than 'avoid'; leave it out",
                severity="warning",
            )
        )
    return faults


def _check_spares_of(spec: ClusterSpec, groups: list[Any]) -> list[Fault]:
    found = check_spare_nodes(spec.resilience.spare_nodes, groups)
    return [fault._replace(path=("resilience", *fault.path)) for fault in found]


def _may_be_accelerated(group: InstanceGroupSpec) -> bool:
    named = group.named_instance_types
    return group.is_accelerated or not named or len(group.known_instance_types) < len(named)


def _types_of(group: Any) -> tuple[Any, ...]:
    types = getattr(group, "instance_types", ())
    if not known(group.instance_type, types):
        return (UNKNOWN,)
    return types if group.instance_type is None else (group.instance_type, *types)


def _check_scripts(spec: ClusterSpec) -> list[Fault]:
    faults = []
    scripts: Any = spec.lifecycle_scripts
    if (
        scripts is not None
        and known(scripts)
        and scripts.folder is not None
        and scripts.source_s3_uri is not None
    ):
        faults.append(
            Fault(
                ("lifecycle_scripts", "source_s3_uri"),
                "excludes folder: the scripts are either uploaded from a folder or used where they are; "
                "keep one",
            )
        )
    faults += [*_check_locations(spec), *_check_entry_point(scripts), *_check_groups_without_scripts(spec)]
    faults += _check_values_of_own_scripts(spec)
    faults += _check_places_of_scripts(spec)
    if spec.orchestrator == "eks":
        return [*faults, *_check_one_hook(spec)]
    if not known(spec.orchestrator, spec.slurm, spec.instance_groups) or not known(spec.slurm.mode):
        return faults
    mode = spec.slurm.mode
    wrong, right, needed = {
        "api": ("on_create", "on_init_complete", "lifecycle"),
        "lifecycle": ("on_init_complete", "on_create", "api"),
    }[mode]
    for index, group in enumerate(spec.instance_groups):
        own = group.lifecycle_scripts if known(group) else None
        if own is not None and known(own) and getattr(own, wrong) is not None and getattr(own, right) is None:
            faults.append(
                Fault(
                    ("instance_groups", index, "lifecycle_scripts", wrong),
                    f"goes with slurm.mode {needed!r}, got {mode!r}; use {right}",
                )
            )
    return faults


def _check_values_of_own_scripts(spec: ClusterSpec) -> list[Fault]:
    scripts: Any = spec.lifecycle_scripts
    if scripts is None or not known(scripts):
        return []
    names = ("users_file", "shared_folder", "log_files")
    given = [name for name in names if known(getattr(scripts, name)) and getattr(scripts, name)]
    faults = []
    if not uploads_own(scripts):
        message = "is read by the package's own scripts; leave it out, or folder and source_s3_uri"
        faults += [Fault(("lifecycle_scripts", name), message) for name in given]
    elif spec.orchestrator == "eks":
        message = "goes with orchestrator 'slurm', where people log in on nodes; leave it out"
        faults += [Fault(("lifecycle_scripts", name), message) for name in given if name != "log_files"]
    for name in given:
        value = getattr(scripts, name)
        paths = value.values() if name == "log_files" else [value]
        faults += [
            Fault(("lifecycle_scripts", name), f"must be an absolute path, got {path!r}; begin it with /")
            for path in paths
            if isinstance(path, str) and not path.startswith("/")
        ]
    return faults


def _check_groups_without_scripts(spec: ClusterSpec) -> list[Fault]:
    return [
        Fault(
            ("instance_groups", index, "runs_lifecycle_scripts"),
            "is false, and lifecycle_scripts of the group name some; keep one",
        )
        for index, group in enumerate(spec.instance_groups if known(spec.instance_groups) else ())
        if known(group) and group.runs_lifecycle_scripts is False and group.lifecycle_scripts is not None
    ]


def _check_places_of_scripts(spec: ClusterSpec) -> list[Fault]:
    if spec.lifecycle_scripts is not None or not known(spec.instance_groups):
        return []
    owns: list[Any] = [group.lifecycle_scripts if known(group) else None for group in spec.instance_groups]
    return [
        Fault(
            ("instance_groups", index, "lifecycle_scripts", "source_s3_uri"),
            "is required, since lifecycle_scripts of the cluster are null",
        )
        for index, own in enumerate(owns)
        if own is not None and known(own) and own.source_s3_uri is None
    ]


def _check_one_hook(spec: ClusterSpec) -> list[Fault]:
    if not known(spec.instance_groups) or len(named_hooks(spec)) < len(HOOK_FIELDS):
        return []
    owns: list[Any] = [group.lifecycle_scripts if known(group) else None for group in spec.instance_groups]
    return [
        Fault(
            ("instance_groups", index, "lifecycle_scripts", "on_init_complete"),
            "is named beside on_create of another group; with EKS, scripts of all groups run at the same "
            "time of their set-up, keep one",
        )
        for index, own in enumerate(owns)
        if own is not None and known(own) and own.on_init_complete is not None
    ]


def _check_entry_point(scripts: Any) -> list[Fault]:
    if (
        scripts is None
        or not known(scripts)
        or scripts.source_s3_uri is not None
        or not isinstance(scripts.entry_point, str)
    ):
        return []
    if "/" not in scripts.entry_point:
        return []
    return [
        Fault(
            ("lifecycle_scripts", "entry_point"),
            f"must be the name of a file at the top of the folder, got {scripts.entry_point!r}; put a script "
            "there that calls the other",
        )
    ]


def _uploads_own_scripts(spec: ClusterSpec) -> bool:
    if spec.lifecycle_scripts is not None and not uploads_own(spec.lifecycle_scripts):
        return False
    owns: list[Any] = [group.lifecycle_scripts if known(group) else UNKNOWN for group in spec.instance_groups]
    return any(own is None or (known(own) and own.source_s3_uri is None) for own in owns)


def _check_locations(spec: ClusterSpec) -> list[Fault]:
    if not known(spec.instance_groups):
        return []
    locations: list[tuple[FaultPath, Any]] = [(("lifecycle_scripts",), spec.lifecycle_scripts)]
    groups = [(index, group) for index, group in enumerate(spec.instance_groups) if known(group)]
    locations += [
        (("instance_groups", index, "lifecycle_scripts"), group.lifecycle_scripts) for index, group in groups
    ]
    makes_role = any(group.execution_role_arn is None for _, group in groups)
    faults = []
    for path, said in locations:
        uri = said.source_s3_uri if said is not None and known(said) else None
        if not isinstance(uri, str):
            continue
        bucket = _S3_BUCKET.match(uri)
        if bucket is not None and not names.BUCKET.matches(bucket[1]):
            message = f"names no bucket: {bucket[1]!r} is not {names.BUCKET.with_length}; correct it"
            faults.append(Fault((*path, "source_s3_uri"), message))
        elif uri.startswith("https://") and makes_role:
            faults.append(
                Fault(
                    (*path, "source_s3_uri"),
                    f"must begin with s3:// so that the role that is made can be let in, got {uri!r}; write "
                    "s3://bucket/prefix, or give execution_role_arn to every group",
                )
            )
    return faults


def _check_volumes(spec: ClusterSpec) -> list[Fault]:
    if not known(spec.instance_groups):
        return []
    return [
        Fault(
            ("instance_groups", index, "secondary_volume_kms_key_arn"),
            "is for a volume that the group has not; give secondary_volume_size_gib too, or leave it out",
        )
        for index, group in enumerate(spec.instance_groups)
        if known(group, group.instance_type if known(group) else group)
        and group.secondary_volume_kms_key_arn is not None
        and group.secondary_volume_gib is None
    ]


def _check_file_system(spec: ClusterSpec) -> list[Fault]:
    file_system = spec.file_system
    if file_system is None or not known(file_system):
        return []
    faults = check_lustre(
        deployment_type=LUSTRE_DEPLOYMENT_TYPE,
        storage_capacity_gib=file_system.storage_capacity_gib,
        throughput_mbps_per_tib=file_system.throughput_mbps_per_tib,
        efa_enabled=file_system.efa_enabled,
        final_backup=file_system.removal == "final-backup",
        encryption_key=True,
    )
    mount_path = instance_group().at("InstanceStorageConfigs", "FsxLustreConfig", "MountPath")
    faults += check_shape(file_system.mount_path, mount_path, ("mount_path",))
    return [fault._replace(path=("file_system", *fault.path)) for fault in faults]


def _check_tags(spec: ClusterSpec) -> list[Fault]:
    if not known(spec.tags):
        return []
    faults = [
        Fault(("tags", key), f"is set from resilience, got {spec.tags[key]!r}; leave it out")
        for key in cluster_tags.OWN
        if key in spec.tags
    ]
    most = cluster_request().at("Tags").max
    own = [*cluster_tags.OWN, *cost_tag_of(spec)]
    if most is not None and len(spec.tags) + len(own) > most:
        faults.append(
            Fault(
                ("tags",),
                f"must be at most {most - len(own)}, since the cluster gets {' and '.join(own)} besides, got "
                f"{len(spec.tags)}",
            )
        )
    return faults


def _check_acknowledgements(spec: ClusterSpec) -> list[Fault]:
    if not known(spec.acknowledged_findings):
        return []
    faults = []
    for id, reason in spec.acknowledged_findings.items():
        if "::" not in id:
            faults.append(
                Fault(
                    ("acknowledged_findings", id),
                    "must be the full id, with the pack's name before '::' as the finding shows it, such as "
                    "HyperPodChecks::LustreRemoval",
                )
            )
        if known(reason) and not reason.strip():
            faults.append(Fault(("acknowledged_findings", id), "needs a reason that a reviewer can judge"))
    return faults
