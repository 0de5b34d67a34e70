from __future__ import annotations

import pytest

ID = "EksAuthentication"


def _eks(template):
    return template["Resources"]["Eks"]["Properties"]


def test_access_entries_alone_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("config", "words"), [({}, "is not set, which means CONFIG_MAP"), ("CONFIG_MAP", "is CONFIG_MAP")]
)
def test_a_mode_that_hyperpod_refuses_fails(judge, eks_template, config, words):
    _eks(eks_template)["AccessConfig"] = {"AuthenticationMode": config} if config else {}
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "error"
    assert finding.path == ("AccessConfig", "AuthenticationMode")
    assert words in finding.message


def test_both_ways_are_a_warning(judge, eks_template):
    _eks(eks_template)["AccessConfig"] = {"AuthenticationMode": "API_AND_CONFIG_MAP"}
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "warning"
    assert "whoever edits the ConfigMap aws-auth" in finding.message


def test_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Mode": {"Type": "String"}}
    _eks(eks_template)["AccessConfig"] = {"AuthenticationMode": {"Ref": "Mode"}}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_an_existing_eks_cluster_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["Eks"]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
