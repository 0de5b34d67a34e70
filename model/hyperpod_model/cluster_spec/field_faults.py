"""Wrong fields, in words: pydantic's findings as faults with the line, the allowed values and the way out."""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hyperpod_model.cluster_spec.yaml_document import YamlDocument
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, InvalidInputError

_KEY = "[key]"
_SHOWN_CHARACTERS = 60
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of fields",
    "model_attributes_type": "a mapping of fields",
}


def field_faults(error: ValidationError, model: type[BaseModel], document: YamlDocument) -> list[Fault]:
    """Turn what pydantic found into faults.

    Args:
        error: What pydantic found.
        model: The model that was validated.
        document: The file, for the text as it was written.
    """
    faults: list[Fault] = []
    for found in error.errors(include_url=False):
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, InvalidInputError):
            faults += cause.faults
        elif _KEY not in found["loc"]:  # the document has said that a key is no text
            faults.append(_fault(found, model, document))
    return faults


def has_field_faults(error: ValidationError) -> bool:
    """Whether single fields are wrong, so that the rules on the whole have not been applied.

    Args:
        error: What pydantic found.
    """
    return any("error" not in found.get("ctx", {}) for found in error.errors(include_url=False))


def partial(model: type[BaseModel], data: Any, error: ValidationError) -> Any:
    """Build a model of faulty data, with ``UNKNOWN`` where it is faulty, so that the rest can be judged.

    Args:
        model: Class to build.
        data: What was read.
        error: What pydantic found in it.
    """
    return _build(model, data, {tuple(found["loc"]) for found in error.errors(include_url=False)}, ())


def _build(model: type[BaseModel], data: Any, faulty: set[FaultPath], path: FaultPath) -> Any:
    if path in faulty or not isinstance(data, Mapping):
        return UNKNOWN
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        here = (*path, name)
        if here in faulty:
            values[name] = UNKNOWN
        elif name in data:
            values[name] = _value(field.annotation, data[name], faulty, here)
    # A field that is left out gets its default, as if the data were right.
    return model.model_construct(_fields_set=set(values), **values)


def _value(annotation: Any, value: Any, faulty: set[FaultPath], path: FaultPath) -> Any:
    if path in faulty:
        return UNKNOWN
    model = next(iter(_models(annotation)), None)
    if isinstance(value, list):
        items = [_value(annotation, item, faulty, (*path, index)) for index, item in enumerate(value)]
        return tuple(items)
    if isinstance(value, Mapping):
        if model is not None:
            return _build(model, value, faulty, path)
        return {key: UNKNOWN if (*path, key) in faulty else item for key, item in value.items()}
    return value


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in get_args(annotation) for model in _models(part)]


def _fault(found: ErrorDetails, model: type[BaseModel], document: YamlDocument) -> Fault:
    path: FaultPath = tuple(found["loc"])
    kind, value = found["type"], found["input"]
    if kind == "extra_forbidden":
        message = unknown_field(str(path[-1]), list(_model_at(model, path[:-1]).model_fields))
    elif kind == "missing":
        description = _model_at(model, path[:-1]).model_fields[str(path[-1])].description
        message = (
            "is required, and missing"
            if description is None
            else f"is required: {_first_sentence(description)}"
        )
    elif kind == "literal_error":
        message = _choice(value, found["ctx"]["expected"])
    elif kind in _WANTED:
        message = (
            f"must be {_WANTED[kind]}, got {_shown(value)}{_way_out(kind, value, document.written(path))}"
        )
    elif kind == "greater_than_equal":
        message = f"must be at least {found['ctx']['ge']}, got {_shown(value)}"
    else:
        message = found["msg"][:1].lower() + found["msg"][1:].removesuffix(".")
    return Fault(path, message)


def unknown_field(name: str, known: list[str]) -> str:
    """Say that a field is unknown, and which was probably meant.

    Args:
        name: The name given.
        known: The names that exist here.
    """
    close = difflib.get_close_matches(name.replace("-", "_"), known, n=1, cutoff=0.6)
    if close:
        return f"is no field here; did you mean {close[0]!r}"
    return f"is no field here; fields are {', '.join(known)}"


def _model_at(model: type[BaseModel], path: FaultPath) -> type[BaseModel]:
    for step in path:
        if isinstance(step, str):
            model = _models(model.model_fields[step].annotation)[0]
    return model


def _first_sentence(text: str) -> str:
    sentence = text.partition(". ")[0].removesuffix(".")
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _choice(value: Any, expected: str) -> str:
    allowed = [part.strip("'") for part in expected.replace(" or ", ", ").split(", ")]
    message = f"must be one of {', '.join(repr(choice) for choice in allowed)}, got {_shown(value)}"
    by_case = {choice.lower(): choice for choice in allowed}
    close = difflib.get_close_matches(value.lower(), by_case, n=1) if isinstance(value, str) else []
    if close and len(allowed) > 1:
        return f"{message}; did you mean {by_case[close[0]]!r}"
    return f"{message}; put it in quotes" if isinstance(value, bool) else message


def _shown(value: Any) -> str:
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN_CHARACTERS else f"{value[:_SHOWN_CHARACTERS]!r}..."
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    return f"a {type(value).__name__}"


def _way_out(kind: str, value: Any, written: str | None) -> str:
    if kind == "string_type" and value is not None and not isinstance(value, (list, Mapping)):
        as_written = f": write '{written}'" if written is not None else ""
        reason = ", since YAML reads on, off, yes and no as booleans" if isinstance(value, bool) else ""
        return f"; put it in quotes{reason}{as_written}"
    if kind in ("int_type", "bool_type") and isinstance(value, str):
        return "; write it without quotes"
    if kind == "tuple_type":
        return "; write it in brackets, or as lines that begin with '- '"
    if value is None:
        return "; give a value, or leave the field out"
    return ""
