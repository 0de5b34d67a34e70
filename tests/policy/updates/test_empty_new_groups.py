from __future__ import annotations

import pytest

ID = "EmptyNewGroups"


def _add(template, count):
    groups = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    groups.append({**groups[1], "InstanceGroupName": "workers-2", "InstanceCount": count})


def test_no_new_group_has_nothing_to_say(judge_update, baseline, template):
    assert judge_update(ID, baseline, template).verdicts == ()


def test_a_new_group_with_an_instance_complies(judge_update, baseline, template):
    _add(template, 1)
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


@pytest.mark.parametrize("count", [0, "0"])
def test_a_new_group_without_instances_is_a_warning(judge_update, baseline, template, count):
    _add(template, count)
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.severity == "warning"
    assert "adds group 'workers-2' with 0 instances" in finding.message


def test_a_group_that_is_scaled_to_none_complies(judge_update, baseline, template):
    template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]["InstanceCount"] = 0
    assert judge_update(ID, baseline, template).verdicts == ()


def test_a_count_from_a_parameter_complies(judge_update, baseline, template):
    template["Parameters"] = {"Count": {"Type": "Number"}}
    _add(template, {"Ref": "Count"})
    assert judge_update(ID, baseline, template).findings == ()
