from __future__ import annotations

import pytest

ID = "AutoscalingRoleChange"
ONE, OTHER = "arn:aws:iam::111122223333:role/One", "arn:aws:iam::111122223333:role/Other"


def _set(template, role, mode):
    cluster = template["Resources"]["Cluster"]["Properties"]
    cluster.update(ClusterRole=role, AutoScaling={"Mode": mode, "AutoScalerType": "Karpenter"})


def test_a_cluster_without_autoscaling_has_nothing_to_say(judge_update, baseline, template):
    assert judge_update(ID, baseline, template).verdicts == ()


def test_the_same_role_complies(judge_update, baseline, template):
    for side in (baseline, template):
        _set(side, ONE, "Enable")
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


@pytest.mark.parametrize("mode", ["Enable", "Disable"])
def test_another_role_fails_even_if_autoscaling_goes_off_with_it(judge_update, baseline, template, mode):
    _set(baseline, ONE, "Enable")
    _set(template, OTHER, mode)
    (finding,) = judge_update(ID, baseline, template).failures
    assert f"changes from {ONE} to {OTHER}" in finding.message
    assert "Disable in one update" in finding.fix


def test_another_role_while_it_is_off_complies(judge_update, baseline, template):
    _set(baseline, ONE, "Disable")
    _set(template, OTHER, "Enable")
    assert judge_update(ID, baseline, template).findings == ()


def test_a_role_from_a_parameter_is_undetermined(judge_update, baseline, template):
    _set(baseline, ONE, "Enable")
    template["Parameters"] = {"Role": {"Type": "String"}}
    _set(template, {"Ref": "Role"}, "Enable")
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"


def test_a_mode_from_a_parameter_is_undetermined(judge_update, baseline, template):
    baseline["Parameters"] = {"Mode": {"Type": "String"}}
    _set(baseline, ONE, {"Ref": "Mode"})
    _set(template, OTHER, "Enable")
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"
