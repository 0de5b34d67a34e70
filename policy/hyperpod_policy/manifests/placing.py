"""On which instance types a pod may run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hyperpod_model.catalog.instances import InstanceType, accelerated_instance_types, instance_types
from hyperpod_model.catalog.labels import EFA_RESOURCE
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.pods import Pod

_PREFIX: Final = "ml."
_READ: Final = "a pod is judged by the count that device plug-ins report today, doubts included"


@dataclass(frozen=True, slots=True)
class Candidates:
    """Instance types that a pod may run on.

    Attributes:
        types: Each of them, as the catalog knows it; none if the pod names one that it does not know.
        is_chosen: Whether the pod names them; else they are those with what it asks for.
        path: Where it names them, or where it would.
    """

    types: tuple[InstanceType, ...]
    is_chosen: bool
    path: FaultPath

    @property
    def names(self) -> str:
        """Their names, the first few of many."""
        shown = [found.name for found in self.types[:4]]
        more = len(self.types) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")


def candidates(pod: Pod, container: Container) -> Candidates:
    """Return the instance types that a pod may run on, by its selector or else by what it asks for.

    Args:
        pod: The pod.
        container: The container that trains.
    """
    chosen = pod.instance_types()
    if chosen is not None:
        known = [_named(name) for name in chosen.values]
        found = tuple(each for each in known if each is not None)
        return Candidates(found if len(found) == len(known) else (), True, chosen.path)
    return Candidates(tuple(_able(container)), False, pod.at("nodeSelector"))


def efa_interfaces(instance_type: InstanceType) -> int:
    """Return how many EFA interfaces pods on a type can ask for."""
    return instance_type.efa_interfaces.assuming(because=_READ)


def _named(name: object) -> InstanceType | None:
    """Return a type by its name, also without the prefix: that it lacks is for one rule to say."""
    types = instance_types()
    return types.get(str(name)) or types.get(f"{_PREFIX}{name}")


def _able(container: Container) -> Iterator[InstanceType]:
    wanted = container.accelerators()
    efa = container.amount(EFA_RESOURCE)
    for name in accelerated_instance_types():
        found = instance_types()[name]
        accelerator = found.accelerator
        if accelerator is None or not wanted:
            continue
        has = all(
            resource == accelerator.kubernetes_resource and amount is not None and amount <= accelerator.count
            for resource, amount in wanted.items()
        )
        if has and (efa is None or efa <= Fraction(efa_interfaces(found))):
            yield found
