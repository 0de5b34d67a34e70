"""Wrong fields, in words: pydantic's findings as faults with the line, the allowed values and the way out."""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, InvalidInputError
from hyperpod_model.spec_files.spec_model import SpecModel
from hyperpod_model.spec_files.yaml_document import YamlDocument

_KEY = "[key]"
_SHOWN_CHARACTERS = 60
_BOOLEANS = ("true", "false", "yes", "no", "on", "off")
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
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
    meant = _meant_fields(error, model, document.data)
    for found in error.errors(include_url=False):
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, InvalidInputError):
            faults += cause.faults
        elif found["type"] == "missing" and found["loc"] in meant.values():
            continue  # the suggestion for a misspelt field says so
        elif _KEY not in found["loc"]:  # the document has said that a key is no text
            faults.append(_fault(found, model, document, meant))
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
    faulty = {tuple(found["loc"]) for found in error.errors(include_url=False)}
    return _build(model, data, faulty | set(_meant_fields(error, model, data).values()), ())


def _meant_fields(error: ValidationError, model: type[BaseModel], data: Any) -> dict[FaultPath, FaultPath]:
    """Paths of unknown fields, and the paths of the fields that were probably meant."""
    meant: dict[FaultPath, FaultPath] = {}
    for found in error.errors(include_url=False):
        path: FaultPath = tuple(found["loc"])
        if found["type"] != "extra_forbidden" or _KEY in path:
            continue
        above = data
        for step in path[:-1]:
            above = above[step]
        holder = _model_at(model, path[:-1])
        fields = holder.model_fields
        elsewhere = holder.names_elsewhere if issubclass(holder, SpecModel) else {}
        missing = [name for name in fields if name not in above and (*path[:-1], name) not in meant.values()]
        required = [name for name in missing if _is_expected(fields[name])]
        close = _close_field(str(path[-1]), missing, required, elsewhere)
        if close is not None:
            meant[path] = (*path[:-1], close)
    return meant


def _is_expected(field: FieldInfo) -> bool:
    """Whether a field is required, be it that another one can stand for it."""
    return field.is_required() or "Required unless" in str(field.description)


def _close_field(
    name: str, missing: list[str], required: list[str], elsewhere: Mapping[str, str | None]
) -> str | None:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    if snake in elsewhere:
        known = elsewhere[snake]
        return known if known in missing else None
    for candidates in (required, missing):
        if snake in candidates:
            return snake
        parts = [candidate for candidate in candidates if snake in candidate.split("_")]
        if len(parts) == 1:
            return parts[0]
    return next(iter(difflib.get_close_matches(snake, missing, n=1, cutoff=0.6)), None)


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


def _fault(
    found: ErrorDetails, model: type[BaseModel], document: YamlDocument, meant: Mapping[FaultPath, FaultPath]
) -> Fault:
    path: FaultPath = tuple(found["loc"])
    kind, value = found["type"], found["input"]
    if kind == "extra_forbidden":
        message = _unknown_field(meant.get(path), list(_model_at(model, path[:-1]).model_fields))
    elif kind == "missing":
        description = _model_at(model, path[:-1]).model_fields[str(path[-1])].description
        message = (
            "is required, and missing"
            if description is None
            else f"is required: {_first_sentence(description)}"
        )
    elif kind == "literal_error":
        message = _choice(value, found["ctx"]["expected"], nullable=_is_nullable(_field_at(model, path)))
    elif kind in _WANTED:
        way_out = _way_out(kind, value, document.written(path), model, path)
        message = f"must be {_WANTED[kind]}, got {_shown(value)}{way_out}"
    elif kind == "greater_than_equal":
        message = f"must be at least {found['ctx']['ge']}, got {_shown(value)}"
    else:
        message = found["msg"][:1].lower() + found["msg"][1:].removesuffix(".")
    return Fault(path, message)


def _unknown_field(meant: FaultPath | None, known: list[str]) -> str:
    if meant is not None:
        return f"is no field here; did you mean {meant[-1]!r}"
    return f"is no field here; fields are {', '.join(known)}"


def _model_at(model: type[BaseModel], path: FaultPath) -> type[BaseModel]:
    for step in path:
        if isinstance(step, str):
            model = _models(model.model_fields[step].annotation)[0]
    return model


def _field_at(model: type[BaseModel], path: FaultPath) -> FieldInfo | None:
    """Field at a path, None for an item of a list or of a mapping."""
    current: type[BaseModel] | None = model
    field: FieldInfo | None = None
    for step in path:
        field = None
        if isinstance(step, str):
            field = None if current is None else current.model_fields[step]
            current = None if field is None else next(iter(_models(field.annotation)), None)
    return field


def _is_nullable(field: FieldInfo | None) -> bool:
    return field is not None and type(None) in get_args(field.annotation)


def _first_sentence(text: str) -> str:
    sentence = re.split(r"\.(?: (?=[A-Z])|$)", text, maxsplit=1)[0]
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _choice(value: Any, expected: str, *, nullable: bool) -> str:
    as_written = expected.replace(" or ", ", ")
    allowed = [part.strip("'") for part in as_written.split(", ")]
    message = f"must be one of {as_written}, got {_shown(value)}"
    by_case = {choice.lower(): choice for choice in allowed}
    close = difflib.get_close_matches(value.lower(), by_case, n=1) if isinstance(value, str) else []
    if close:
        return f"{message}; did you mean {by_case[close[0]]!r}"
    if value is None and "None" in allowed:
        return f"{message}; write None, which is text in YAML"
    return f"{message}; or null" if nullable else message


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


def _way_out(kind: str, value: Any, written: str | None, model: type[BaseModel], path: FaultPath) -> str:
    field = _field_at(model, path)
    if value is None:
        is_required = field is not None and field.is_required()
        return "; give a value" if is_required else "; give a value, or leave the field out"
    if kind == "string_type" and not isinstance(value, (list, Mapping)):
        as_written = f": write '{written}'" if written is not None else ""
        reason = ", since YAML reads on, off, yes and no as booleans" if isinstance(value, bool) else ""
        return f"; put it in quotes{reason}{as_written}"
    if kind in ("int_type", "float_type") and isinstance(value, str):
        return _digits(value)
    if kind == "bool_type" and isinstance(value, str) and value.lower() in _BOOLEANS:
        return "; write it without quotes"
    if kind == "tuple_type":
        if isinstance(value, Mapping):
            return "; begin each item with '- '"
        return "; write it in brackets, or as lines that begin with '- '"
    if kind == "dict_type":
        return "; write each as key: value"
    if kind.startswith("model"):
        fields = ", ".join(_model_at(model, path).model_fields)
        expects = any(map(_is_expected, _model_at(model, path).model_fields.values()))
        or_defaults = "; or {} for its defaults" if value is True and not expects else ""
        or_null = "; or null for none" if _is_nullable(field) else ""
        return f"; write its fields below it: {fields}{or_defaults}{or_null}"
    return ""


def _digits(value: str) -> str:
    if re.fullmatch(r"[+-]?\d+", value):
        return "; write it without quotes"
    return "; write it in digits alone" if any(map(str.isdigit, value)) else "; write it in digits"
