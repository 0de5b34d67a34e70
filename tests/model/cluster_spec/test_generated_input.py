"""Whatever a file holds, it is a cluster or it is refused in words."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from every_property import REQUESTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.faults import InvalidInputError

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
BASES = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted(EXAMPLES.iterdir())
    if path.suffix in (".yaml", ".json")
} | REQUESTS

Place = tuple[str | int, ...]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        ["sg-0123456789abcdef0", "Continuous", "s3://a-bucket/b", "ml.m5.large", "10.0.0.0/8", "api"]
    ),
)
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.text(max_size=5), SCALARS, max_size=2)
)
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, member in entries:
        yield (*at, step)
        yield from places(member, (*at, step))


def put(value: Any, place: Place, new: Any, *, remove: bool) -> None:
    for step in place[:-1]:
        value = value[step]
    if remove:
        del value[place[-1]]
    else:
        value[place[-1]] = new


def attempt(text: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.yaml"
        file.write_text(text, encoding="utf-8")
        try:
            load_cluster(file, region=None, availability_zone_id=None)
        except InvalidInputError as error:
            return str(error)
    return None


@pytest.mark.parametrize("name", BASES)
@SETTINGS
@given(data=st.data())
def test_a_changed_example_is_read_or_refused_in_words(name: str, data: st.DataObject) -> None:
    cluster = copy.deepcopy(BASES[name])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(sorted(places(cluster), key=str)))
        put(cluster, place, data.draw(VALUES), remove=data.draw(st.booleans()))
        if not cluster:
            break
    refusal = attempt(json.dumps(cluster))
    if refusal is not None:
        assert "<known after deploy>" not in refusal
        assert "Unknown" not in refusal
        assert refusal.strip()


@SETTINGS
@given(st.text(max_size=60))
def test_any_text_is_refused_in_words(text: str) -> None:
    refusal = attempt(text.encode("utf-8", "ignore").decode("utf-8"))
    assert refusal is not None
    assert refusal.strip()


@pytest.mark.parametrize("name", [name for name in BASES if name.endswith(".yaml")])
def test_a_specification_survives_being_written(name: str) -> None:
    spec = load_cluster(EXAMPLES / name).spec
    again = ClusterSpec.model_validate(json.loads(spec.model_dump_json(exclude_unset=True)))
    assert again == spec
    assert again.to_request() == spec.to_request()
