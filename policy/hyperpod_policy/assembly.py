"""Templates of a cloud assembly, with the nested stacks that CDK keeps in files of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from hyperpod_policy.documents import Document

_TEMPLATE: Final = ".template.json"
_NESTED_STACK: Final = "AWS::CloudFormation::Stack"


class _Asset(NamedTuple):
    """A file of the assembly, and texts by which a template's URL names it."""

    path: Path
    names: tuple[str, ...]


def read_stack(template: Path, *, region: str | None = None, account: str | None = None) -> Document:
    """Read the template of a stack in a cloud assembly, and those of its nested stacks.

    A nested stack's template is found by the asset manifest beside the template, in the metadata that
    ``LegacyStackSynthesizer`` leaves (in a file beside the template or in the assembly's manifest), or by the
    resource's metadata that the CDK CLI asks for. One that is not found stays out, and a review says so.

    Args:
        template: Template file, such as ``cdk.out/MyStack.template.json``.
        region: Region of the stack. By default unknown.
        account: Account id of the stack. By default unknown.

    Raises:
        OSError: If the template cannot be read.
        ValueError: If it is no JSON object.
    """
    name = template.name.removesuffix(_TEMPLATE)
    assets = [
        *_manifest_assets(template.with_name(f"{name}.assets.json")),
        *_metadata_assets(template.with_name(f"{name}.metadata.json")),
        *_assembly_assets(template.parent / "manifest.json"),
    ]
    return _read(template, assets, region, account)


def _read(template: Path, assets: list[_Asset], region: str | None, account: str | None) -> Document:
    body = _load(template)
    nested: dict[str, Document] = {}
    resources = body.get("Resources")
    for logical_id, resource in resources.items() if isinstance(resources, Mapping) else ():
        if isinstance(resource, Mapping) and resource.get("Type") == _NESTED_STACK:
            found = _template_of(resource, template.parent, assets)
            if found is not None:
                nested[logical_id] = _read(found, assets, region, account)
    return Document(body=body, file=str(template), region=region, account=account, nested=nested)


def _template_of(resource: Mapping[str, Any], directory: Path, assets: list[_Asset]) -> Path | None:
    metadata = resource.get("Metadata")
    if isinstance(metadata, Mapping) and isinstance(metadata.get("aws:asset:path"), str):
        named = directory / str(metadata["aws:asset:path"])
        if named.is_file():
            return named
    url = json.dumps(resource.get("Properties", {}).get("TemplateURL"))
    for asset in assets:
        if asset.path.is_file() and any(name in url for name in asset.names):
            return asset.path
    return None


def _manifest_assets(manifest: Path) -> Iterator[_Asset]:
    if not manifest.is_file():
        return
    for asset_id, asset in _load(manifest).get("files", {}).items():
        path = asset.get("source", {}).get("path")
        if isinstance(path, str) and path.endswith(_TEMPLATE):
            keys = (item.get("objectKey") for item in asset.get("destinations", {}).values())
            yield _Asset(manifest.parent / path, (asset_id, *(key for key in keys if key)))


def _metadata_assets(file: Path) -> Iterator[_Asset]:
    if file.is_file():
        yield from _recorded_assets(_load(file), file.parent)


def _assembly_assets(manifest: Path) -> Iterator[_Asset]:
    if manifest.is_file():
        for artifact in _load(manifest).get("artifacts", {}).values():
            yield from _recorded_assets(artifact.get("metadata", {}), manifest.parent)


def _recorded_assets(metadata: Mapping[str, Any], directory: Path) -> Iterator[_Asset]:
    for entries in metadata.values():
        for entry in entries:
            data = entry.get("data")
            if entry.get("type") == "aws:cdk:asset" and isinstance(data, Mapping):
                path = data.get("path")
                if isinstance(path, str) and path.endswith(_TEMPLATE):
                    names = (data.get("s3KeyParameter"), data.get("sourceHash"))
                    yield _Asset(directory / path, tuple(str(name) for name in names if name))


def _load(file: Path) -> Mapping[str, Any]:
    found = json.loads(file.read_bytes())
    if not isinstance(found, Mapping):
        raise ValueError(f"{file} must be a JSON object, got {type(found).__name__}")
    return found
