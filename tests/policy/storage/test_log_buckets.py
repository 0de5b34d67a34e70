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
        (3, "admits no logging.s3.amazonaws.com on behalf of Scripts and Checkpoints, so no log arrives"),
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


@pytest.mark.parametrize(
    "changes",
    [
        {"Resource": {"Fn::Sub": "${Logs.Arn}/y/*"}},
        {"Principal": {"Service": "s3.amazonaws.com"}},
        {"Condition": {"StringNotEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}},
        {"Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:s3:::other"}}},
    ],
    ids=str,
)
def test_delivery_that_misses_the_logs_fails(judge, template, changes):
    _statements(template)[3].update(changes)
    (finding,) = judge(ID, template).failures
    assert "so no log arrives" in finding.message


def test_each_source_needs_its_delivery(judge, template):
    _statements(template)[3]["Condition"]["ArnLike"] = {"aws:SourceArn": {"Fn::GetAtt": "Scripts.Arn"}}
    (finding,) = judge(ID, template).failures
    assert "on behalf of Checkpoints, so" in finding.message


@pytest.mark.parametrize("owner", ["ObjectWriter", "BucketOwnerPreferred"])
def test_acls_fail_unless_they_deliver(judge, template, owner):
    properties = template["Resources"]["Logs"]["Properties"]
    properties["OwnershipControls"]["Rules"][0]["ObjectOwnership"] = owner
    (finding,) = judge(ID, template).failures
    assert f"has {owner}" in finding.message
    properties["AccessControl"] = "LogDeliveryWrite"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"Status": "Enabled", "ExpirationInDays": 1}, "fail"),
        ({"Status": "Enabled", "ExpirationInDays": "29"}, "fail"),
        ({"Status": "Enabled", "ExpirationInDays": 30}, "pass"),
        ({"Status": "Disabled", "ExpirationInDays": 1}, "pass"),
        ({"Status": "Enabled", "ExpirationInDays": {"Ref": "Days"}}, "pass"),
    ],
    ids=str,
)
def test_logs_stay_for_a_month(judge, template, rule, outcome):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    template["Resources"]["Logs"]["Properties"]["LifecycleConfiguration"] = {"Rules": [rule]}
    assert judge(ID, template).outcome(ID) == outcome


def test_reading_by_everybody_fails(judge, template):
    _statements(template).append(
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": {"Fn::Sub": "${Logs.Arn}/*"},
        }
    )
    (finding,) = judge(ID, template).failures
    assert "to everybody, other accounts and anonymous callers included" in finding.message
