"""Event patterns of EventBridge, and whether they accept an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.faults import Unknown
from hyperpod_policy.template import Resource
from hyperpod_policy.values import Text, Unresolved, elements, same
from hyperpod_policy.written_json import written_json


def event_pattern(rule: Resource) -> Any:
    """Return the pattern of an event rule, also where it is written as JSON text.

    Args:
        rule: A rule of EventBridge.

    Returns:
        ``None`` if there is none, or if the text is no JSON.
    """
    pattern = rule.get("EventPattern")
    return written_json(pattern) if isinstance(pattern, str | Text) else pattern


def accepts(pattern: Mapping[str, Any], member: str, value: Any) -> bool | None:
    """Tell whether a pattern accepts a value in a field of events; any value in a field it does not name.

    Args:
        pattern: A pattern, or the part of it for the fields below one.
        member: Name of the field.
        value: What an event has there: a mapping of the fields below, a value, or ``UNKNOWN``.

    Returns:
        ``None`` if only deployment or the event can tell.
    """
    if member not in pattern:
        return True
    asked = pattern[member]
    if isinstance(value, Unknown) or isinstance(asked, Unresolved):
        return None if not isinstance(value, Unknown) else True
    if isinstance(value, Mapping):
        return _accepts_below(asked, value)
    listed, complete = elements(asked)
    answers = {_matches(item, value) for item in listed}
    if True in answers:
        return True
    return None if None in answers or not complete else False


def _accepts_below(asked: Any, told: Mapping[str, Any]) -> bool | None:
    """Whether a pattern for the fields below one accepts them."""
    if not isinstance(asked, Mapping):
        return False
    answers = {_accepts_field(name, inner, asked, told) for name, inner in asked.items()}
    return False if False in answers else (None if None in answers else True)


def _accepts_field(name: str, inner: Any, asked: Mapping[str, Any], told: Mapping[str, Any]) -> bool | None:
    if name in told:
        return accepts(asked, name, told[name])
    # A field that stands further below is misplaced; one that nobody lists may be there all the same.
    misplaced = any(isinstance(below, Mapping) and name in below for below in told.values())
    return _takes_absence(inner) if misplaced else None


def _takes_absence(asked: Any) -> bool | None:
    """Whether a pattern accepts events without a field."""
    if isinstance(asked, Mapping):
        answers = {_takes_absence(inner) for inner in asked.values()}
        return False if False in answers else (None if None in answers else True)
    listed, complete = elements(asked)
    answers = {
        None if isinstance(one, Unresolved) else isinstance(one, Mapping) and one.get("exists") is False
        for one in listed
    }
    if True in answers:
        return True
    return None if None in answers or not complete else False


def _matches(item: Any, value: Any) -> bool | None:
    """Whether one of the alternatives of a pattern accepts a value; of most operators this is not told."""
    if not isinstance(item, Mapping):
        return same(item, value)
    prefix, others = item.get("prefix"), item.get("anything-but")
    if isinstance(prefix, str) and isinstance(value, str):
        return value.startswith(prefix)
    if item.get("exists") in (True, False):
        return bool(item["exists"])
    unlike = others if isinstance(others, list) else [others]
    if isinstance(value, str) and others is not None and all(isinstance(one, str) for one in unlike):
        return value not in unlike
    folded = item.get("equals-ignore-case")
    if isinstance(folded, str) and isinstance(value, str):
        return value.lower() == folded.lower()
    return None
