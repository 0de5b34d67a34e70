"""OpenAPI schemas as an API server applies them, which is more than JSON Schema says.

Against a plain JSON Schema check, this refuses members that a schema does not list, numbers out of the range
of their format and items of a list that have the same key; and it takes null as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry

Schema = Mapping[str, Any]
Keyword = Callable[[Any, Any, Any, Schema], Iterator[ValidationError]]

_RANGES = {"int32": 2**31, "int64": 2**63}
_ANY_MEMBER = ("additionalProperties", "patternProperties", "x-kubernetes-preserve-unknown-fields")


def faults(value: Any, schema: Schema, *, registry: Registry[Any] | None = None) -> list[str]:
    """Return what a server would refuse in a value, as ``path: message``.

    Args:
        value: The value; nulls that the server drops must be pruned.
        schema: Its schema.
        registry: What the schema refers to. Default nothing.
    """
    found = _validator()(schema, registry=Registry() if registry is None else registry).iter_errors(value)
    return [f"{'.'.join(map(str, error.absolute_path))}: {_innermost(error)}" for error in found]


def without_nulls(value: Any) -> Any:
    """Return a value without members that are null, which a server drops where null is not a value.

    Items of lists stay: the server refuses them.

    Args:
        value: The value. No kind that we render has a member that may be null.
    """
    if isinstance(value, dict):
        return {key: without_nulls(held) for key, held in value.items() if held is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _innermost(error: ValidationError) -> str:
    # "is not valid under any of the given schemas" alone says nothing about what is wrong.
    causes = [cause.message for cause in error.context or ()]
    return error.message[:300] if not causes else f"{error.message[:300]} ({'; '.join(causes)[:300]})"


@cache
def _validator() -> Any:
    keywords: dict[str, Keyword] = {
        "properties": _properties,
        "format": _format,
        "x-kubernetes-list-type": _list_type,
    }
    return extend(Draft202012Validator, keywords)


def _properties(validator: Any, said: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
    yield from Draft202012Validator.VALIDATORS["properties"](validator, said, value, schema)
    if isinstance(value, dict) and not any(keyword in schema for keyword in _ANY_MEMBER):
        for name in value:
            if name not in said:
                yield ValidationError(f"unknown field {name!r}")


def _format(validator: Any, said: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
    del validator, schema
    end = _RANGES.get(said)
    if end is not None and isinstance(value, int) and not -end <= value < end:
        yield ValidationError(f"{value} is out of the range of {said}")


def _list_type(validator: Any, said: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
    del validator
    if not isinstance(value, list) or said not in ("map", "set"):
        return
    keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
    seen: list[Any] = []
    for item in value:
        if said == "map" and not isinstance(item, dict):
            continue  # its type is at fault, and said so
        key = item if said == "set" else {name: item.get(name, _default(schema, name)) for name in keys}
        if key in seen:
            yield ValidationError(f"duplicate item {key!r}")
        seen.append(key)


def _default(schema: Schema, name: str) -> Any:
    members = schema.get("items", {}).get("properties", {})
    # Schemas of Kubernetes before 1.34 leave out the one default among keys of lists.
    return members.get(name, {}).get("default", "TCP" if name == "protocol" else None)
