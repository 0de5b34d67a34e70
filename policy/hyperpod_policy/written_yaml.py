"""YAML that a template writes as text, with values in it that deployment alone can tell."""

from __future__ import annotations

from typing import Any

from hyperpod_policy.sources.unusable import UnusableInputError
from hyperpod_policy.values import Text
from hyperpod_policy.written_marks import marked, restored


def written_yaml(text: Any) -> Any:
    """Return what YAML text decodes to, unresolved parts put back where they stand.

    Args:
        text: A string, or a `Text` of literal and unresolved parts.

    Returns:
        ``None`` if that is no YAML with one document.
    """
    if not isinstance(text, str | Text):
        return None
    from hyperpod_policy.sources.yaml_text import (
        decode_yaml,
    )  # imports PyYAML, which most templates never need

    written, marks = marked(text)
    try:
        documents = decode_yaml(written, file="text of the template")
    except UnusableInputError:
        return None
    return restored(documents[0].value, marks) if len(documents) == 1 else None
