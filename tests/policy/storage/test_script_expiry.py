from __future__ import annotations

import pytest

ID = "ScriptExpiry"


def _rule(template, bucket="Scripts"):
    return template["Resources"][bucket]["Properties"]["LifecycleConfiguration"]["Rules"][0]


def test_old_versions_only_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "expiry", [{"ExpirationInDays": 90}, {"ExpirationDate": "2027-01-01T00:00:00Z"}], ids=str
)
def test_expiring_scripts_fail(judge, template, expiry):
    _rule(template).update(expiry)
    (finding,) = judge(ID, template).failures
    assert finding.path[:3] == ("LifecycleConfiguration", "Rules", 0)
    assert "lifecycle script bucket Scripts deletes current objects" in finding.message


@pytest.mark.parametrize("storage_class", ["GLACIER", "DEEP_ARCHIVE"])
def test_archived_scripts_fail(judge, template, storage_class):
    _rule(template)["Transitions"] = [{"StorageClass": storage_class, "TransitionInDays": 30}]
    (finding,) = judge(ID, template).failures
    assert f"moves current objects to {storage_class}" in finding.message


def test_unresolved_rules_are_undetermined(judge, template):
    template["Parameters"] = {"Rules": {"Type": "String"}}
    template["Resources"]["Scripts"]["Properties"]["LifecycleConfiguration"] = {"Rules": {"Ref": "Rules"}}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_expiry_that_is_no_value_complies(judge, template):
    _rule(template)["ExpirationInDays"] = {"Ref": "AWS::NoValue"}
    assert judge(ID, template).findings == ()


def test_an_expiry_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    _rule(template)["ExpirationInDays"] = {"Ref": "Days"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "change",
    [
        {"Status": "Disabled", "ExpirationInDays": 1},
        {"ExpiredObjectDeleteMarker": True},
        {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
        {"Transitions": [{"StorageClass": "STANDARD_IA", "TransitionInDays": 30}]},
    ],
    ids=str,
)
def test_harmless_rules_comply(judge, template, change):
    _rule(template).update(change)
    assert judge(ID, template).findings == ()


def test_checkpoints_may_expire(judge, template):
    _rule(template, "Checkpoints")["ExpirationInDays"] = 90
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("kept", "outcome"),
    [(True, "pass"), ("true", "pass"), (False, "fail"), ("false", "fail"), ({"Ref": "Keep"}, "undetermined")],
    ids=str,
)
def test_an_upload_leaves_older_scripts(judge, template, kept, outcome):
    template["Parameters"] = {"Keep": {"Type": "String"}}
    template["Resources"]["Upload"]["Properties"]["RetainOnDelete"] = kept
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert (
        outcome != "fail" or "deletes what nodes fetch from lifecycle script bucket Scripts" in report.text()
    )


def test_an_upload_to_another_bucket_is_left_alone(judge, template):
    upload = template["Resources"]["Upload"]["Properties"]
    upload.update(RetainOnDelete=False, DestinationBucketName={"Ref": "Checkpoints"})
    assert judge(ID, template).findings == ()
