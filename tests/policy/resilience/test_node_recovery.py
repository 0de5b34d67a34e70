from __future__ import annotations

ID = "NodeRecovery"


def _properties(template):
    return template["Resources"]["Cluster"]["Properties"]


def test_automatic_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_none_fails(judge, template):
    _properties(template)["NodeRecovery"] = "None"
    (finding,) = judge(ID, template).failures
    assert finding.path == ("NodeRecovery",)
    assert finding.message == "is None; expected: Automatic"


def test_absent_is_undetermined(judge, template):
    del _properties(template)["NodeRecovery"]
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "neither API nor CloudFormation documents a default" in report.text()


def test_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Recovery": {"Type": "String"}}
    _properties(template)["NodeRecovery"] = {"Ref": "Recovery"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_default_counts(judge, template):
    template["Parameters"] = {"Recovery": {"Type": "String", "Default": "Automatic"}}
    _properties(template)["NodeRecovery"] = {"Ref": "Recovery"}
    assert judge(ID, template).outcome(ID) == "pass"


def test_the_service_check_does_not_say_it_again(judge, template):
    _properties(template)["NodeRecovery"] = "None"
    assert judge("ClusterRequest", template).findings == ()


def test_other_resources_are_left_alone(judge, template):
    template["Resources"]["Endpoint"] = {"Type": "AWS::SageMaker::Endpoint", "Properties": {}}
    assert {verdict.logical_id for verdict in judge(ID, template).verdicts} == {"Cluster"}
