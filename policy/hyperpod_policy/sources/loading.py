"""All that is to be reviewed, from files, folders, cloud assemblies and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from hyperpod_policy.acknowledgements import Acknowledgement
from hyperpod_policy.documents import Document
from hyperpod_policy.manifests.manifest import Manifest, is_manifest, left_out, manifests_of
from hyperpod_policy.sources.app_acknowledgements import ConstructPaths, recorded, reported
from hyperpod_policy.sources.cloud_assembly import REPORT, assemblies, is_assembly
from hyperpod_policy.sources.decoding import Decoded, decoded
from hyperpod_policy.sources.folder import SUFFIXES, folders_and_files
from hyperpod_policy.sources.nested_stacks import TEMPLATE, Assets
from hyperpod_policy.sources.reading import Apply, Read, read
from hyperpod_policy.sources.templates import TemplateReader, is_template, unwrapped
from hyperpod_policy.sources.text import (
    STANDARD_INPUT,
    STANDARD_INPUT_NAME,
    decoded_text,
    is_file,
    is_folder,
    read_bytes,
    read_standard_input,
)
from hyperpod_policy.sources.unusable import UnusableInputError

_LISTED: Final = 3
"""Files that a remark names one by one."""

_NEITHER: Final = (
    "is neither a CloudFormation template, which has Resources, nor a Kubernetes manifest, which has "
    "apiVersion and kind"
)
_CLUSTER: Final = (
    "describes a cluster, and is no CloudFormation template; synthesize it (cdk synth -c cluster=FILE), and "
    "review the cloud assembly"
)
_CLUSTER_KEYS: Final = frozenset({"instance_groups", "InstanceGroups"})
"""Keys at the top of a specification of a cluster, and of a ``CreateCluster`` request."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What is to be reviewed.

    Attributes:
        documents: Templates; those of nested stacks are within them.
        manifests: Kubernetes objects.
        acknowledgements: What the CDK apps of cloud assemblies accept.
        limits: What was passed over or could not be read in full, in words.
    """

    documents: tuple[Document, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    acknowledgements: tuple[Acknowledgement, ...] = ()
    limits: tuple[str, ...] = ()


def load(
    paths: Iterable[Path | str],
    *,
    region: str | None = None,
    account: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    standard_input: BinaryIO | None = None,
    apply: Apply = map,
) -> Sources:
    """Read templates and manifests.

    A file is one template, or Kubernetes manifests, in JSON or YAML. A folder is a cloud assembly, or is
    searched for such files; what is neither is passed over there, and said in the limits.

    Args:
        paths: Files and folders; ``-`` for standard input.
        region: Region of stacks that do not say theirs. By default unknown.
        account: Account id of stacks that do not say theirs. By default unknown.
        parameters: Values of the templates' parameters, by name. By default those the templates tell.
        standard_input: Where to read ``-`` from. By default the process's standard input.
        apply: Reads the files of a folder. By default one after the other.

    Raises:
        UnusableInputError: If a path leads to nothing that can be reviewed, or a file cannot be read.
    """
    found = _Loading(region, account, {} if parameters is None else dict(parameters), apply)
    for path in paths:
        if str(path) == STANDARD_INPUT:
            content = read_standard_input(standard_input)
            found.content(content, STANDARD_INPUT_NAME, folder=None)
        elif is_folder(Path(path)):
            found.directory(Path(path))
        else:
            found.file(Path(path))
    return found.sources()


class _Loading:
    def __init__(
        self, region: str | None, account: str | None, parameters: Mapping[str, Any], apply: Apply
    ) -> None:
        self._apply = apply
        self._region = region
        self._account = account
        self._parameters = parameters
        self._documents: list[tuple[Path | None, Document]] = []
        self._manifests: list[Manifest] = []
        self._acknowledgements: dict[Acknowledgement, None] = {}
        self._limits: list[str] = []
        self._seen: set[Path] = set()
        self._nested: set[Path] = set()

    def sources(self) -> Sources:
        return Sources(
            # What another template nests is reviewed there, with the parameters that it is given.
            documents=tuple(
                document for where, document in self._documents if where is None or where not in self._nested
            ),
            manifests=tuple(self._manifests),
            acknowledgements=tuple(self._acknowledgements),
            limits=tuple(dict.fromkeys(self._limits)),
        )

    def file(self, file: Path) -> None:
        """Take in a file that was named."""
        is_in_assembly = file.name.endswith(TEMPLATE) and is_assembly(file.parent)
        if is_in_assembly and self._assembly(file.parent, only=file):
            return  # with what the assembly knows about its stack, such as the region
        if self._is_new(file):
            self.content(read_bytes(file), str(file), folder=file.parent)

    def content(self, content: bytes, file: str, *, folder: Path | None) -> None:
        """Take in what was named."""
        values = decoded(decoded_text(content, file=file), file=file)
        if not values:
            raise UnusableInputError("is empty; name a template or a manifest", file=file)
        for value in values:
            if not self._value(unwrapped(value, file=file), file, folder):
                raise UnusableInputError(
                    _CLUSTER if _describes_cluster(value.value) else _NEITHER,
                    file=file,
                    line=value.marks.line(()) if len(values) > 1 else None,
                )

    def directory(self, directory: Path) -> None:
        """Take in a folder."""
        before = len(self._documents) + len(self._manifests)
        again = False
        others: list[str] = []
        inside: list[Path] = []
        for folder, files in folders_and_files(directory):
            if any(folder.is_relative_to(assembly) for assembly in inside):
                continue
            if is_assembly(folder):
                inside.append(folder)
                again |= self._assembly(folder)
                continue
            new = []
            for file in filter(is_file, files):
                if self._is_new(file):
                    new.append(file)
                else:
                    again = True
            for file, found in zip(new, self._apply(read, new), strict=True):
                if not self._found(file, found):
                    others.append(str(file))
        if others:
            listed = ", ".join(others[:_LISTED])
            more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
            self._limits.append(f"neither a template nor a manifest: {listed}{more}")
        if len(self._documents) + len(self._manifests) == before and not again:
            wanted = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
            raise UnusableInputError(
                "is a cloud assembly without stacks"
                if directory in inside
                else f"holds no template and no manifest ({wanted}), and is no cloud assembly",
                file=str(directory),
            )

    def _found(self, file: Path, found: Read) -> bool:
        """Take in a file that was found; tell whether it is anything to review, or was remarked on."""
        if found.refusal is not None:
            if found.is_template:
                raise found.refusal
            self._limits.append(str(found.refusal))
            return True
        kinds = [self._value(value, str(file), file.parent) for value in found.values]
        return any(kinds)

    def _value(self, found: Decoded, file: str, folder: Path | None) -> bool:
        if is_template(found.value):
            if "Resources" not in found.value:
                raise UnusableInputError("has no Resources", file=file)
            reader = self._reader()
            where = None if folder is None else Path(file)
            document = reader.document(found, file=file, folder=folder, assets=Assets(where))
            self._documents.append((None if where is None else where.resolve(), document))
            self._take_in(reader)
            return True
        if is_manifest(found.value):
            self._manifests += manifests_of(found.value, file=file, marks=found.marks)
            self._limits += left_out(found.value, file=file)
            return True
        return False

    def _assembly(self, folder: Path, *, only: Path | None = None) -> bool:
        """Take in the stacks of an assembly, or one of them; tell whether there are any."""
        paths = ConstructPaths()
        found = [
            stack
            for _, stacks in assemblies(folder)
            for stack in stacks
            if only is None or os.path.realpath(stack.template) == os.path.realpath(only)
        ]
        new = [stack for stack in found if self._is_new(stack.template)]
        for stack in new:
            reader = self._reader(stack.region, stack.account, stack.parameters)
            document = reader.read(stack.template)
            self._documents.append((None, document))
            self._take_in(reader)
            paths.add(stack.metadata, document)
        for stack in new:
            self._acknowledgements.update(dict.fromkeys(recorded(stack.metadata, paths)))
        # A Stage's assembly lies in that of its app, where the report is.
        for place in (folder, folder.parent):
            self._acknowledgements.update(dict.fromkeys(reported(place / REPORT, paths)))
        return bool(found)

    def _reader(
        self,
        region: str | None = None,
        account: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> TemplateReader:
        return TemplateReader(
            region=self._region if region is None else region,
            account=self._account if account is None else account,
            parameters={**({} if parameters is None else parameters), **self._parameters},
        )

    def _take_in(self, reader: TemplateReader) -> None:
        self._limits += reader.limits
        self._nested |= reader.nested_files

    def _is_new(self, file: Path) -> bool:
        try:
            where = file.resolve()
        except (OSError, RuntimeError, ValueError):  # reading it will say what is wrong
            return True
        if where in self._seen:
            return False
        self._seen.add(where)
        return True


def _describes_cluster(value: object) -> bool:
    return isinstance(value, Mapping) and not _CLUSTER_KEYS.isdisjoint(value)
