"""Text that a manifest can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.faults import Fault, FaultPath

_LOST_IN_YAML: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"  # all but tab and new line
)


def check_text(value: Any, path: FaultPath = ()) -> Iterator[Fault]:
    """Check that no text within a value has characters that YAML forbids, or takes for the end of a line.

    Args:
        value: The value, such as a job.
        path: Where it is. By default it is the whole.
    """
    if isinstance(value, Mapping):
        for name, member in value.items():
            key = _LOST_IN_YAML.search(name) if isinstance(name, str) else None
            if key is not None:
                yield Fault(path, f"must have no control characters in its names, got {name!r}")
            else:
                yield from check_text(member, (*path, name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from check_text(item, (*path, index))
    elif isinstance(value, str):
        found = _LOST_IN_YAML.search(value)
        if found is not None:
            yield Fault(path, f"must have no control characters, got {found[0]!r} in {value!r}; take it out")
