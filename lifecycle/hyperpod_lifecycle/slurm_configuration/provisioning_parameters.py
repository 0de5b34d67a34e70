"""The file of which HyperPod makes ``slurm.conf`` where lifecycle scripts configure Slurm."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hyperpod_model.catalog.cluster_rules import reserved_partitions
from hyperpod_model.catalog.names import INSTANCE_GROUP, PARTITION
from hyperpod_model.catalog.nodes import (
    PROVISIONING_PARAMETERS_FILE,
    PROVISIONING_PARAMETERS_VERSION,
    WORKLOAD_MANAGER,
)
from hyperpod_model.catalog.slurm_parameters import (
    PROVISIONING_OPTIONAL,
    PROVISIONING_REQUIRED,
    PROVISIONING_SLURM_CONFIGURATIONS,
    PROVISIONING_WORKER_GROUP,
)
from hyperpod_model.faults import Fault, refuse

_FSX = ("fsx_dns_name", "fsx_mountname")


class WorkerGroup(NamedTuple):
    """A group whose nodes run jobs.

    Attributes:
        instance_group_name: Name of the instance group.
        partition_name: Partition that its nodes belong to.
    """

    instance_group_name: str
    partition_name: str


def render_provisioning_parameters(
    *,
    controller_group: str,
    worker_groups: Sequence[WorkerGroup],
    login_group: str | None = None,
) -> str:
    """Render ``provisioning_parameters.json``.

    File systems are left out: the package's own scripts mount them from their own parameters.

    Args:
        controller_group: Name of the instance group that runs ``slurmctld``.
        worker_groups: The groups that run jobs, at least one.
        login_group: Name of the instance group where people log in. None by default.

    Returns:
        JSON with a line feed at its end.

    Raises:
        InvalidInputError: If HyperPod could not read it.
    """
    content: dict[str, Any] = {
        "version": PROVISIONING_PARAMETERS_VERSION,
        "workload_manager": WORKLOAD_MANAGER,
        "controller_group": controller_group,
    }
    if login_group is not None:
        content["login_group"] = login_group
    content["worker_groups"] = [group._asdict() for group in worker_groups]
    text = json.dumps(content, indent=2) + "\n"
    refuse(check_provisioning_parameters(text))
    return text


def check_provisioning_parameters(
    content: str | bytes, *, instance_groups: Collection[str] | None = None
) -> list[Fault]:
    """Find what HyperPod cannot make ``slurm.conf`` of.

    Args:
        content: The file.
        instance_groups: Names of the cluster's instance groups. By default names are not looked up.

    Returns:
        Faults with the file and the members within as path.
    """
    try:
        text = content.decode() if isinstance(content, bytes) else content
        decoded = json.loads(text, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        return [_fault((), f"must be UTF-8, got {error.reason} at byte {error.start}; save it as such")]
    except json.JSONDecodeError as error:
        message = f"is no JSON: {error.msg}; see python3 -m json.tool {PROVISIONING_PARAMETERS_FILE}"
        return [_fault((), message, line=error.lineno)]
    except _SaidTwiceError as error:
        return [_fault((), f"says {error} twice, and the later one holds; keep one")]
    if not isinstance(decoded, Mapping):
        return [_fault((), f"must be an object with {', '.join(PROVISIONING_REQUIRED)}; correct it")]
    faults = _check_members(decoded, (), PROVISIONING_REQUIRED, PROVISIONING_OPTIONAL)
    faults += _check_constants(decoded)
    faults += _check_groups(decoded, instance_groups)
    faults += _check_file_system(decoded)
    extra = decoded.get("slurm_configurations")
    if isinstance(extra, Mapping):
        faults += _check_members(extra, ("slurm_configurations",), (), PROVISIONING_SLURM_CONFIGURATIONS)
    elif extra is not None:
        faults.append(_fault(("slurm_configurations",), f"must be an object, got {extra!r}; correct it"))
    return faults


class _SaidTwiceError(Exception):
    """A member stands in one object twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise _SaidTwiceError(repr(next(name for name in names if names.count(name) > 1)))
    return members


def _fault(path: tuple[str | int, ...], message: str, *, line: int | None = None) -> Fault:
    return Fault((PROVISIONING_PARAMETERS_FILE, *path), message, line=line)


