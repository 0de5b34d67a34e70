from __future__ import annotations

import pytest

ID = "BucketRetention"


def test_retained_buckets_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("bucket", ["Scripts", "Checkpoints"])
@pytest.mark.parametrize("attribute", ["DeletionPolicy", "UpdateReplacePolicy"])
@pytest.mark.parametrize("value", ["Delete", None])
def test_a_bucket_that_goes_fails(judge, template, bucket, attribute, value):
    resource = template["Resources"][bucket]
    if value is None:
        del resource[attribute]
    else:
        resource[attribute] = value
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == bucket
    assert f"is deleted by its {attribute}; expected: both are Retain" in finding.message


def test_a_bucket_that_is_emptied_fails(judge, template):
    template["Resources"]["Empty"] = {
        "Type": "Custom::S3AutoDeleteObjects",
        "Properties": {"BucketName": {"Ref": "Checkpoints"}},
    }
    (finding,) = judge(ID, template).failures
    assert "is emptied by Empty when the stack goes" in finding.message


def test_a_parameter_as_policy_is_undetermined(judge, template):
    template["Parameters"] = {"Policy": {"Type": "String"}}
    template["Resources"]["Checkpoints"]["DeletionPolicy"] = {"Ref": "Policy"}
    assert judge(ID, template).outcome(ID) == "undetermined"
    assert judge(ID, template, parameters={"Policy": "Retain"}).outcome(ID) == "pass"


def test_a_bucket_under_a_false_condition_is_left_alone(judge, template):
    template["Conditions"] = {"Never": {"Fn::Equals": ["a", "b"]}}
    template["Resources"]["Checkpoints"] |= {"Condition": "Never", "DeletionPolicy": "Delete"}
    assert judge(ID, template).findings == ()


def test_retain_except_on_create_complies(judge, template):
    template["Resources"]["Checkpoints"]["DeletionPolicy"] = "RetainExceptOnCreate"
    assert judge(ID, template).findings == ()


def test_emptying_another_bucket_is_left_alone(judge, template):
    template["Resources"]["Empty"] = {
        "Type": "Custom::S3AutoDeleteObjects",
        "Properties": {"BucketName": {"Ref": "Logs"}},
    }
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize("bucket", ["Scripts", "Checkpoints"])
def test_a_policy_that_goes_leaves_the_bucket_open(judge, template, bucket):
    del template["Resources"][f"{bucket}Policy"]["DeletionPolicy"]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == f"{bucket}Policy"
    assert f"bucket {bucket} is retained and its policy, the lock, is deleted" in finding.message


def test_a_key_that_goes_leaves_the_bucket_unreadable(judge, template):
    template["Resources"]["Key"]["DeletionPolicy"] = "Delete"
    findings = judge(ID, template).failures
    assert {finding.logical_id for finding in findings} == {"Key"}
    assert "its key is deleted, so nobody can read it again" in findings[0].message


def test_an_imported_key_is_left_alone(judge, template):
    template["Resources"]["Key"]["DeletionPolicy"] = "Delete"
    for bucket in ("Scripts", "Checkpoints"):
        encryption = template["Resources"][bucket]["Properties"]["BucketEncryption"]
        default = encryption["ServerSideEncryptionConfiguration"][0]["ServerSideEncryptionByDefault"]
        default["KMSMasterKeyID"] = {"Fn::ImportValue": "key"}
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("name", "words"), [("Key", "its key is deleted"), ("ScriptsPolicy", "the lock, is deleted")]
)
def test_what_a_replacement_deletes_counts_as_well(judge, template, name, words):
    del template["Resources"][name]["UpdateReplacePolicy"]
    failures = judge(ID, template).failures
    assert {finding.logical_id for finding in failures} == {name}
    assert all(words in finding.message for finding in failures)
