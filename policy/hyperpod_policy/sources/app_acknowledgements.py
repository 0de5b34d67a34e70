"""Findings that a CDK app has acknowledged, as its cloud assembly tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from hyperpod_policy.acknowledgements import PACK, Acknowledgement
from hyperpod_policy.documents import Document
from hyperpod_policy.sources.nested_stacks import mapping, read_object
from hyperpod_policy.sources.text import is_file

_PREFIX: Final = f"{PACK}::"
_ACKNOWLEDGED: Final = "aws:cdk:acknowledged-rules"
_LOGICAL_ID: Final = "aws:cdk:logicalId"
_NESTED: Final = re.compile(r"(.+)\.NestedStack/[^/]+\.NestedStackResource")


class Place(NamedTuple):
    """A resource: its template's file and its logical id."""

    file: str
    logical_id: str


class ConstructPaths:
    """Which resource stands at which construct path, in an assembly's stacks and their nested stacks."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}

    def add(self, metadata: Mapping[str, Any], document: Document) -> None:
        """Take in a stack.

        Args:
            metadata: The stack's metadata, by construct path.
            document: Its template.
        """
        logical_ids = {
            path: entry["data"]
            for path, entry in _entries(metadata, _LOGICAL_ID)
            if isinstance(entry.get("data"), str)
        }
        nested = {
            found[1]: logical_id
            for path, logical_id in logical_ids.items()
            if (found := _NESTED.fullmatch(path)) is not None
        }
        for path, logical_id in logical_ids.items():
            where: Document | None = document
            for root in sorted((root for root in nested if path.startswith(f"{root}/")), key=len):
                where = None if where is None else where.nested.get(nested[root])
            if where is not None and where.file is not None:
                self._places[path.strip("/")] = Place(where.file, logical_id)

    def at(self, path: str) -> Place | None:
        """Return the resource of a construct."""
        return self._places.get(path.strip("/"))

    def within(self, path: str) -> Iterator[Place]:
        """Yield the resources of a construct and of all within it."""
        whole = path.strip("/")
        for other, place in self._places.items():
            if other == whole or other.startswith(f"{whole}/"):
                yield place

    def named(self, template: str, logical_id: str) -> Iterator[Place]:
        """Yield the resources of a logical id in templates of a file name, whatever their folder."""
        name = re.split(r"[/\\]", template)[-1]
        for place in self._places.values():
            if place.logical_id == logical_id and Path(place.file).name == name:
                yield place


def recorded(metadata: Mapping[str, Any], paths: ConstructPaths) -> Iterator[Acknowledgement]:
    """Yield what the constructs of a stack acknowledge, for each resource that it covers.

    Args:
        metadata: The stack's metadata, by construct path.
        paths: The resources of its assembly.
    """
    for path, entry in _entries(metadata, _ACKNOWLEDGED):
        for name, reason in mapping(entry.get("data")).items():
            if str(name).startswith(_PREFIX):
                for place in paths.within(path):
                    yield _acknowledgement(str(name), reason, path, place)


def reported(report: Path, paths: ConstructPaths) -> Iterator[Acknowledgement]:
    """Yield what the validation report of a synthesis says was acknowledged, by the app or a Stage as well.

    Args:
        report: ``validation-report.json``; nothing is yielded if it is not there.
        paths: The resources of the assembly.

    Raises:
        UnusableInputError: If it is no JSON.
    """
    if not is_file(report):
        return
    for plugin in _items(read_object(report).get("pluginReports")):
        for violation in _items(plugin.get("suppressedViolations")):
            name = str(violation.get("acknowledgedId"))
            if name.startswith(_PREFIX):
                at = violation.get("acknowledgedAt", "the CDK app")
                for place in _violating(violation, paths):
                    yield _acknowledgement(name, violation.get("reason", ""), at, place)


def _acknowledgement(name: str, reason: Any, at: Any, place: Place) -> Acknowledgement:
    return Acknowledgement(
        rule_id=name.removeprefix(_PREFIX),
        resource=place.logical_id,
        reason=str(reason),
        by=str(at).strip("/"),
        file=place.file,
    )


def _violating(violation: Mapping[str, Any], paths: ConstructPaths) -> Iterator[Place]:
    for construct in _items(violation.get("violatingConstructs")):
        known = paths.at(str(construct.get("constructPath")))
        if known is not None:
            yield known
            continue
        resource = mapping(construct.get("cloudFormationResource"))
        template, logical_id = resource.get("templatePath"), resource.get("logicalId")
        if isinstance(template, str) and isinstance(logical_id, str):
            yield from paths.named(template, logical_id)


def _entries(metadata: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, entries in metadata.items():
        for entry in _items(entries):
            if entry.get("type") == kind:
                yield path, entry


def _items(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else ()
