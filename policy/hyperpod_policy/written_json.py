"""JSON that a template writes as text, with values in it that deployment alone can tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hyperpod_policy.values import Text, Unresolved, concatenated

CFN_JSON: Final = "Custom::AWSCDKCfnJson"
"""The CDK's custom resource that reads JSON at deployment, for keys that the template cannot tell."""

_POLICIES: Final = ("AssumeRolePolicyDocument", "PolicyDocument", "KeyPolicy")
_INLINE: Final = "Policies"

_MOST_BRACKETS: Final = 5_000
"""No policy has as many, and a decoder gives up on deep ones."""


def written_json(text: Any) -> Any:
    """Return what JSON text decodes to, unresolved parts put back where they stand.

    A key that holds an unresolved value is written with its text, such as ``<Issuer>:aud``.

    Args:
        text: A string, or a `Text` of literal and unresolved parts.

    Returns:
        ``None`` if that is no JSON whatever the unresolved parts turn out to be.
    """
    parts = text.parts if isinstance(text, Text) else (text,)
    marks: dict[str, Unresolved] = {}
    written = ""
    for number, part in enumerate(parts):
        if isinstance(part, Unresolved):
            mark = f"<<{number}>>"
            marks[mark] = part
            written += mark
        else:
            written += str(part)
    if written.count("[") + written.count("{") > _MOST_BRACKETS:
        return None
    try:
        return _restored(json.loads(written), marks)
    except (ValueError, RecursionError):
        return None


def with_policies_read(properties: dict[str, Any]) -> dict[str, Any]:
    """Return a resource's properties with the policies decoded that are written as text.

    CloudFormation takes them so as well, and only text can hold an issuer in the key of a condition.

    Args:
        properties: As resolved.
    """
    written = {name: properties[name] for name in _POLICIES if isinstance(properties.get(name), str | Text)}
    inline = properties.get(_INLINE)
    if not written and not isinstance(inline, list):
        return properties
    found = {**properties}
    for name, text in written.items():
        document = written_json(text)
        if isinstance(document, dict):
            found[name] = document
    if isinstance(inline, list):
        found[_INLINE] = [with_policies_read(item) if isinstance(item, dict) else item for item in inline]
    return found


def _restored(value: Any, marks: Mapping[str, Unresolved]) -> Any:
    """Put unresolved values back into what was decoded."""
    if isinstance(value, dict):
        return {str(_restored(key, marks)): _restored(item, marks) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item, marks) for item in value]
    if not isinstance(value, str):
        return value
    parts: list[Any] = [value]
    for mark, unresolved in marks.items():
        for position in range(len(parts) - 1, -1, -1):
            if isinstance(parts[position], str) and mark in parts[position]:
                before, _, after = parts[position].partition(mark)
                parts[position : position + 1] = [before, unresolved, after]
    return concatenated(parts)
