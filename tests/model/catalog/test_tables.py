"""Every data file of the catalog states where it is from, and none says a thing twice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hyperpod_model.catalog
from hyperpod_model.catalog._tables import fact, table

DATA = Path(hyperpod_model.catalog.__file__).parent / "data"
FILES = sorted(DATA.glob("*.json"))
DATE = re.compile(r"20\d\d-\d\d(-\d\d)?")


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"said twice: {sorted(twice)}")
    return dict(pairs)


def walk(value: Any) -> Any:
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(part)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_table_has_source_and_date_and_no_duplicate_names(path: Path):
    content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique)
    assert content["source"].strip()
    assert DATE.fullmatch(content["checked_on"])
    assert content.keys() - {"source", "checked_on", "note"}, "no data"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_doubts_and_claims_are_complete(path: Path):
    for part in walk(json.loads(path.read_text(encoding="utf-8"))):
        if not isinstance(part, dict):
            continue
        if "doubt" in part:
            assert part["doubt"].strip()
            assert "value" in part
        for claim in part["claims"] if isinstance(part.get("claims"), list) else ():
            assert claim.keys() == {"value", "source", "checked_on"}
            assert DATE.fullmatch(claim["checked_on"])


def test_duplicate_names_are_noticed():
    with pytest.raises(ValueError, match="said twice: \\['a'\\]"):
        json.loads('{"a": 1, "a": 2}', object_pairs_hook=unique)


def test_a_table_is_read_once():
    assert table("ports") is table("ports")


def test_a_missing_table_is_an_error():
    with pytest.raises(FileNotFoundError):
        table("no_such_table")


def test_an_entry_inherits_source_and_date_unless_it_has_its_own():
    owner = {"source": "s", "checked_on": "2026-11"}
    plain = fact("f", [1, [2]], owner)
    assert (plain.value, plain.source, plain.checked_on) == ((1, (2,)), "s", "2026-11")
    own = fact("f", {"value": 1, "source": "t", "checked_on": "2026-12", "doubt": "d"}, owner)
    assert (own.source, own.checked_on, own.doubt) == ("t", "2026-12", "d")
