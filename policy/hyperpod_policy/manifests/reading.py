"""Values of manifests, read without trust in their shape: what has another shape counts as absent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\$\{[\w:.]+\}|\$[A-Za-z_]\w*|\{\{.*?\}\}")
_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,2})?", re.ASCII
)
_MAX_DIGITS: Final = 60
_BINARY: Final = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL: Final = {
    suffix: Fraction(10) ** power
    for suffix, power in {
        "n": -9,
        "u": -6,
        "m": -3,
        "k": 3,
        "M": 6,
        "G": 9,
        "T": 12,
        "P": 15,
        "E": 18,
    }.items()
}

GIB: Final = 1024**3


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the mappings in a list, each with its position."""
    if isinstance(value, list):
        yield from ((position, item) for position, item in enumerate(value) if isinstance(item, Mapping))


def texts(value: Any) -> tuple[str, ...]:
    """Return the text in a list; numbers are written out, as no shell tells them apart."""
    if not isinstance(value, list):
        return ()
    return tuple(str(item) for item in value if isinstance(item, str | int | float))


def integer(value: Any) -> int | None:
    """Return a whole number, also where it is written as text; ``None`` for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value, re.ASCII):
        return int(value)
    return None


def quantity(value: Any) -> Fraction | None:
    """Return what a Kubernetes quantity such as ``512Gi`` or ``500m`` is worth; ``None`` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value)
    found = _QUANTITY.fullmatch(text)
    if found is None or len(text) > _MAX_DIGITS:
        return None
    number, suffix = Fraction(found["number"]), found["suffix"]
    if suffix is None:
        return number
    if suffix in _BINARY:
        return Fraction(number * _BINARY[suffix])
    if suffix in _DECIMAL:
        return Fraction(number * _DECIMAL[suffix])
    return Fraction(number * Fraction(10) ** int(suffix[1:]))


def is_deferred(value: Any) -> bool:
    """Tell whether a value is filled in before the manifest is applied, such as ``${NODES}``.

    Counted are variables for ``envsubst``, expressions of a template engine in quotes, and intrinsic
    functions of CloudFormation.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.search(value) is not None
    if isinstance(value, Mapping) and len(value) == 1:
        key = next(iter(value))
        return isinstance(key, str) and (key == "Ref" or key.startswith("Fn::"))
    return False


def scalar(value: Any) -> Any:
    """Return a value that can be looked up: what is no scalar as text, still deferred if it was."""
    if value is None or isinstance(value, str | int | float):
        return value
    return f"${{{next(iter(value))}}}" if is_deferred(value) else shown(value)


def shown(value: Any) -> str:
    """Write a value for a reader, shortened."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def listed(values: Sequence[Any]) -> str:
    """Write values with commas between them."""
    return ", ".join(map(str, values))
