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
