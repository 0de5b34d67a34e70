"""A container of a pod, and what it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from hyperpod_model.catalog.labels import GPU_RESOURCE, NEURON_NAMES, NEURON_RESOURCE
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.reading import is_deferred, items, mapping, quantity, texts

_PARTITION_PREFIX: Final = "nvidia.com/mig-"


@dataclass(frozen=True, slots=True)
class Container:
    """One container.

    Attributes:
        path: Of it in the manifest.
        body: As decoded.
    """

    path: FaultPath
    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        name = self.body.get("name")
        return name if isinstance(name, str) else ""

    @property
    def command(self) -> tuple[str, ...]:
        """What is run, in place of the image's entry point; empty where the image says it."""
        return texts(self.body.get("command"))

    @property
    def args(self) -> tuple[str, ...]:
        """What the command is given."""
        return texts(self.body.get("args"))

    @property
    def words(self) -> tuple[str, ...]:
        """Command and arguments, one after the other."""
        return (*self.command, *self.args)

    def variables(self) -> Iterator[tuple[int, str, Any]]:
        """Yield position, name and value of each environment variable; value ``None`` if it is elsewhere."""
        for position, entry in items(self.body.get("env")):
            name = entry.get("name")
            if isinstance(name, str):
                yield position, name, None if "valueFrom" in entry else entry.get("value", "")

    def variable(self, name: str) -> tuple[int, Any] | None:
        """Return position and value of an environment variable; the last one holds where there are two."""
        found = None
        for position, each, value in self.variables():
            if each == name:
                found = position, value
        return found

    def text_of(self, name: str) -> str | None:
        """Return an environment variable's value in lower case; ``None`` where it is not set here."""
        found = self.variable(name)
        return None if found is None or found[1] is None else str(found[1]).strip().lower()

    @property
    def reads_more_variables(self) -> bool:
        """Whether variables come from a config map or secret as a whole, which is not at hand."""
        return bool(self.body.get("envFrom"))

    def ports(self) -> set[int]:
        """Return the ports that it says it listens on."""
        found = set()
        for _, entry in items(self.body.get("ports")):
            port = entry.get("containerPort")
            if isinstance(port, int) and not isinstance(port, bool):
                found.add(port)
        return found

    def asked(self, resource: str) -> Any:
        """Return what it asks for of a resource, as written: the limit, or else the request."""
        resources = mapping(self.body.get("resources"))
        limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
        return limits.get(resource, requests.get(resource))

    def amount(self, resource: str) -> Fraction | None:
        """Return how much of a resource it asks for: 0 if none, ``None`` if that is not readable."""
        asked = self.asked(resource)
        return Fraction(0) if asked is None else quantity(asked)

    def resources(self) -> set[str]:
        """Return the names of all resources that it asks for."""
        found = mapping(self.body.get("resources"))
        return {
            name
            for kind in ("limits", "requests")
            for name in mapping(found.get(kind))
            if isinstance(name, str)
        }

    def accelerators(self) -> dict[str, Fraction | None]:
        """Return how many it asks for of each kind of accelerator; none of a kind that it does not name.

        Whole Neuron devices count under one name, whichever of the two the manifest has.
        """
        names = {
            name
            for name in self.resources()
            if name in (GPU_RESOURCE, NEURON_RESOURCE) or name.startswith(_PARTITION_PREFIX)
        }
        found = {name: self.amount(name) for name in sorted(names) if self.amount(name) != 0}
        other = NEURON_NAMES["device"]
        if NEURON_RESOURCE not in found and self.amount(other) != 0:
            found[NEURON_RESOURCE] = self.amount(other)
        return found

    @property
    def is_deferred(self) -> bool:
        """Whether command or arguments are filled in before the manifest is applied."""
        return any(is_deferred(self.body.get(key)) for key in ("command", "args"))
