from __future__ import annotations

ID = "RemovedGroups"


def _groups(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]


def test_the_same_groups_comply(judge_update, baseline, template):
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


def test_a_further_group_complies(judge_update, baseline, template):
    _groups(template).append({**_groups(template)[1], "InstanceGroupName": "workers-2"})
    assert judge_update(ID, baseline, template).findings == ()


def test_a_group_that_is_gone_is_a_warning_with_its_nodes(judge_update, baseline, template):
    del _groups(template)[1]
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.severity == "warning"
    assert "group 'workers' is gone: its nodes, up to 16, go with their volumes" in finding.message
    assert "scale it to 0" in finding.fix


def test_a_new_name_is_a_removal(judge_update, baseline, template):
    _groups(template)[1]["InstanceGroupName"] = "compute"
    (finding,) = judge_update(ID, baseline, template).failures
    assert "group 'workers' is gone" in finding.message


def test_another_order_complies(judge_update, baseline, template):
    _groups(template).reverse()
    assert judge_update(ID, baseline, template).findings == ()


def test_a_name_from_a_parameter_is_undetermined(judge_update, baseline, template):
    template["Parameters"] = {"Name": {"Type": "String"}}
    _groups(template)[1]["InstanceGroupName"] = {"Ref": "Name"}
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"


def test_a_cluster_that_is_gone_is_another_rules_matter(judge_update, baseline, template):
    del template["Resources"]["Cluster"]
    assert judge_update(ID, baseline, template).verdicts == ()


def test_a_malformed_name_is_undetermined(judge_update, baseline, template):
    _groups(template)[1]["InstanceGroupName"] = []
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"
