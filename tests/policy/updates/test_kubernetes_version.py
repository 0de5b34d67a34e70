from __future__ import annotations

import copy

import pytest

ID = "KubernetesVersion"


def _sides(template, before, after):
    old, new = copy.deepcopy(template), template
    for side, version in ((old, before), (new, after)):
        side["Resources"]["Eks"]["Properties"]["Version"] = version
    return old, new


@pytest.mark.parametrize(("before", "after"), [("1.32", "1.33"), ("1.9", "1.10")])
def test_one_version_up_complies(judge_update, eks_template, before, after):
    assert judge_update(ID, *_sides(eks_template, before, after)).outcome(ID) == "pass"


@pytest.mark.parametrize(("before", "after"), [("1.33", "1.33"), (None, None)])
def test_the_same_version_has_nothing_to_say(judge_update, eks_template, before, after):
    assert judge_update(ID, *_sides(eks_template, before, after)).verdicts == ()


@pytest.mark.parametrize(("before", "after"), [("1.31", "1.33"), ("1.33", "1.32")])
def test_a_step_over_a_version_or_back_fails(judge_update, eks_template, before, after):
    (finding,) = judge_update(ID, *_sides(eks_template, before, after)).failures
    assert f"changes from {before} to {after}" in finding.message


@pytest.mark.parametrize(("before", "after"), [(None, "1.33"), ("1.33", {"Ref": "Version"})])
def test_a_version_that_is_not_known_is_undetermined(judge_update, eks_template, before, after):
    eks_template["Parameters"] = {"Version": {"Type": "String"}}
    assert judge_update(ID, *_sides(eks_template, before, after)).outcome(ID) == "undetermined"
