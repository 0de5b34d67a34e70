"""Figures of the cluster beyond its logs: jobs, Prometheus, Grafana, Container Insights, recoveries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import Field

from hyperpod_model.catalog.cluster_rules import default_mount_path
from hyperpod_model.catalog.job_figures import CHECK_MINUTES
from hyperpod_model.catalog.metrics import (
    GRAFANA_AUTHENTICATION,
    SLURM_EXTENSION,
    SLURM_EXTENSION_OPERATION,
    SLURM_EXTENSION_PROVISIONING,
    GrafanaAuthentication,
)
from hyperpod_model.checks.metrics import check_alert_limits
from hyperpod_model.cluster_spec.lifecycle_hooks import uploads_own
from hyperpod_model.cluster_spec.storage_request import MOUNTS
from hyperpod_model.faults import UNKNOWN, Fault
from hyperpod_model.spec_files.known import known
from hyperpod_model.spec_files.spec_model import Items, SpecModel

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_AT_LEAST_ONE: dict[str, Any] = {"minimum": 1}


class MetricsSpec(SpecModel):
    """Figures of jobs, nodes, queues, containers and recoveries. Each costs by what is measured."""

    job_figures: bool = Field(
        default=True,
        description=(
            f"Whether jobs are counted every {CHECK_MINUTES} minutes: running, pending and preempted ones, "
            "the longest wait and the longest run, for the dashboard and for alarms, as on an idle fleet. "
            "With Slurm the package's own scripts count, with EKS see job_figures_image. By default true."
        ),
    )
    job_figures_image: str | None = Field(
        default=None,
        description=(
            "With EKS: container image with python3, and boto3 or the AWS CLI, that counts jobs. By default "
            "nobody counts them, and there is no alarm on an idle fleet."
        ),
    )
    own_job_check: bool = Field(
        default=False,
        description=(
            "That you run what counts jobs: the check that you applied to an EKS cluster which exists, or a "
            "timer of yours on a Slurm cluster with lifecycle scripts of your own. Nobody reminds you of it, "
            "and alarms are made as where this package counts. By default false."
        ),
    )
    prometheus: bool = Field(
        default=False,
        description=(
            "Whether a workspace of Prometheus is made, with the EKS add-on that fills it, and rules on "
            "running, pending and preempted jobs and their wait. EKS only. By default false."
        ),
    )
    wait_alert_minutes: int | None = Field(
        default=60,
        description=(
            "Minutes of waiting that are too long; null for no alert. An alarm tells of a job that waits "
            "longer; without task_governance, as with Slurm, only where this field is given. Prometheus "
            "tells of the wait of one job in ten if it is growing, and of a queue that has pending jobs and "
            "admits none for so long. By default 60."
        ),
        json_schema_extra=_AT_LEAST_ONE,
    )
    preemption_alert_count: int | None = Field(
        default=10,
        description=(
            "Preempted jobs of an hour that are many; null for no alert. An alarm tells of more on the whole "
            "cluster; without task_governance, as with Slurm, only where this field is given. Prometheus "
            "tells of more in one queue if they are three times the usual. By default 10."
        ),
        json_schema_extra=_AT_LEAST_ONE,
    )
    grafana_authentication: Items[GrafanaAuthentication] = Field(
        default=(),
        description=(
            f"By what people sign in to a workspace of Grafana that reads it: "
            f"{', '.join(GRAFANA_AUTHENTICATION)}, or both. By default none, and no Grafana is made."
        ),
    )
    container_insights: bool = Field(
        default=False,
        description=(
            "Whether the EKS add-on for Container Insights is installed: figures and logs of containers in "
            "CloudWatch. With observability, logs are kept as long as the nodes', and steps lost and seconds "
            "of recovery, which pods of the resume library print, are graphs. EKS only. By default false."
        ),
    )
    recovery_records_folder: str | None = Field(
        default=None,
        description=(
            "Folder of the resume library's records on a file system that the controller has, such as "
            "/fsx/checkpoints/recovery: the package's own scripts ship it, and steps lost and seconds of "
            "recovery are graphs. Slurm only. By default nothing is shipped."
        ),
    )


def check_metrics_of(spec: ClusterSpec) -> Iterator[Fault]:
    """Check what is measured, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.metrics
    if said is None or not known(said):
        return
    for fault in check_alert_limits(
        wait_alert_minutes=_known(said.wait_alert_minutes),
        preemption_alert_count=_known(said.preemption_alert_count),
    ):
        yield fault._replace(path=("metrics", *fault.path))
    if said.grafana_authentication and said.prometheus is False:
        message = "signs in to a Grafana that has nothing to read; set prometheus to true, or leave it out"
        yield Fault(("metrics", "grafana_authentication"), message)
    if spec.orchestrator == "slurm":
        yield from _check_nothing_for_eks(said)
    yield from _check_records_folder(spec, said.recovery_records_folder)


