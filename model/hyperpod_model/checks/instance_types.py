"""Instance types: one way to say them, and types that exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.instances import InstanceType, instance_types
from hyperpod_model.checks.reading import absent, given, items, number, text
from hyperpod_model.faults import Fault, FaultPath

_SINGLE: FaultPath = ("InstanceType",)


def check_instance_types(
    group: Mapping[str, Any], *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check the instance types of one group.

    Args:
        group: Instance group in API terms.
        unlisted_instance_types: Types the user vouches for though the catalog does not list them.
    """
    faults = _check_choice(group)
    seen: set[str] = set()
    for path, name in named_types(group):
        if name in seen:
            faults.append(Fault(path, f"{name!r} is listed twice; list each type once, best first"))
        if path != _SINGLE:
            seen.add(name)
        if name not in instance_types() and name not in unlisted_instance_types:
            faults.append(Fault(path, _unknown(name)))
    threads = number(group, "ThreadsPerCore")
    for _, name in named_types(group):
        listed = listed_type(name)
        fixed = None if listed is None else listed.threads_per_core_fixed
        if threads is not None and fixed is not None and threads != fixed:
            faults.append(Fault(("ThreadsPerCore",), f"must be {fixed} for {name!r}, got {threads}"))
    return faults


def named_types(group: Mapping[str, Any]) -> Iterator[tuple[FaultPath, str]]:
    """Yield every known instance type of a group with its path."""
    single = text(group, "InstanceType")
    if single is not None:
        yield _SINGLE, single
    for index, name in enumerate(items(group, "InstanceRequirements", "InstanceTypes")):
        if isinstance(name, str):
            yield ("InstanceRequirements", "InstanceTypes", index), name


def listed_type(name: Any) -> InstanceType | None:
    """Return what the catalog knows of a type, ``None`` where it does not list it."""
    return instance_types().get(name) if isinstance(name, str) else None


def _check_choice(group: Mapping[str, Any]) -> list[Fault]:
    if given(group, "InstanceType") and given(group, "InstanceRequirements"):
        return [Fault(("InstanceRequirements",), "excludes instance_type; keep one of the two")]
    if absent(group, "InstanceType") and absent(group, "InstanceRequirements"):
        return [Fault(("InstanceType",), "is required, such as 'ml.p5.48xlarge'")]
    return []


def _unknown(name: str) -> str:
    suggestions = UnknownNameError("instance type", name, instance_types()).suggestions
    if f"ml.{name}" in instance_types():
        suggestions = (f"ml.{name}",)
    hint = f"did you mean {' or '.join(suggestions)}? " if suggestions else ""
    return (
        f"must be an instance type of HyperPod, got {name!r}; {hint}"
        "vouch for a newer type in unlisted_instance_types"
    )
