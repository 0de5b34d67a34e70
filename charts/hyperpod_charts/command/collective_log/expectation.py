"""What a job's log should say, by its instance type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hyperpod_model.catalog.collective_logs import PLATFORM_NAMES
from hyperpod_model.catalog.instances import instance_type, instance_types

_PREFIX = "ml."


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of a job.

    Attributes:
        instance_type: Type of its nodes; None where nothing tells it.
        interfaces: EFA interfaces a pod, 0 for none; None where they are not known for certain.
        because: Where the number is from, to follow ``as``.
    """

    instance_type: str | None = None
    interfaces: int | None = None
    because: str = ""


def expectation_of(type_name: str) -> Expectation:
    """Expect all interfaces of an instance type.

    Args:
        type_name: Such as ``ml.p5.48xlarge``.

    Raises:
        UnknownNameError: If the catalog does not have it.
    """
    found = instance_type(type_name).efa_interfaces
    return Expectation(type_name, found.value if found.certain else None, f"{type_name} has")


def expectation_by_log(platforms: Iterable[str | None]) -> Expectation:
    """Expect what the instance type has that the plugin names in the log, if all nodes are of one type.

    Args:
        platforms: Types in the plugin's words, such as ``p5.48xlarge``; None where it named none.
    """
    names = {PLATFORM_NAMES.get(name, f"{_PREFIX}{name}") for name in platforms if name is not None}
    if len(names) != 1 or not names <= set(instance_types()):
        return Expectation()
    return expectation_of(names.pop())
