from __future__ import annotations

import pytest

ID = "LogBuckets"


def _statements(template):
    return template["Resources"]["LogsPolicy"]["Properties"]["PolicyDocument"]["Statement"]


def test_a_closed_bucket_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "admits unencrypted requests"),
        (1, "leaves to whoever has them in an identity policy s3:CreateBucketMetadata"),
        (2, "leaves to whoever has them in an identity policy s3:AbortMultipartUpload"),
        (3, "admits no logging.s3.amazonaws.com, so no log arrives"),
    ],
)
def test_each_statement_counts(judge, template, number, words):
    del _statements(template)[number]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert f"access log bucket Logs {words}" in finding.message


@pytest.mark.parametrize("block", ["BlockPublicAcls", "RestrictPublicBuckets"])
def test_public_access_fails(judge, template, block):
    template["Resources"]["Logs"]["Properties"]["PublicAccessBlockConfiguration"][block] = False
    (finding,) = judge(ID, template).failures
    assert finding.path == ("PublicAccessBlockConfiguration", block)


@pytest.mark.parametrize("name", ["Logs", "LogsPolicy"])
def test_a_bucket_that_goes_takes_the_logs_along(judge, template, name):
    del template["Resources"][name]["DeletionPolicy"]
    assert {finding.logical_id for finding in judge(ID, template).failures} == {name}


def test_no_policy_at_all_fails(judge, template):
    del template["Resources"]["LogsPolicy"]
    assert judge(ID, template).outcome(ID) == "fail"


def test_delivery_by_acl_still_counts(judge, template):
    del _statements(template)[3]
    template["Resources"]["Logs"]["Properties"]["AccessControl"] = "LogDeliveryWrite"
    assert judge(ID, template).findings == ()


def test_a_policy_that_only_deployment_knows_is_undetermined(judge, template):
    template["Parameters"] = {"Statements": {"Type": "CommaDelimitedList"}}
    template["Resources"]["LogsPolicy"]["Properties"]["PolicyDocument"]["Statement"] = {"Ref": "Statements"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize("destination", ["logs-elsewhere", {"Fn::ImportValue": "logs"}], ids=str)
def test_a_bucket_of_elsewhere_has_nothing_to_say(judge, template, destination):
    for name in ("Scripts", "Checkpoints"):
        template["Resources"][name]["Properties"]["LoggingConfiguration"]["DestinationBucketName"] = (
            destination
        )
    assert judge(ID, template).verdicts == ()
