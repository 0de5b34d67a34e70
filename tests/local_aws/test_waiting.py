"""How types of the double wait for services, and which changes they see."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from botocore.exceptions import ClientError
from read_back.narrowing import as_asked, in_order, own_tags

from aws_double import waiting
from aws_double.property_changes import changed, differs_at, tag_changes
from aws_double.resource import ResourceFailure
from aws_double.waiting import unless_gone, wait_for, wait_until_gone


def error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "none"}}, "Describe")


def looks(*states: str | ClientError) -> Any:
    """What a service says look after look; the last for ever."""
    following = itertools.chain(states, itertools.repeat(states[-1]))

    def look() -> str:
        state = next(following)
        if isinstance(state, ClientError):
            raise state
        return state

    return look


def test_waiting_ends_with_the_state() -> None:
    wait_for(looks("CREATING", "CREATING", "ACTIVE"), done=("ACTIVE",), doing=("CREATING",), what="it")


def test_another_state_is_a_failure() -> None:
    with pytest.raises(ResourceFailure, match="it is FAILED"):
        wait_for(looks("CREATING", "FAILED"), done=("ACTIVE",), doing=("CREATING",), what="it")


def test_waiting_does_not_last_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_LIMIT_SECONDS", 0.1)
    with pytest.raises(ResourceFailure, match="it is still CREATING"):
        wait_for(looks("CREATING"), done=("ACTIVE",), doing=("CREATING",), what="it")


def test_gone_is_what_the_service_does_not_know() -> None:
    wait_until_gone(looks("Deleting", error("NotFound")), errors=("NotFound",), what="it")
    with pytest.raises(ClientError, match="Throttled"):
        wait_until_gone(looks("Deleting", error("Throttled")), errors=("NotFound",), what="it")
    with pytest.raises(ResourceFailure, match="it is FAILED"):
        wait_until_gone(looks("Failed"), errors=("NotFound",), what="it")


def test_what_is_gone_already_needs_no_deletion() -> None:
    assert unless_gone(looks("done"), errors=("NotFound",))
    assert not unless_gone(looks(error("NotFound")), errors=("NotFound",))
    with pytest.raises(ClientError, match="InUse"):
        unless_gone(looks(error("InUse")), errors=("NotFound",))


def test_changes_of_properties() -> None:
    before = {"A": 1, "B": {"C": 2, "D": 3}, "Tags": [{"Key": "x", "Value": "1"}, {"Key": "y", "Value": "2"}]}
    after = {"A": 1, "B": {"C": 2, "D": 4}, "E": 5, "Tags": [{"Key": "y", "Value": "3"}]}
    assert changed(before, after).keys() == {"B", "E", "Tags"}
    assert differs_at(before, after, [("B", "D")])
    assert not differs_at(before, after, [("A",), ("B", "C"), ("F", "G")])
    assert tag_changes(before, after) == ([{"Key": "y", "Value": "3"}], ["x"])


def test_reading_back_leaves_defaults_out_and_differences_in() -> None:
    told = {"a": {"b": 1, "default": 2}, "list": [{"c": 3, "default": 4}], "more": 5}
    assert as_asked(told, {"a": {"b": 9}, "list": [{"c": 3}], "missing": 6}) == {
        "a": {"b": 1},
        "list": [{"c": 3}],
    }
    assert as_asked([1, 2], [1]) == [1, 2]
    assert in_order(["z", "b", "a"], ["a", "b"]) == ["a", "b", "z"]
    tags = [{"Key": "aws:cloudformation:stack-name", "Value": "s"}, {"Key": "b", "Value": "1"}]
    assert own_tags(tags, {}) == {"Tags": [{"Key": "b", "Value": "1"}]}
    assert own_tags(tags[:1], {}) == {}
