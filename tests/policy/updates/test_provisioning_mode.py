from __future__ import annotations

import copy

import pytest

ID = "ProvisioningModeChange"
MODE = "NodeProvisioningMode"


def _cluster(template):
    return template["Resources"]["Cluster"]["Properties"]


@pytest.mark.parametrize("mode", ["Continuous", None])
def test_the_same_mode_complies(judge_update, baseline, template, mode):
    for side in (baseline, template):
        _cluster(side)[MODE] = mode
    report = judge_update(ID, baseline, template)
    assert report.outcome(ID) == "pass"


def _classic(template):
    del _cluster(template)[MODE]
    for group in _cluster(template)["InstanceGroups"]:
        del group["SlurmConfig"]


def test_a_classic_slurm_cluster_cannot_become_continuous(judge_update, baseline, template):
    _classic(baseline)
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == (MODE,)
    assert "changes from none to Continuous" in finding.message
    assert "cannot be migrated" in finding.message


def test_a_strategy_tells_that_it_is_classic(judge_update, baseline, template):
    del _cluster(baseline)[MODE]
    _cluster(baseline)["Orchestrator"] = {"Slurm": {"SlurmConfigStrategy": "Managed"}}
    assert judge_update(ID, baseline, template).outcome(ID) == "fail"


def test_where_nothing_tells_what_no_mode_means_it_is_undetermined(judge_update, baseline, template):
    del _cluster(baseline)[MODE]
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"


def test_with_eks_nobody_says(judge_update, eks_template):
    baseline = copy.deepcopy(eks_template)
    del _cluster(baseline)[MODE]
    (finding,) = judge_update(ID, baseline, eks_template).findings
    assert finding.outcome == "undetermined"


def test_the_way_back_is_undetermined(judge_update, baseline, template):
    del _cluster(template)[MODE]
    (finding,) = judge_update(ID, baseline, template).findings
    assert finding.outcome == "undetermined"
    assert "from Continuous to none" in finding.message


def test_an_unresolved_mode_is_undetermined(judge_update, baseline, template):
    template["Parameters"] = {"Mode": {"Type": "String"}}
    _cluster(template)[MODE] = {"Ref": "Mode"}
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"


def test_both_branches_are_judged(judge_update, baseline, template):
    _classic(baseline)
    template["Conditions"] = {"New": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _cluster(template)[MODE] = {"Fn::If": ["New", "Continuous", {"Ref": "AWS::NoValue"}]}
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.when == "condition New is true"


def test_a_cluster_that_goes_or_comes_has_no_verdict(judge_update, baseline, template):
    del template["Resources"]["Cluster"]
    assert judge_update(ID, baseline, template).verdicts == ()
    assert judge_update(ID, template, baseline).verdicts == ()
