from __future__ import annotations

import pytest

from hyperpod_model.catalog.fact import Claim, Fact, UncertainFactError, UnknownNameError


def make(doubt: str | None = None) -> Fact[int]:
    return Fact(
        "pods a node of ml.x.large",
        9,
        source="a page",
        checked_on="2026-11-29",
        doubt=doubt,
        claims=[Claim(8, "another page", "2026-10")],
    )


def test_a_certain_fact_is_read_in_every_way():
    fact = make()
    assert fact.certain
    assert fact.value == 9
    assert fact.if_certain(default=1) == 9
    assert fact.assuming(because="it is certain anyway") == 9
    assert (fact.source, fact.checked_on, fact.doubt) == ("a page", "2026-11-29", None)
    assert fact.claims == (Claim(8, "another page", "2026-10"),)


def test_an_uncertain_fact_refuses_to_be_read_and_names_the_ways_out():
    fact = make(doubt="two pages disagree")
    assert not fact.certain
    with pytest.raises(UncertainFactError) as caught:
        _ = fact.value
    message = str(caught.value)
    assert message.startswith("pods a node of ml.x.large is uncertain: two pages disagree; ")
    assert "assuming(because=...)" in message
    assert "if_certain(default)" in message
    assert caught.value.name == "pods a node of ml.x.large"
    assert caught.value.doubt == "two pages disagree"


def test_an_uncertain_fact_is_read_by_whoever_says_how():
    fact = make(doubt="two pages disagree")
    assert fact.if_certain(default=1) == 1
    assert fact.if_certain(0) == 0
    assert fact.assuming(because="an upper bound is enough here") == 9


@pytest.mark.parametrize("because", ["", "  "])
def test_assuming_needs_a_reason(because: str):
    with pytest.raises(
        ValueError, match=r"assuming pods a node of ml.x.large needs a reason, got an empty one"
    ):
        make(doubt="d").assuming(because=because)


def test_a_fact_cannot_be_changed():
    fact = make()
    with pytest.raises(AttributeError, match="a fact cannot be changed, got an assignment to doubt"):
        fact.doubt = "none"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="a fact cannot be changed, got a deletion of source"):
        del fact.source


def test_facts_compare_by_content():
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(doubt="d")
    assert make() != 9


def test_the_text_of_a_fact_shows_its_doubt():
    assert repr(make()) == "Fact(pods a node of ml.x.large: 9, certain)"
    assert repr(make(doubt="d")) == "Fact(pods a node of ml.x.large: 9, uncertain: d)"


def test_an_unknown_name_suggests_known_ones():
    error = UnknownNameError("instance type", "ml.p5.48xlarg", ["ml.p5.48xlarge", "other"])
    assert str(error) == "unknown instance type 'ml.p5.48xlarg'; did you mean ml.p5.48xlarge"
    assert error.suggestions == ("ml.p5.48xlarge",)


def test_an_unknown_name_like_no_other_tells_how_many_there_are():
    assert (
        str(UnknownNameError("region", "x", ["us-east-1", "us-east-2"])) == "unknown region 'x'; 2 are listed"
    )
