from __future__ import annotations

import pytest

ID = "EksControlPlaneLogs"


def _logs(template):
    return template["Resources"]["Eks"]["Properties"]["Logging"]["ClusterLogging"]


def test_all_types_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize("position", range(5))
def test_each_missing_type_fails(judge, eks_template, position):
    kind = _logs(eks_template)["EnabledTypes"].pop(position)["Type"]
    (finding,) = judge(ID, eks_template).failures
    assert finding.path == ("Logging", "ClusterLogging", "EnabledTypes")
    assert f"lacks {kind};" in finding.message


def test_no_logs_fail(judge, eks_template):
    del eks_template["Resources"]["Eks"]["Properties"]["Logging"]
    (finding,) = judge(ID, eks_template).failures
    assert "lacks api, audit, authenticator, controllerManager, scheduler" in finding.message


def test_a_type_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Type": {"Type": "String"}}
    _logs(eks_template)["EnabledTypes"][0] = {"Type": {"Ref": "Type"}}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_an_existing_eks_cluster_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["Eks"]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
