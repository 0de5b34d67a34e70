from __future__ import annotations

import json
import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperpod_lifecycle.training import LoopState
from hyperpod_lifecycle.training.plain_values import from_json, to_json

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.sampled_from(["$tuple", "$float"]), inner)
        | st.dictionaries(st.integers() | st.tuples(st.integers()), inner)
    ),
    max_leaves=20,
)


def typed(value: Any) -> Any:
    """So that 1, 1.0 and True, which are equal, are told apart."""
    if isinstance(value, dict):
        return (type(value), [(typed(key), typed(item)) for key, item in value.items()])
    if isinstance(value, list | tuple):
        return (type(value), [typed(item) for item in value])
    return (type(value), value)


class Part:
    def __init__(self, value: Any = None) -> None:
        self.value = value

    def state_dict(self) -> dict[str, Any]:
        return {"value": self.value}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        self.value = state_dict["value"]


class TestPlainValues:
    @given(PLAIN)
    def test_what_was_written_is_read(self, value: Any):
        text = json.dumps(to_json(value), allow_nan=False)
        assert typed(from_json(json.loads(text))) == typed(value)

    def test_numbers_that_are_none_are_read_as_such(self):
        assert math.isnan(from_json(to_json(math.nan)))
        assert from_json(to_json(-math.inf)) == -math.inf
        assert from_json(to_json(Counter({30: 1}))) == Counter({30: 1})
        assert type(from_json(to_json(Counter({30: 1})))) is Counter

    def test_another_type_is_refused_with_its_place(self):
        with pytest.raises(
            TypeError, match=r"state\['a'\]\[1\] must be made of .*, got complex; put tensors in"
        ):
            to_json({"a": [0, 1j]}, what="state")

    def test_a_subclass_is_no_plain_value(self):
        class Sly(int):
            pass

        with pytest.raises(TypeError, match="got Sly"):
            to_json(Sly(3))

    def test_a_tag_beside_others_is_refused(self):
        with pytest.raises(ValueError, match=r"\$tuple must stand alone, got \$tuple, a"):
            from_json({"$tuple": [], "a": 1})


class TestLoopState:
    def test_a_rank_goes_on_where_it_was(self):
        loop = LoopState(parts={"schedule": Part(0.1)}, rank_parts={"buffer": Part([1])})
        loop.next_step = 7
        random.seed(4)
        shared, own = json.loads(json.dumps(loop.shared())), loop.of_rank()
        drawn = [random.random() for _ in range(3)]
        schedule, buffer = Part(), Part()
        again = LoopState(parts={"schedule": schedule}, rank_parts={"buffer": buffer})
        random.seed(99)
        assert again.load(shared, own) == ()
        assert (again.next_step, schedule.value, buffer.value) == (7, 0.1, [1])
        assert [random.random() for _ in range(3)] == drawn

    def test_what_is_drawn_before_the_first_step_does_not_count(self):
        loop = LoopState()
        random.seed(4)
        shared, own = loop.shared(), loop.of_rank()
        drawn = [random.random() for _ in range(3)]
        again = LoopState()
        again.load(shared, own)
        random.random()  # as an iterator of a DataLoader does
        again.restore_random()
        assert [random.random() for _ in range(3)] == drawn
        again.restore_random()
        assert random.random() not in drawn, "once only: a later call must not repeat numbers"

    def test_without_a_checkpoint_random_numbers_go_on(self):
        before = random.getstate()
        LoopState().restore_random()
        assert random.getstate() == before

    def test_without_a_file_of_this_rank_it_says_what_is_missing(self):
        loop = LoopState(parts={"schedule": Part(1)}, rank_parts={"buffer": Part([1])})
        schedule = Part()
        again = LoopState(parts={"schedule": schedule}, rank_parts={"buffer": Part()})
        assert again.load(loop.shared(), None) == ("random", "buffer")
        assert schedule.value == 1

    def test_random_numbers_can_be_left_out(self):
        loop = LoopState(keep_random=False)
        before = random.getstate()
        assert b"random" not in loop.of_rank()
        assert LoopState(keep_random=False).load(loop.shared(), loop.of_rank()) == ()
        assert random.getstate() == before
        assert LoopState().load(loop.shared(), loop.of_rank()) == ("random",)

    def test_a_part_that_was_not_saved_is_refused(self):
        saved = LoopState(parts={"a": Part(1)}).shared()
        with pytest.raises(ValueError, match="has no state of b, only of a; name parts as they were"):
            LoopState(parts={"a": Part(), "b": Part()}).load(saved, None)

    def test_a_part_more_in_the_checkpoint_is_no_fault(self):
        saved = LoopState(parts={"a": Part(1), "b": Part(2)}).shared()
        part = Part()
        LoopState(parts={"a": part}).load(saved, None)
        assert part.value == 1

    def test_another_version_is_refused(self):
        with pytest.raises(
            ValueError, match="has version 2, and this library reads 1; resume with the library"
        ):
            LoopState().load(LoopState().shared() | {"version": 2}, None)

    def test_a_part_with_a_tensor_is_refused_before_anything_is_saved(self):
        with pytest.raises(TypeError, match=r"the state of scaler\['value'\] must be made of"):
            LoopState(parts={"scaler": Part(object())}).shared()
