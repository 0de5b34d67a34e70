"""JSON that a template writes as text, with values in it that deployment alone can tell."""

from __future__ import annotations

import json
from typing import Any, Final

from hyperpod_policy.values import Text
from hyperpod_policy.written_marks import marked, restored

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
    written, marks = marked(text)
    if written.count("[") + written.count("{") > _MOST_BRACKETS:
        return None
    try:
        return restored(json.loads(written), marks)
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
