"""What a specification tells the package's own scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperpod_constructs.lustre_file_system import LustreFileSystem
from hyperpod_lifecycle.node_parameters import Mount, NodeParameters, RecoveryRecordsFolder, lustre_mount
from hyperpod_lifecycle.slurm_configuration.classic_slurm import ClassicSlurm
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import WorkerGroup
from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.cluster_spec.job_figures import counts_jobs_on_controller
from hyperpod_model.secondary_volume import secondary_volume_gib

_GPU = "gpu"


def node_parameters_of(spec: ClusterSpec, *, file_system: LustreFileSystem | None) -> NodeParameters:
    """Return what the scripts of a specified cluster know.

    Args:
        spec: The cluster.
        file_system: Its file system, if it has one that is made.
    """
    scripts = spec.lifecycle_scripts
    types = {entry.name: entry for group in spec.instance_groups for entry in group.known_instance_types}
    efa = {name: entry.efa_interfaces.if_certain(default=0) for name, entry in types.items()}
    return NodeParameters(
        orchestrator=spec.orchestrator,
        required_mounts=_required_mounts(spec),
        mounts=_mounts(spec, file_system),
        efa_interfaces={name: count for name, count in efa.items() if count},
        second_volume_groups=[
            group.name
            for group in spec.instance_groups
            if secondary_volume_gib(group.secondary_volume_size_gib, is_accelerated=group.is_accelerated)
        ],
        gpus={name: count for name, entry in types.items() if (count := _gpus(entry))},
        users_file=None if scripts is None else scripts.users_file,
        shared_folder=None if scripts is None else scripts.shared_folder,
        log_files={} if scripts is None else scripts.log_files,
        job_figures_group=_controller_group(spec) if counts_jobs_on_controller(spec) else None,
        recovery_records=_recovery_records(spec),
        slurm=_classic_slurm(spec),
    )


def _recovery_records(spec: ClusterSpec) -> RecoveryRecordsFolder | None:
    folder = None if spec.metrics is None else spec.metrics.recovery_records_folder
    # The specification refuses a folder that no controller ships.
    if folder is None:
        return None
    return RecoveryRecordsFolder(group=_controller_group(spec), folder=folder)


def _gpus(entry: InstanceType) -> int:
    found = entry.accelerator
    return 0 if found is None or found.kind != _GPU else found.count


def _scripts_configure_slurm(spec: ClusterSpec) -> bool:
    return spec.orchestrator == "slurm" and spec.slurm.mode == "lifecycle"


def _required_mounts(spec: ClusterSpec) -> Mapping[str, Sequence[str]]:
    said = spec.file_system
    if said is None or spec.orchestrator != "slurm" or _scripts_configure_slurm(spec):
        return {}
    return {group.name: [said.mount_path] for group in spec.instance_groups if group.mounts_file_system}


def _mounts(spec: ClusterSpec, file_system: LustreFileSystem | None) -> Mapping[str, Sequence[Mount]]:
    said = spec.file_system
    if said is None or file_system is None or not _scripts_configure_slurm(spec):
        return {}
    mount = lustre_mount(
        dns_name=file_system.dns_name, mount_name=file_system.mount_name, mount_path=said.mount_path
    )
    return {group.name: [mount] for group in spec.instance_groups if group.mounts_file_system}


def _classic_slurm(spec: ClusterSpec) -> ClassicSlurm | None:
    if not _scripts_configure_slurm(spec):
        return None
    groups = spec.instance_groups
    return ClassicSlurm(
        controller_group=_controller_group(spec),
        login_group=next((group.name for group in groups if group.node_type == "Login"), None),
        worker_groups=[
            WorkerGroup(group.name, group.partition_names[0])
            for group in groups
            if group.node_type == "Compute"
        ],
        accounting=spec.slurm.accounting,
        settings=spec.slurm.settings,
    )


def _controller_group(spec: ClusterSpec) -> str:
    (controller,) = (group.name for group in spec.instance_groups if group.node_type == "Controller")
    return controller
