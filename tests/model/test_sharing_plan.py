from __future__ import annotations

from hyperpod_model.sharing_plan import TeamShare, plan_table, sharing_plan

P5 = "ml.p5.48xlarge"


def plan(*shares, there=16, idle=True):
    found = sharing_plan(shares, capacity={P5: there}, idle_resource_sharing=idle)
    return {planned.share.team: planned for planned in found}


def share(team, promised, **values):
    return TeamShare(team=team, instance_type=P5, promised=promised, **values)


def test_borrows_no_more_than_its_limit():
    found = plan(share("a", 8), share("b", 8))
    assert found["a"].borrows_at_most == 4
    assert found["a"].lenders == ("b",)
    assert not found["a"].from_unallocated


def test_borrows_no_more_than_others_may_leave_idle():
    found = plan(share("a", 8, borrow_limit_percent=500), share("b", 4), there=14)
    assert found["a"].borrows_at_most == 4 + 2
    assert found["a"].from_unallocated


def test_what_nobody_is_promised_may_be_kept_idle():
    found = plan(share("a", 8, borrow_limit_percent=500), share("b", 4), there=14, idle=False)
    assert found["a"].borrows_at_most == 4
    assert not found["a"].from_unallocated


def test_a_team_that_does_not_lend_is_no_lender_and_takes_nothing_back():
    found = plan(share("a", 8), share("b", 8, strategy="DontLend"))
    assert found["a"].lenders == ()
    assert found["a"].borrows_at_most == 0
    assert found["b"].borrowers == ()


def test_a_team_that_only_lends_does_not_borrow_and_takes_back():
    found = plan(share("a", 8), share("b", 8, strategy="Lend"))
    assert found["b"].borrows_at_most == 0
    assert found["b"].borrowers == ("a",)
    assert found["a"].lenders == ("b",)


def test_other_instance_types_are_other_matters():
    other = TeamShare(team="b", instance_type="ml.g5.xlarge", promised=8)
    found = plan(share("a", 8), other, there=8)
    assert found["a"].lenders == ()
    assert found["a"].borrows_at_most == 0


def test_nothing_promised_nothing_borrowed():
    found = plan(share("a", 0), share("b", 8))
    assert found["a"].borrows_at_most == 0
    assert found["b"].borrowers == ()


def test_table():
    text = plan_table(
        [share("a", 8, fair_share_weight=3), share("b", 4, preempt_own_tasks="Never")],
        capacity={P5: 16, "ml.m5.large": 2},
        idle_resource_sharing=False,
        fair_share=True,
    )
    lines = text.splitlines()
    assert lines[0].split("  ")[0] == "team"
    assert lines[1].split() == ["a", "ml.p5.48xlarge", "8", "up", "to", "4", "b", "b", "gives", "way"]
    assert lines[2].split() == ["b", "ml.p5.48xlarge", "4", "up", "to", "2", "a", "a", "waits"]
    assert lines[3] == "4 of 16 ml.p5.48xlarge are promised to nobody and stay idle"
    assert lines[4] == "idle instances are shared out by weight (a 3, b 0)"
    first = plan_table([share("a", 8)], capacity={P5: 8}, idle_resource_sharing=True, fair_share=False)
    assert "first come, first served" in first
    assert "nothing" in first
