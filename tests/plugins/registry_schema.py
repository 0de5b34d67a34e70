"""Holds the properties of resources against the schemas of the CloudFormation registry, as cfn-lint has them.

A lint of a whole template takes seconds; this is its validation by schema alone. Intrinsic functions pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import regex
from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from hyperpod_model.catalog.resource_types import NOT_LISTED

DEFAULT_REGION = "us-east-1"


def registry_violations(
    template: Mapping[str, Any], *, region: str | None, kinds: tuple[str, ...] | None = None
) -> list[str]:
    """Everything in the properties of resources that the registry's schemas refuse.

    Args:
        template: The template.
        region: Region whose schemas count; ``None`` for any.
        kinds: Types of the resources to look at; ``None`` for all of AWS.
    """
    where = DEFAULT_REGION if region is None else region
    return [
        f"{name}.{'.'.join(str(step) for step in error.absolute_path)}: {error.message}"
        for name, resource in template["Resources"].items()
        if (resource["Type"] in kinds if kinds is not None else resource["Type"].startswith("AWS::"))
        for error in _validator(resource["Type"], where).iter_errors(resource.get("Properties", {}))
    ]


@cache
def _validator(kind: str, region: str) -> Any:
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER  # takes a third of a second to import

    # The registry does not list some types everywhere, which constructs warn of; their schema is the same.
    where = DEFAULT_REGION if kind in NOT_LISTED else region
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(where, kind)
    return _LENIENT(schema.schema)


def _is_intrinsic(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::"))


def _unless_intrinsic(keyword: Callable[..., Any]) -> Callable[..., Iterator[ValidationError]]:
    def judge(validator: Validator, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if not _is_intrinsic(value):
            yield from keyword(validator, said, value, schema) or ()

    return judge


def _pattern(_validator: Validator, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    # The registry's patterns are of a dialect that Python's own module lacks parts of.
    if isinstance(value, str) and not regex.search(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


_LENIENT = extend(
    Draft7Validator,
    {
        name: _unless_intrinsic(keyword)
        for name, keyword in {**Draft7Validator.VALIDATORS, "pattern": _pattern}.items()
    },
)
