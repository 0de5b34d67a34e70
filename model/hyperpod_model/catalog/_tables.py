"""Reads the catalog's data files."""

from __future__ import annotations

import json
import pkgutil
from functools import cache
from typing import Any

from hyperpod_model.catalog.fact import Claim, Fact

Table = dict[str, Any]


@cache
def table(name: str) -> Table:
    """Read a table of the catalog once.

    Args:
        name: File name without folder and suffix, such as ``instances``.
    """
    content = pkgutil.get_data(__package__, f"data/{name}.json")
    if content is None:
        raise FileNotFoundError(f"the catalog has no readable table '{name}'")
    decoded: Table = json.loads(content)
    return decoded


def fact(name: str, entry: Any, owner: Table) -> Fact[Any]:
    """Make a fact of a table's entry.

    Args:
        name: What the fact is about.
        entry: Either the value alone, or an object with ``value`` and any of ``doubt``, ``source``,
            ``checked_on`` and ``claims``. Lists become tuples.
        owner: The table: its source and date hold where the entry has none of its own.
    """
    fields: dict[str, Any] = entry if isinstance(entry, dict) and "value" in entry else {"value": entry}
    return Fact(
        name,
        frozen(fields["value"]),
        source=fields["source"] if "source" in fields else owner["source"],
        checked_on=fields["checked_on"] if "checked_on" in fields else owner["checked_on"],
        doubt=fields.get("doubt"),
        claims=[
            Claim(frozen(claim["value"]), claim["source"], claim["checked_on"])
            for claim in fields.get("claims", ())
        ],
    )


def frozen(value: Any) -> Any:
    """Turn lists, at any depth, into tuples."""
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
