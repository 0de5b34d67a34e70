"""Templates read from files, with their repetitions written out and the nested stacks that are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperpod_model.catalog.templates import FORMAT_VERSION
from hyperpod_policy.documents import Document
from hyperpod_policy.sources.decoding import Decoded, decoded
from hyperpod_policy.sources.language_extensions import expanded
from hyperpod_policy.sources.nested_stacks import Assets, nested_templates
from hyperpod_policy.sources.text import decoded_text, read_bytes
from hyperpod_policy.sources.unusable import UnusableInputError

MAX_NESTED: Final = 1_000
"""Nested stacks of one template: more than anybody deploys, and an end for templates that nest each other."""

MAX_LEVELS: Final = 20
"""Nested stacks within each other."""

_BODY: Final = "TemplateBody"
_FOR_EACH: Final = "Fn::ForEach::"
_VERSION: Final = "AWSTemplateFormatVersion"


def is_template(value: Any) -> bool:
    """Tell whether a decoded value is meant as a CloudFormation template."""
    if not isinstance(value, Mapping):
        return False
    resources = value.get("Resources")
    if _VERSION in value:
        return True
    return isinstance(resources, Mapping) and (
        not resources
        or any(
            str(name).startswith(_FOR_EACH) or (isinstance(resource, Mapping) and "Type" in resource)
            for name, resource in resources.items()
        )
    )


def unwrapped(found: Decoded, *, file: str) -> Decoded:
    """Take a template out of what ``aws cloudformation get-template`` prints; leave anything else as it is.

    Raises:
        UnusableInputError: If there is no template in it.
    """
    value = found.value
    if not isinstance(value, Mapping) or _BODY not in value or "Resources" in value:
        return found
    body = value[_BODY]
    if not isinstance(body, str):
        return Decoded(body, found.marks.below(_BODY))
    inner = decoded(body, file=f"{file} ({_BODY})")
    if len(inner) != 1:
        raise UnusableInputError(f"has a {_BODY} without a template", file=file)
    return inner[0]


def checked(value: Any, *, file: str) -> Mapping[str, Any]:
    """Return a template, if it is one.

    Raises:
        UnusableInputError: If its resources are no mapping, or its format is an unknown one.
    """
    if not isinstance(value, Mapping):
        raise UnusableInputError(f"must be a mapping with Resources, got {_kind(value)}", file=file)
    version = value.get(_VERSION, FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise UnusableInputError(
            f"has {_VERSION} {str(version)[:40]!r}, and only {FORMAT_VERSION!r} exists", file=file
        )
    resources = value.get("Resources", {})
    if not isinstance(resources, Mapping):
        raise UnusableInputError(f"has Resources that are no mapping, got {_kind(resources)}", file=file)
    return value


class TemplateReader:
    """Reads templates and their nested stacks.

    Args:
        region: Region of the stacks. By default unknown.
        account: Account id of the stacks. By default unknown.
        parameters: Values of parameters, by name, of the stacks that nest the others. By default none.

    Attributes:
        limits: What could not be read in full, in words.
        nested_files: Files that were read as nested stacks.
    """

    def __init__(
        self,
        *,
        region: str | None = None,
        account: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.limits: list[str] = []
        self.nested_files: set[Path] = set()
        self._region = region
        self._account = account
        self._parameters = {} if parameters is None else dict(parameters)
        self._count = 0

    def read(self, template: Path, *, assets: Assets | None = None) -> Document:
        """Read a template's file.

        Args:
            template: The file.
            assets: Files by which a cloud assembly names nested templates. By default those that its asset
                manifest and metadata list, if there are such.

        Raises:
            UnusableInputError: If it is no template.
        """
        return self._read(template, Assets(template) if assets is None else assets, ())

    def document(
        self, found: Decoded, *, file: str, folder: Path | None = None, assets: Assets | None = None
    ) -> Document:
        """Make a document of a decoded template.

        Args:
            found: The template.
            file: Its name.
            folder: Folder that paths of nested templates begin at. By default none, nested stacks stay out.
            assets: Files by which a cloud assembly names nested templates. By default none.

        Raises:
            UnusableInputError: If it is no template.
        """
        chain = () if folder is None else (Path(file).resolve(),)
        return self._document(found, file, folder, Assets() if assets is None else assets, chain)

    def _read(self, template: Path, assets: Assets, around: tuple[Path, ...]) -> Document:
        file = str(template)
        content = decoded(decoded_text(read_bytes(template), file=file), file=file)
        if len(content) != 1:
            problem = "is empty" if not content else f"holds {len(content)} documents, not one template"
            raise UnusableInputError(problem, file=file)
        chain = (*around, template.resolve())
        return self._document(unwrapped(content[0], file=file), file, template.parent, assets, chain)

    def _document(
        self, found: Decoded, file: str, folder: Path | None, assets: Assets, chain: tuple[Path, ...]
    ) -> Document:
        body = checked(found.value, file=file)
        expansion = expanded(body, found.marks, file=file, region=self._region)
        self.limits += expansion.limits
        nested: dict[str, Document] = {}
        if folder is not None:
            for logical_id, inner in nested_templates(expansion.body, folder, assets):
                where = inner.resolve()
                if where in chain:
                    raise UnusableInputError(f"nested stack {logical_id} nests itself", file=file)
                if len(chain) > MAX_LEVELS:
                    raise UnusableInputError(f"nests stacks more than {MAX_LEVELS} levels deep", file=file)
                self._count += 1
                if self._count > MAX_NESTED:
                    raise UnusableInputError(f"has more than {MAX_NESTED} nested stacks", file=file)
                self.nested_files.add(where)
                nested[logical_id] = self._read(inner, assets, chain)
        return Document(
            body=expansion.body,
            file=file,
            region=self._region,
            account=self._account,
            # A nested stack has what its parent passes.
            parameters=self._parameters if len(chain) < 2 else {},
            nested=nested,
            marks=expansion.marks,
        )


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "text", dict: "a mapping", type(None): "nothing", bool: "a boolean"}
    return kinds.get(type(value), "a number")
