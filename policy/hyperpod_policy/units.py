"""Which templates belong together, and are reviewed as one.

Templates that know each other must be judged together: a role in one names the bucket in another. Templates
that do not must not: each leaves things open, and the combinations of all of them are too many to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hyperpod_policy.documents import Document
from hyperpod_policy.template import Template

_NAMED: Final = {
    "AWS::S3::Bucket": "BucketName",
    "AWS::IAM::Role": "RoleName",
    "AWS::EKS::Cluster": "Name",
}
"""Types that other templates refer to by physical name, and the property that holds it."""

_SEPARATORS: Final = str.maketrans(dict.fromkeys("/:,{}$\"' ", "\n"))


def units(documents: Sequence[Document]) -> list[list[Document]]:
    """Put documents together that belong to one assembly, import each other's exports, or name each other.

    Args:
        documents: Templates without parent.

    Returns:
        Documents that are reviewed together, in the order in which the first of each was given.
    """
    heads = list(range(len(documents)))

    def head(number: int) -> int:
        while heads[number] != number:
            heads[number] = heads[heads[number]]
            number = heads[number]
        return number

    for one, other in _links(documents):
        first, second = sorted((head(one), head(other)))
        heads[second] = first
    found: dict[int, list[Document]] = {}
    for number, document in enumerate(documents):
        found.setdefault(head(number), []).append(document)
    return list(found.values())


def _links(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    if len(documents) < 2:
        return
    yield from _assembly_links(documents)
    templates = [Template((document,)) for document in documents]
    exporters: dict[str, list[int]] = {}
    owners: dict[str, list[int]] = {}
    for number, template in enumerate(templates):
        for name in template.exported_names():
            exporters.setdefault(name, []).append(number)
        for name in _physical_names(template):
            owners.setdefault(name, []).append(number)
    for number, (document, template) in enumerate(zip(documents, templates, strict=True)):
        for name in template.imported_names():
            yield from ((number, other) for other in exporters.get(name, ()))
        if owners:
            mentioned = {word for text in _texts(document.body) for word in _words(text)}
            for name in mentioned & owners.keys():
                if number not in owners[name]:
                    yield from ((number, other) for other in owners[name])


def _assembly_links(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    first: dict[Path, int] = {}
    is_assembly: dict[Path, bool] = {}
    for number, document in enumerate(documents):
        if document.file is None:
            continue
        directory = Path(document.file).parent
        if directory not in is_assembly:
            is_assembly[directory] = (directory / "cdk.out").is_file() or (directory / "tree.json").is_file()
        if is_assembly[directory]:
            yield first.setdefault(directory, number), number


def _physical_names(template: Template) -> Iterator[str]:
    for resource_type, member in _NAMED.items():
        for resource in template.of_type(resource_type):
            name = resource.get(member)
            if isinstance(name, str):
                yield name


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            waiting += current.values()
        elif isinstance(current, list):
            waiting += current


def _words(text: str) -> list[str]:
    return text.translate(_SEPARATORS).split("\n")
