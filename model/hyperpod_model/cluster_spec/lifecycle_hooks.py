"""When lifecycle scripts run, and which one HyperPod starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from hyperpod_model.faults import UNKNOWN
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

Hook = Literal["OnCreate", "OnInitComplete"]

HOOK_FIELDS: dict[Hook, str] = {"OnCreate": "on_create", "OnInitComplete": "on_init_complete"}
"""Field of a group's lifecycle scripts that names the script of each hook."""

_DEFAULT_ENTRY_POINTS: dict[Hook, str] = {"OnInitComplete": "on_init_complete.sh", "OnCreate": "on_create.sh"}


def hook_of(spec: ClusterSpec) -> Any:
    """Return the hook of a cluster: with Slurm as ``slurm.mode`` has it, with EKS as the groups have it.

    With EKS, AWS documents ``OnCreate``; that is also the hook where no group names one.

    Args:
        spec: The specification. If it holds ``UNKNOWN`` where the answer depends on that, so is the answer.
    """
    if not known(spec.orchestrator):
        return UNKNOWN
    if spec.orchestrator == "slurm":
        if not known(spec.slurm) or not known(spec.slurm.mode):
            return UNKNOWN
        return "OnInitComplete" if spec.slurm.mode == "api" else "OnCreate"
    return next((hook for hook in HOOK_FIELDS if hook in named_hooks(spec)), "OnCreate")


def named_hooks(spec: ClusterSpec) -> set[Hook]:
    """Return the hooks that groups name.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    groups = spec.instance_groups if known(spec.instance_groups) else ()
    owns: list[Any] = [group.lifecycle_scripts for group in groups if known(group)]
    return {
        hook
        for own in owns
        for hook, field in HOOK_FIELDS.items()
        if own is not None and known(own) and getattr(own, field) is not None
    }


def uploads_own(scripts: Any) -> bool:
    """Tell whether a cluster's scripts are the package's own.

    Args:
        scripts: What the specification says; may be ``UNKNOWN``, which counts as no.
    """
    return scripts is not None and known(scripts) and scripts.folder is None and scripts.source_s3_uri is None


def entry_point_of(spec: ClusterSpec) -> str:
    """Return the file name of the lifecycle script that HyperPod starts, with the default applied.

    The package's own scripts have one entry point, which suits nodes of either orchestrator.

    Args:
        spec: A specification whose orchestrator and Slurm mode are known.
    """
    scripts = spec.lifecycle_scripts
    if scripts is not None and scripts.entry_point is not None:
        return scripts.entry_point
    hook: Hook = hook_of(spec)
    if spec.orchestrator == "eks" and uploads_own(scripts):
        hook = "OnInitComplete"
    return _DEFAULT_ENTRY_POINTS[hook]
