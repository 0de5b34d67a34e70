"""The stacks of a cloud assembly, such as ``cdk.out``, and of the Stages in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hyperpod_policy.sources.nested_stacks import mapping, read_object
from hyperpod_policy.sources.text import is_file
from hyperpod_policy.sources.unusable import UnusableInputError

MANIFEST: Final = "manifest.json"
REPORT: Final = "validation-report.json"

_STACK: Final = "aws:cloudformation:stack"
_NESTED: Final = "cdk:cloud-assembly"
_ENVIRONMENT: Final = re.compile(r"aws://([^/]*)/(.*)")
_UNKNOWN: Final = ("unknown-account", "unknown-region", "")


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack of an assembly.

    Attributes:
        template: File of its template.
        region: Region it is deployed to, if known.
        account: Account it is deployed to, if known.
        parameters: Values that the CDK CLI gives its parameters.
        metadata: What constructs left, by construct path: logical ids, acknowledgements.
    """

    template: Path
    region: str | None
    account: str | None
    parameters: Mapping[str, Any]
    metadata: Mapping[str, Any]


def is_assembly(folder: Path) -> bool:
    """Tell whether a folder holds a cloud assembly: its manifest lists artifacts."""
    manifest = folder / MANIFEST
    try:
        found = read_object(manifest) if is_file(manifest) else {}
    except UnusableInputError:
        return False
    return isinstance(found.get("artifacts"), Mapping) and isinstance(found.get("version"), str)


def assemblies(folder: Path) -> Iterator[tuple[Path, list[Stack]]]:
    """Yield the assembly in a folder and those of its Stages, each with its stacks.

    Raises:
        UnusableInputError: If one of their files cannot be read.
    """
    waiting = [folder]
    seen: set[Path] = set()
    while waiting:
        here = waiting.pop(0)
        if here.resolve() in seen:
            continue
        seen.add(here.resolve())
        stacks: list[Stack] = []
        for name, artifact in mapping(read_object(here / MANIFEST).get("artifacts")).items():
            kind = mapping(artifact).get("type")
            properties = mapping(mapping(artifact).get("properties"))
            if kind == _STACK:
                stacks.append(_stack(here, name, mapping(artifact), properties))
            elif kind == _NESTED and isinstance(properties.get("directoryName"), str):
                waiting.append(here / properties["directoryName"])
        yield here, stacks


def _stack(folder: Path, name: str, artifact: Mapping[str, Any], properties: Mapping[str, Any]) -> Stack:
    template = properties.get("templateFile")
    if not isinstance(template, str):
        raise UnusableInputError(f"names no template for stack {name!r}", file=str(folder / MANIFEST))
    if not is_file(folder / template):
        raise UnusableInputError(
            f"names {template!r} for stack {name!r}, which is not there; synthesize again",
            file=str(folder / MANIFEST),
        )
    found = _ENVIRONMENT.fullmatch(str(artifact.get("environment")))
    account, region = (None, None) if found is None else found.groups()
    beside = artifact.get("additionalMetadataFile")
    metadata: dict[str, Any] = dict(mapping(artifact.get("metadata")))
    if isinstance(beside, str) and is_file(folder / beside):
        metadata.update(read_object(folder / beside))
    return Stack(
        template=folder / template,
        region=None if region in _UNKNOWN else region,
        account=None if account in _UNKNOWN else account,
        parameters={
            key: value
            for key, value in mapping(properties.get("parameters")).items()
            if isinstance(value, str)
        },
        metadata=metadata,
    )
