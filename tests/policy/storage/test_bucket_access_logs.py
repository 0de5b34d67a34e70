from __future__ import annotations

import pytest

ID = "BucketAccessLogs"


def _properties(template):
    return template["Resources"]["Checkpoints"]["Properties"]


def test_logs_elsewhere_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_logs_are_a_warning(judge, template):
    del _properties(template)["LoggingConfiguration"]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "checkpoint bucket Checkpoints logs no requests" in finding.message


@pytest.mark.parametrize(
    "logging", [{"LogFilePrefix": "x/"}, {"DestinationBucketName": {"Ref": "Checkpoints"}}]
)
def test_logs_to_the_bucket_itself_fail(judge, template, logging):
    _properties(template)["LoggingConfiguration"] = logging
    (finding,) = judge(ID, template).failures
    assert "logs requests to itself" in finding.message


def test_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Logging": {"Type": "String"}}
    _properties(template)["LoggingConfiguration"] = {"Ref": "Logging"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_imported_log_bucket_complies(judge, template):
    _properties(template)["LoggingConfiguration"]["DestinationBucketName"] = {"Fn::ImportValue": "logs"}
    assert judge(ID, template).findings == ()


def test_the_log_bucket_itself_is_left_alone(judge, template):
    assert "Logs" not in {verdict.logical_id for verdict in judge(ID, template).verdicts}
