"""Who counts jobs, which queues they wait in, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from hyperpod_model.catalog.jobs import team_namespace
from hyperpod_model.checks.images import check_image
from hyperpod_model.cluster_spec.lifecycle_hooks import uploads_own
from hyperpod_model.faults import Fault
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

AlertLimit = Literal["wait_alert_minutes", "preemption_alert_count"]
_ACCOUNTING = "accountingstoragetype"
_LIMITS: tuple[AlertLimit, ...] = ("wait_alert_minutes", "preemption_alert_count")


def check_job_figures_of(spec: ClusterSpec) -> Iterator[Fault]:
    """Check what is said of figures of jobs, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.metrics
    if said is None or not known(said):
        return
    path = ("metrics", "job_figures_image")
    image = said.job_figures_image
    if image is not None and spec.orchestrator == "slurm":
        message = (
            "goes with orchestrator 'eks'; leave it out: with Slurm a script of the controller counts jobs"
        )
        yield Fault(path, message)
    elif image is not None and known(image):
        yield from check_image(image, path)
    if image is not None and spec.orchestrator != "slurm" and said.job_figures is False:
        yield Fault(path, "counts for figures that are off; set job_figures to true, or leave it out")
    if said.own_job_check is True:
        yield from _check_own_check(spec)
    given = [name for name in _LIMITS if name in said.model_fields_set and getattr(said, name) is not None]
    if said.job_figures is True and "preemption_alert_count" in given:
        yield from _check_accounting(spec)
    if said.job_figures is not False or said.prometheus is not False:
        return
    for name in given:
        message = "is told by nobody, since job_figures and prometheus are false; set one, or leave it out"
        yield Fault(("metrics", name), message)


def _check_own_check(spec: ClusterSpec) -> Iterator[Fault]:
    """A check of one's own is for where this package runs none."""
    said: Any = spec.metrics
    path = ("metrics", "own_job_check")
    if said.job_figures is False:
        yield Fault(path, "counts for figures that are off; set job_figures to true, or leave it out")
    elif spec.orchestrator == "slurm":
        groups: Any = spec.instance_groups
        controlled = known(groups) and any(known(one) and one.node_type == "Controller" for one in groups)
        if controlled and uploads_own(spec.lifecycle_scripts):
            yield Fault(path, "counts what the package's own scripts count on the controller; leave it out")
    elif spec.orchestrator == "eks" and said.job_figures_image is not None and _makes_eks(spec):
        message = "counts what the stack's check of job_figures_image counts; leave out one"
        yield Fault(path, message)


def _makes_eks(spec: ClusterSpec) -> bool:
    return known(spec.eks) and spec.eks.cluster_arn is None


def _check_accounting(spec: ClusterSpec) -> Iterator[Fault]:
    """Slurm tells of preempted jobs by accounting, known to be off only where this package configures it."""
    slurm: Any = spec.slurm
    scripts: Any = spec.lifecycle_scripts
    if spec.orchestrator != "slurm" or not known(slurm) or not uploads_own(scripts):
        return
    own_database = not known(slurm.settings) or _ACCOUNTING in map(str.lower, slurm.settings)
    if slurm.mode == "lifecycle" and slurm.accounting is False and not own_database:
        message = (
            "never has data, since Slurm tells of preempted jobs by accounting, and slurm.accounting is "
            "false; set it to true, or leave this out"
        )
        yield Fault(("metrics", "preemption_alert_count"), message, "warning")


def counts_jobs_on_controller(spec: ClusterSpec) -> bool:
    """Tell whether a script of this package counts jobs on the controller.

    Args:
        spec: A specification without errors.
    """
    own = spec.lifecycle_scripts is not None and uploads_own(spec.lifecycle_scripts)
    has_controller = any(group.node_type == "Controller" for group in spec.instance_groups)
    return has_job_figures(spec) and own and has_controller and spec.orchestrator == "slurm"


def has_job_figures(spec: ClusterSpec) -> bool:
    """Tell whether figures of jobs are wanted, whoever puts them.

    Args:
        spec: A specification without errors.
    """
    return spec.metrics is not None and spec.metrics.job_figures


def job_figures_image_of(spec: ClusterSpec) -> str | None:
    """Return the image that counts jobs with EKS, if one does.

    Args:
        spec: A specification without errors.
    """
    return None if spec.metrics is None or not spec.metrics.job_figures else spec.metrics.job_figures_image


def counts_jobs(spec: ClusterSpec) -> bool:
    """Tell whether a check counts jobs: one of this package, or its user's.

    Args:
        spec: A specification without errors.
    """
    own = spec.metrics is not None and spec.metrics.own_job_check
    return own or counts_jobs_on_controller(spec) or job_figures_image_of(spec) is not None


def job_alert_limit(spec: ClusterSpec, name: AlertLimit) -> int | None:
    """Return from where on an alarm tells of waiting or of preemptions; None for no alarm.

    Where teams share the cluster there is one by default, if jobs are counted and somebody may hear. One that
    is said is made wherever its figure may come from.

    Args:
        spec: A specification without errors.
        name: Field of ``metrics``.
    """
    said = spec.metrics
    if said is None or not said.job_figures:
        return None
    if name in said.model_fields_set:
        wanted = counts_jobs(spec) or not said.prometheus
    else:
        shared = spec.task_governance is not None
        wanted = shared and counts_jobs(spec) and spec.observability is not None
    limit: int | None = getattr(said, name)
    return limit if wanted else None


def job_queues_of(spec: ClusterSpec) -> tuple[str, ...] | None:
    """Return the queues that figures are told apart by: namespaces of teams. None where they are not known.

    HyperPod adds partitions of its own to those that groups of a Slurm cluster name.

    Args:
        spec: A specification without errors.
    """
    said = spec.task_governance
    return None if said is None else tuple(team_namespace(team.team) for team in said.teams)


def job_figures_steps_due(spec: ClusterSpec) -> tuple[str, ...]:
    """Return what is left to do until jobs are counted.

    Args:
        spec: A specification without errors.
    """
    said = spec.metrics
    if said is None or not said.job_figures or said.own_job_check or counts_jobs_on_controller(spec):
        return ()
    if spec.orchestrator == "slurm":
        return (
            "metrics: nobody counts jobs, since only the package's own lifecycle scripts do, on a Controller "
            "group; the step that is due: let a timer of yours put the metrics (docs/job-figures.md), then "
            "set metrics.own_job_check to true; or set metrics.job_figures to false",
        )
    if job_figures_image_of(spec) is None:
        return (
            "metrics: nobody counts jobs, so that no alarm tells of an idle fleet and graphs of jobs are "
            "empty; the step that is due: name an image in metrics.job_figures_image, or set "
            "metrics.job_figures to false",
        )
    if spec.eks.cluster_arn is not None:
        return (
            "metrics: the stack applies no manifest to an EKS cluster that exists; the step that is due: "
            "render JobFiguresCheck (docs/job-figures.md), apply it, then set metrics.own_job_check to true",
        )
    return ()