def _check_nothing_for_eks(said: MetricsSpec) -> Iterator[Fault]:
    ways_out = {
        "prometheus": (
            f"leave it out; with {SLURM_EXTENSION_PROVISIONING} provisioning the API's "
            f"{SLURM_EXTENSION_OPERATION} installs {SLURM_EXTENSION} once the cluster is there"
        ),
        "container_insights": "leave it out",
    }
    for name, way_out in ways_out.items():
        if getattr(said, name) is True:
            message = f"goes with orchestrator 'eks', got 'slurm', which has no EKS add-ons; {way_out}"
            yield Fault(("metrics", name), message)


def _check_records_folder(spec: ClusterSpec, folder: Any) -> Iterator[Fault]:
    path = ("metrics", "recovery_records_folder")
    if folder is None or not known(folder):
        return
    if not folder.startswith("/"):
        yield Fault(path, f"must be an absolute path, got {folder!r}; begin it with /")
    if spec.orchestrator == "eks":
        message = (
            "goes with orchestrator 'slurm', whose nodes have scripts of this package; leave it out, and set "
            "container_insights to true: with it, what pods print of recoveries is a graph"
        )
        yield Fault(path, message)
        return
    scripts: Any = spec.lifecycle_scripts
    if known(scripts) and (scripts is None or not uploads_own(scripts)):
        yield Fault(path, "is shipped by the package's own lifecycle scripts; use these, or leave it out")
    groups: Any = spec.instance_groups
    if known(groups) and all(known(group) and known(group.node_type) for group in groups):
        controllers = [group for group in groups if group.node_type == "Controller"]
        if len(controllers) != 1:
            message = "is shipped by the controller, and no group has node_type: Controller; name one"
            yield Fault(path, message)
        elif folder.startswith("/"):
            yield from _check_controller_mounts(spec, controllers[0], folder)
    if spec.observability is None:
        yield Fault(
            path, "needs the log group of observability, got observability: null; keep it, or leave this out"
        )


def _check_controller_mounts(spec: ClusterSpec, controller: Any, folder: str) -> Iterator[Fault]:
    """Warn of a folder on the controller's own disk, where no job writes: scripts of users may mount more."""
    mounts = _mount_paths(spec, controller)
    if not all(known(mount) for mount in mounts):
        return
    # Of what leads upwards, or through other names, only the node knows where it ends.
    said = PurePosixPath(folder)
    if ".." in said.parts or any(said.is_relative_to(mount) for mount in mounts):
        return
    got = " and ".join(mounts) if mounts else "nothing"
    yield Fault(
        ("metrics", "recovery_records_folder"),
        f"should lie below a file system that the controller mounts, got {folder!r}, and group "
        f"{controller.name!r} mounts {got}: jobs on other nodes write no records there, so nothing is "
        "shipped; name a folder below a mount, or mount the file_system on the controller",
        severity="warning",
    )


def _mount_paths(spec: ClusterSpec, group: Any) -> list[Any]:
    """Return where a group mounts file systems; UNKNOWN among them where that is known only later."""
    said: list[Any] = []
    for field, kind in MOUNTS.items():
        mounts: Any = getattr(group, field)
        if not known(mounts):
            return [UNKNOWN]
        for mount in mounts:
            where = mount.mount_path if known(mount) else UNKNOWN
            said.append(default_mount_path(kind) if where is None else where)
    file_system: Any = spec.file_system
    mounts_it: Any = group.mounts_file_system
    if not known(mounts_it) or not known(file_system):
        return [*said, UNKNOWN]
    if mounts_it and file_system is not None:
        said.append(file_system.mount_path)
    return said


def _known(value: Any) -> Any:
    return value if known(value) else UNKNOWN