def _check_members(
    found: Mapping[str, Any], where: tuple[str | int, ...], required: Iterable[str], optional: Iterable[str]
) -> list[Fault]:
    faults = [
        _fault((*where, name), "is required, got none; add it")
        for name in required
        if name not in found or found[name] is None
    ]
    allowed = [*required, *optional]
    for name in found:
        if name not in allowed:
            alike = difflib.get_close_matches(name, allowed, n=1)
            way_out = f"write {alike[0]}" if alike else f"known are {', '.join(allowed)}"
            faults.append(
                _fault((*where, name), f"is read by nobody; {way_out}")._replace(severity="warning")
            )
    return faults


def _check_constants(decoded: Mapping[str, Any]) -> list[Fault]:
    wanted = {"version": PROVISIONING_PARAMETERS_VERSION, "workload_manager": WORKLOAD_MANAGER}
    return [
        _fault((name,), f"must be '{value}', got {decoded[name]!r}; correct it")
        for name, value in wanted.items()
        if decoded.get(name) is not None and decoded[name] != value
    ]


def _check_groups(decoded: Mapping[str, Any], instance_groups: Collection[str] | None) -> list[Fault]:
    faults: list[Fault] = []
    taken: dict[str, str] = {}
    for name in ("controller_group", "login_group"):
        if decoded.get(name) is not None:
            faults += _check_group(decoded[name], (name,), taken, instance_groups)
    workers = decoded.get("worker_groups")
    if workers is None:
        return faults
    if not isinstance(workers, list) or not workers:
        return [*faults, _fault(("worker_groups",), f"must be a list of at least one group, got {workers!r}")]
    for index, worker in enumerate(workers):
        where = ("worker_groups", index)
        if not isinstance(worker, Mapping):
            members = " and ".join(PROVISIONING_WORKER_GROUP)
            faults.append(_fault(where, f"must be an object with {members}, got {worker!r}; correct it"))
            continue
        faults += _check_members(worker, where, PROVISIONING_WORKER_GROUP, ())
        group, partition = (worker.get(member) for member in PROVISIONING_WORKER_GROUP)
        if group is not None:
            faults += _check_group(group, (*where, PROVISIONING_WORKER_GROUP[0]), taken, instance_groups)
        if partition is not None:
            faults += _check_partition(partition, (*where, PROVISIONING_WORKER_GROUP[1]))
    return faults


def _check_group(
    name: Any, where: tuple[str | int, ...], taken: dict[str, str], instance_groups: Collection[str] | None
) -> list[Fault]:
    if not isinstance(name, str) or not INSTANCE_GROUP.matches(name):
        message = (
            f"must be the name of an instance group ({INSTANCE_GROUP.in_words}), got {name!r}; correct it"
        )
        return [_fault(where, message)]
    role = str(where[0])
    if name in taken:
        other = "a second of the worker_groups" if taken[name] == role else taken[name]
        return [_fault(where, f"names '{name}', which is {other} already; a group has one role")]
    taken[name] = role
    if instance_groups is not None and name not in instance_groups:
        known = ", ".join(sorted(instance_groups))
        return [_fault(where, f"must be an instance group of the cluster, got '{name}'; it has {known}")]
    return []


def _check_partition(partition: Any, where: tuple[str | int, ...]) -> list[Fault]:
    if not isinstance(partition, str) or not PARTITION.matches(partition):
        message = f"must be the name of a partition ({PARTITION.in_words}), got {partition!r}; correct it"
        return [_fault(where, message)]
    reason = reserved_partitions().get(partition.lower())
    if reason is not None:
        return [_fault(where, f"'{partition}' is taken: {reason}; choose another name")]
    return []


def _check_file_system(decoded: Mapping[str, Any]) -> list[Fault]:
    faults = []
    for name in (*_FSX, "fsx_openzfs_dns_name"):
        value = decoded.get(name)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            faults.append(_fault((name,), f"must be text, got {value!r}; give it, or leave it out"))
    given = [name for name in _FSX if decoded.get(name) is not None]
    if len(given) == 1:
        (missing,) = set(_FSX) - set(given)
        faults.append(
            _fault((missing,), f"goes with {given[0]}, got none; give both, or neither without a file system")
        )
    return faults
