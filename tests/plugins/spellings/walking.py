"""Where in a template things are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Template = dict[str, Any]
Spelling = Callable[[Template], None]
"""Rewrites a template in place."""

DOCUMENTS = ("PolicyDocument", "AssumeRolePolicyDocument", "KeyPolicy")


def resources_of(template: Template, *kinds: str) -> Iterator[dict[str, Any]]:
    for resource in template["Resources"].values():
        if not kinds or resource["Type"] in kinds:
            yield resource


def statements_of(template: Template) -> Iterator[dict[str, Any]]:
    for document in documents_of(template["Resources"]):
        yield from document["Statement"]


def documents_of(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in DOCUMENTS and isinstance(item, dict) and "Statement" in item:
                yield item
            else:
                yield from documents_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from documents_of(item)


def everywhere(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy in which every value, from the inside out, is what the change says."""
    if isinstance(value, Mapping):
        value = {key: everywhere(item, change) for key, item in value.items()}
    elif isinstance(value, list):
        value = [everywhere(item, change) for item in value]
    return change(value)


def rewrite(template: Template, change: Callable[[Any], Any]) -> None:
    template["Resources"] = everywhere(template["Resources"], change)
