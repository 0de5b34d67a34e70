"""The scenario that a user means."""

from __future__ import annotations

from argparse import Namespace

from hyperpod_lifecycle.goodput.command.arguments import NUMBERS, option
from hyperpod_lifecycle.goodput.from_specs import Derived, derived
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import Fault, InvalidInputError, dotted
from hyperpod_model.job_spec import JobSpec, load_job


def derived_from(options: Namespace) -> Derived:
    """Read what the user named, and put it together.

    Raises:
        UsageError: With all faults of a file, or of the numbers.
    """
    given = {name: getattr(options, name) for name in (*NUMBERS, "checkpointless")}
    try:
        return derived(
            cluster=_cluster(options.cluster),
            job=_job(options.job),
            step_seconds=options.step_seconds,
            options={name: value for name, value in given.items() if value is not None},
        )
    except InvalidInputError as error:
        raise UsageError("\n".join(_words(fault) for fault in error.faults)) from error


def _words(fault: Fault) -> str:
    return f"{option(dotted(fault.path))}: {fault.message}" if fault.path else fault.message


def _cluster(path: str | None) -> ClusterSpec | None:
    if path is None:
        return None
    try:
        return load_cluster(path).spec
    except InvalidInputError as error:
        raise UsageError("\n".join(f"--cluster {path}: {fault}" for fault in error.faults)) from error


def _job(path: str | None) -> JobSpec | None:
    if path is None:
        return None
    try:
        return load_job(path)
    except InvalidInputError as error:
        raise UsageError("\n".join(f"--job {path}: {fault}" for fault in error.faults)) from error
