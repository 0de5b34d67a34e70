from __future__ import annotations

import pytest

ID = "BucketEncryption"


def _default(template, bucket="Checkpoints"):
    encryption = template["Resources"][bucket]["Properties"]["BucketEncryption"]
    return encryption["ServerSideEncryptionConfiguration"][0]["ServerSideEncryptionByDefault"]


def test_a_rotating_key_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_encryption_fails(judge, template):
    del template["Resources"]["Checkpoints"]["Properties"]["BucketEncryption"]
    (finding,) = judge(ID, template).failures
    assert "checkpoint bucket Checkpoints is encrypted with keys of S3" in finding.message


def test_keys_of_s3_fail(judge, template):
    default = _default(template)
    default["SSEAlgorithm"] = "AES256"
    del default["KMSMasterKeyID"]
    assert judge(ID, template).outcome(ID) == "fail"


@pytest.mark.parametrize("key", [None, "alias/aws/s3", "arn:aws:kms:us-west-2:111122223333:alias/aws/s3"])
def test_the_aws_managed_key_fails(judge, template, key):
    default = _default(template)
    del default["KMSMasterKeyID"]
    if key is not None:
        default["KMSMasterKeyID"] = key
    (finding,) = judge(ID, template).failures
    assert "the AWS managed key of S3" in finding.message


@pytest.mark.parametrize("rotation", [False, "false", None])
def test_a_key_that_never_rotates_fails(judge, template, rotation):
    key = template["Resources"]["Key"]["Properties"]
    del key["EnableKeyRotation"]
    if rotation is not None:
        key["EnableKeyRotation"] = rotation
    findings = judge(ID, template).failures
    assert {finding.logical_id for finding in findings} == {"Key"}
    assert "never rotates" in findings[0].message


def test_an_imported_key_is_undetermined(judge, template):
    _default(template)["KMSMasterKeyID"] = {"Fn::ImportValue": "key"}
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "key import key of checkpoint bucket Checkpoints is not in this template" in report.text()


def test_a_parameter_as_algorithm_is_undetermined(judge, template):
    template["Parameters"] = {"Algorithm": {"Type": "String"}}
    _default(template)["SSEAlgorithm"] = {"Ref": "Algorithm"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "key", [{"Ref": "Key"}, {"Fn::GetAtt": "Key.Arn"}, {"Fn::Sub": "${Key.Arn}"}], ids=str
)
def test_any_spelling_of_the_key_counts(judge, template, key):
    _default(template)["KMSMasterKeyID"] = key
    assert judge(ID, template).findings == ()


def test_an_alias_leads_to_the_key(judge, template):
    template["Resources"]["Alias"] = {
        "Type": "AWS::KMS::Alias",
        "Properties": {"TargetKeyId": {"Ref": "Key"}},
    }
    _default(template)["KMSMasterKeyID"] = {"Ref": "Alias"}
    assert judge(ID, template).findings == ()


def test_scripts_may_use_keys_of_s3(judge, template):
    del template["Resources"]["Scripts"]["Properties"]["BucketEncryption"]
    assert judge(ID, template).findings == ()


def test_double_encryption_complies(judge, template):
    _default(template)["SSEAlgorithm"] = "aws:kms:dsse"
    assert judge(ID, template).findings == ()
