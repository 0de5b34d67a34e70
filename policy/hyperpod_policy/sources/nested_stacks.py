"""Which file holds the template of a nested stack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from hyperpod_policy.sources.json_text import decode_json
from hyperpod_policy.sources.text import decoded_text, is_file, read_bytes

TEMPLATE: Final = ".template.json"
"""How the names of templates in a cloud assembly end."""

_STACK: Final = "AWS::CloudFormation::Stack"
_ASSEMBLY: Final = "manifest.json"


class _Asset(NamedTuple):
    """A file of the assembly, and texts by which a template's URL names it."""

    path: Path
    names: tuple[str, ...]


class Assets:
    """Templates that a cloud assembly lists as assets, read when the first is asked for.

    Args:
        template: Template whose asset manifest, metadata and assembly manifest stand beside it. By default
            nothing is listed.
    """

    def __init__(self, template: Path | None = None) -> None:
        self._template = template
        self._listed: tuple[_Asset, ...] | None = None

    def named_in(self, url: Any) -> Path | None:
        """Return the file that a ``TemplateURL``, as the template has it, names.

        Raises:
            UnusableInputError: If a file that lists assets is no JSON.
        """
        if self._listed is None:
            self._listed = tuple(_assets_beside(self._template))
        text = json.dumps(url, default=str)
        for asset in self._listed:
            if is_file(asset.path) and any(name in text for name in asset.names):
                return asset.path
        return None


def nested_templates(body: Mapping[str, Any], folder: Path, assets: Assets) -> Iterator[tuple[str, Path]]:
    """Yield the logical id of each nested stack whose template is at hand, and the file.

    It is the file that the resource's metadata names for the CDK CLI, the asset that its URL names, or, as
    ``aws cloudformation package`` takes it, the file at a path in place of the URL.

    Args:
        body: The template that nests them.
        folder: Folder that paths in it begin at.
        assets: What the assembly lists.
    """
    resources = body.get("Resources")
    for logical_id, resource in resources.items() if isinstance(resources, Mapping) else ():
        if isinstance(resource, Mapping) and resource.get("Type") == _STACK:
            found = _template_of(resource, folder, assets)
            if found is not None:
                yield logical_id, found


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def read_object(file: Path) -> Mapping[str, Any]:
    """Read a file of an assembly.

    Raises:
        UnusableInputError: If it is no JSON.
    """
    return mapping(decode_json(decoded_text(read_bytes(file), file=str(file)), file=str(file)))


def _template_of(resource: Mapping[str, Any], folder: Path, assets: Assets) -> Path | None:
    url = mapping(resource.get("Properties")).get("TemplateURL")
    named = mapping(resource.get("Metadata")).get("aws:asset:path")
    paths = (named, url if isinstance(url, str) and "://" not in url else None)
    for path in paths:
        if isinstance(path, str) and path.strip() and is_file(folder / path):
            return folder / path
    return assets.named_in(url)


def _assets_beside(template: Path | None) -> Iterator[_Asset]:
    if template is not None and template.name.endswith(TEMPLATE):
        name = template.name.removesuffix(TEMPLATE)
        yield from _manifest_assets(template.with_name(f"{name}.assets.json"))
        yield from _metadata_assets(template.with_name(f"{name}.metadata.json"))
        yield from _assembly_assets(template.with_name(_ASSEMBLY))


def _manifest_assets(manifest: Path) -> Iterator[_Asset]:
    if is_file(manifest):
        for asset_id, asset in mapping(read_object(manifest).get("files")).items():
            path = mapping(mapping(asset).get("source")).get("path")
            if isinstance(path, str) and path.endswith(TEMPLATE):
                destinations = mapping(mapping(asset).get("destinations")).values()
                keys = (mapping(item).get("objectKey") for item in destinations)
                names = (asset_id, *(key for key in keys if isinstance(key, str) and key))
                yield _Asset(manifest.parent / path, names)


def _metadata_assets(file: Path) -> Iterator[_Asset]:
    if is_file(file):
        yield from _recorded_assets(read_object(file), file.parent)


def _assembly_assets(manifest: Path) -> Iterator[_Asset]:
    if is_file(manifest):
        for artifact in mapping(read_object(manifest).get("artifacts")).values():
            yield from _recorded_assets(mapping(mapping(artifact).get("metadata")), manifest.parent)


def _recorded_assets(metadata: Mapping[str, Any], folder: Path) -> Iterator[_Asset]:
    for entries in metadata.values():
        for entry in entries if isinstance(entries, list) else ():
            data = mapping(mapping(entry).get("data"))
            path = data.get("path")
            if (
                mapping(entry).get("type") == "aws:cdk:asset"
                and isinstance(path, str)
                and path.endswith(TEMPLATE)
            ):
                names = (data.get("s3KeyParameter"), data.get("sourceHash"))
                yield _Asset(folder / path, tuple(str(name) for name in names if name))
