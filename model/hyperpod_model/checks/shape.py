"""Types, required members, patterns, lengths, ranges and legal values, as the service's model has them."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any

from hyperpod_model.catalog.cluster_request import RequestField
from hyperpod_model.checks.reading import is_unknown, quoted
from hyperpod_model.faults import Fault, FaultPath

_TYPE_WORDS = {
    "structure": "a mapping",
    "map": "a mapping",
    "list": "a list",
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
}
_UNICODE_CLASSES = re.compile(r"\\p\{(\w)\}")
_CHARACTER_CLASS = re.compile(r"\(?\[(?P<members>.*)\]\*\)?", re.DOTALL)


def check_shape(value: Any, field: RequestField, path: FaultPath = ()) -> list[Fault]:
    """Check a value against the model of its field.

    Instance types are not judged here: the catalog of types may be older than the service (see
    ``hyperpod_model.checks.instance_types``).

    Args:
        value: Value in API terms; whatever is ``UNKNOWN`` passes. ``None`` counts as absent.
        field: What the model says.
        path: Where the value stands.
    """
    if is_unknown(value) or value is None:
        return []
    if not _has_type(value, field.type):
        return [Fault(path, f"must be {_TYPE_WORDS[field.type]}, got {_shown(value)}")]
    if field.type == "structure":
        return _check_structure(value, field, path)
    if field.type == "list":
        return _check_list(value, field, path)
    if field.type == "map":
        return _check_map(value, field, path)
    if field.type == "string":
        return _check_string(value, field, path)
    if field.type == "integer":
        return _check_range(value, field, path)
    return []


def _has_type(value: Any, type_name: str) -> bool:
    if type_name in ("structure", "map"):
        return isinstance(value, Mapping)
    if type_name == "list":
        return isinstance(value, (list, tuple))
    if type_name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if type_name == "boolean":
        return isinstance(value, bool)
    return isinstance(value, str)


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "a list"
    return "a mapping" if isinstance(value, Mapping) else repr(value)


def _check_structure(value: Mapping[str, Any], field: RequestField, path: FaultPath) -> list[Fault]:
    faults = []
    for name, member in value.items():
        if name not in field.members:
            faults.append(_unknown_member(name, field, path))
        elif field.members[name].api_only and member is not None:
            faults.append(
                Fault(
                    (*path, name),
                    "is known to the API only, not to CloudFormation; set it with the API, or leave it out",
                )
            )
        elif _is_empty_option(member, name, field):
            faults.append(Fault((*path, name), "must not be empty; leave it out instead"))
        else:
            faults += check_shape(member, field.members[name], (*path, name))
    faults += [Fault((*path, name), "is required") for name in field.required if value.get(name) is None]
    return faults


def _is_empty_option(member: Any, name: str, field: RequestField) -> bool:
    least = field.members[name].min
    return member in ("", [], ()) and name not in field.required and least is not None and least > 0


def _unknown_member(name: Any, field: RequestField, path: FaultPath) -> Fault:
    close = difflib.get_close_matches(str(name), field.members, n=1, cutoff=0.8)
    if close:
        return Fault((*path, name), f"is no field of the service; did you mean {close[0]!r}")
    return Fault(
        (*path, name),
        f"is no field that this version knows; known here: {', '.join(sorted(field.members))}",
        severity="warning",
    )


def _check_list(value: list[Any], field: RequestField, path: FaultPath) -> list[Fault]:
    faults = _check_length(len(value), "item", field, path)
    if field.item is not None:
        for index, item in enumerate(value):
            if item is None:
                faults.append(Fault((*path, index), "is nothing; give a value, or leave the item out"))
            faults += check_shape(item, field.item, (*path, index))
    return faults


def _check_map(value: Mapping[str, Any], field: RequestField, path: FaultPath) -> list[Fault]:
    faults = _check_length(len(value), "entry", field, path)
    for key, item in value.items():
        if field.key is not None:
            faults += check_shape(key, field.key, (*path, str(key)))
        if field.item is not None:
            faults += check_shape(item, field.item, (*path, str(key)))
    return faults


def _check_string(value: str, field: RequestField, path: FaultPath) -> list[Fault]:
    if field.enum and value not in field.enum:
        allowed = field.cloudformation_enum if field.cloudformation_enum else field.enum
        close = difflib.get_close_matches(value, allowed, n=1)
        hint = f"; did you mean {close[0]!r}" if close else ""
        return [Fault(path, f"must be one of {quoted(allowed)}, got {value!r}{hint}")]
    if field.cloudformation_enum and value not in field.cloudformation_enum:
        choices = quoted(field.cloudformation_enum)
        return [
            Fault(
                path,
                f"{value!r} is known to the API only; CloudFormation allows {choices}; "
                "request it with the API, or leave it out",
            )
        ]
    faults = _check_length(len(value), "character", field, path)
    is_too_long = field.max is not None and len(value) > field.max
    for pattern in (field.pattern, field.cloudformation_pattern):
        # A text that is too short says more by its form than by its length; a long one may lack nothing else.
        if pattern is not None and not matches(pattern, value) and not is_too_long:
            form = f"of the form {pattern}" if field.in_words is None else field.in_words
            return [Fault(path, f"must be {form}, got {value!r}")]
    return faults


def _check_length(length: int, unit: str, field: RequestField, path: FaultPath) -> list[Fault]:
    if (field.min is None or length >= field.min) and (field.max is None or length <= field.max):
        return []
    plural = {"entry": "entries"}.get(unit, f"{unit}s")
    return [Fault(path, f"must have {_bounds(field)} {plural}, got {length}")]


def _check_range(value: int, field: RequestField, path: FaultPath) -> list[Fault]:
    if (field.min is None or value >= field.min) and (field.max is None or value <= field.max):
        return []
    return [Fault(path, f"must be {_bounds(field)}, got {value}")]


def _bounds(field: RequestField) -> str:
    if field.max is None:
        return f"at least {field.min}"
    return f"{field.min} to {field.max}"


def matches(pattern: str, value: str) -> bool:
    """Tell whether a whole string matches a pattern of the service's model."""
    if _UNICODE_CLASSES.search(pattern):
        return _matches_unicode_classes(pattern, value)
    return _compiled(pattern).fullmatch(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _matches_unicode_classes(pattern: str, value: str) -> bool:
    # The standard library has no \p{..}: every such pattern of the model is one repeated character class.
    found = _CHARACTER_CLASS.fullmatch(pattern)
    if found is None:
        raise ValueError(f"cannot read the pattern {pattern!r}: expected one repeated character class")
    members = found["members"]
    categories = set(_UNICODE_CLASSES.findall(members))
    literal = re.compile(f"[{_UNICODE_CLASSES.sub('', members)}]")
    return all(unicodedata.category(c)[0] in categories or literal.fullmatch(c) for c in value)
