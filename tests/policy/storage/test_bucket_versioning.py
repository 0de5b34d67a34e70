from __future__ import annotations

import pytest

ID = "BucketVersioning"


def test_versioned_buckets_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("bucket", ["Scripts", "Checkpoints"])
@pytest.mark.parametrize("status", ["Suspended", None])
def test_no_versions_fail(judge, template, bucket, status):
    properties = template["Resources"][bucket]["Properties"]
    if status is None:
        del properties["VersioningConfiguration"]
    else:
        properties["VersioningConfiguration"]["Status"] = status
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == bucket
    assert (
        f"bucket {bucket} is {'absent' if status is None else 'suspended'}; expected: Enabled"
        in finding.message
    )


def test_an_import_is_undetermined(judge, template):
    versioning = template["Resources"]["Scripts"]["Properties"]["VersioningConfiguration"]
    versioning["Status"] = {"Fn::ImportValue": "status"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_parameter_counts_with_every_allowed_value(judge, template):
    template["Parameters"] = {
        "Status": {"Type": "String", "Default": "Enabled", "AllowedValues": ["Enabled", "Suspended"]}
    }
    versioning = template["Resources"]["Scripts"]["Properties"]["VersioningConfiguration"]
    versioning["Status"] = {"Ref": "Status"}
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameter Status is Suspended"
    assert judge(ID, template, parameters={"Status": "Enabled"}).findings == ()


def test_other_buckets_are_left_alone(judge, template):
    assert {verdict.logical_id for verdict in judge(ID, template).verdicts} == {"Scripts", "Checkpoints"}


@pytest.mark.parametrize(
    ("expiry", "outcome"),
    [
        ({"NoncurrentDays": 1}, "fail"),
        ({"NoncurrentDays": "6"}, "fail"),
        ({"NoncurrentDays": 7}, "pass"),
        ({"NoncurrentDays": 1, "NewerNoncurrentVersions": 5}, "pass"),
        ({"NoncurrentDays": {"Ref": "Days"}}, "pass"),
    ],
    ids=str,
)
def test_old_versions_stay_for_a_week(judge, template, expiry, outcome):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    rules = template["Resources"]["Checkpoints"]["Properties"]["LifecycleConfiguration"]["Rules"]
    rules[0]["NoncurrentVersionExpiration"] = expiry
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "checkpoint bucket Checkpoints keeps an old version for" in report.text()
    rules[0]["Status"] = "Disabled"
    assert judge(ID, template).outcome(ID) == "pass"
