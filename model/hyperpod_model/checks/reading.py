"""Tolerant reading of a request whose values may be missing, of another type, or known only at deployment.

The shape of a request is judged once, in ``hyperpod_model.checks.shape``. Every other check reads with
these functions and sees only what is known and well formed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, Unknown


def is_unknown(value: Any) -> bool:
    """Tell whether a value exists only at deployment."""
    return isinstance(value, Unknown)


def at(value: Any, *names: str) -> Any:
    """Follow member names; ``None`` where one is absent, ``UNKNOWN`` where it exists only at deployment."""
    for name in names:
        if is_unknown(value):
            return UNKNOWN
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def absent(value: Any, *names: str) -> bool:
    """Tell whether a member is certainly not given."""
    return at(value, *names) is None


def given(value: Any, *names: str) -> bool:
    """Tell whether a member is certainly given with a known value."""
    found = at(value, *names)
    return found is not None and not is_unknown(found)


def text(value: Any, *names: str) -> str | None:
    """Return a known string, else ``None``."""
    found = at(value, *names)
    return found if isinstance(found, str) else None


def number(value: Any, *names: str) -> int | None:
    """Return a known whole number, else ``None``."""
    found = at(value, *names)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def items(value: Any, *names: str) -> Sequence[Any]:
    """Return the items of a known list, else an empty one."""
    found = at(value, *names)
    return found if isinstance(found, (list, tuple)) else ()


def structures(value: Any, *names: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each known structure of a list with its index."""
    for index, item in enumerate(items(value, *names)):
        if isinstance(item, Mapping):
            yield index, item


def below(path: FaultPath, faults: Sequence[Fault]) -> list[Fault]:
    """Move faults below a path."""
    return [fault._replace(path=(*path, *fault.path)) for fault in faults]


def quoted(values: Iterable[str]) -> str:
    """Write values as ``'a', 'b'``."""
    return ", ".join(repr(value) for value in values)
