"""One weakening of a template, made by copying only what changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Template = Mapping[str, Any]
Path = tuple[str | int, ...]


class _Gone:
    """What a removed value becomes."""


GONE = _Gone()


@dataclass(frozen=True)
class Mutant:
    """One thing of one resource changed.

    ``edits`` are paths below ``Resources``, each with the new value there or `GONE`.
    """

    resource: str
    kind: str
    path: Path
    change: str
    edits: tuple[tuple[Path, Any], ...]

    @property
    def label(self) -> str:
        where = ".".join(map(str, self.path))
        return f"{self.kind} {self.resource}{' ' + where if where else ''}: {self.change}"

    def of(self, template: Template) -> dict[str, Any]:
        """The template with this one change; what does not change is shared with it."""
        resources = template["Resources"]
        for path, value in self.edits:
            resources = _with(resources, path, value)
        return {**template, "Resources": resources}


def _with(place: Any, path: Path, value: Any) -> Any:
    step, *rest = path
    copied: Any = list(place) if isinstance(place, list) else dict(place)
    if rest:
        copied[step] = _with(
            place[step] if step in place or isinstance(place, list) else {}, tuple(rest), value
        )
    elif value is GONE:
        del copied[step]
    else:
        copied[step] = value
    return copied


def mutant(template: Template, resource: str, path: Path, change: str, value: Any) -> Mutant:
    """A mutant with a new value, or `GONE`, at a path below the properties of a resource."""
    kind = template["Resources"][resource]["Type"]
    return Mutant(resource, kind, path, change, (((resource, "Properties", *path), value),))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
