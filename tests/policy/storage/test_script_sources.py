from __future__ import annotations

import pytest

ID = "ScriptSources"
OWN = "111122223333"
STAGING = {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-us-west-2"}

BUCKETS = [
    (STAGING, "pass"),
    (f"assets-{OWN}", "pass"),
    ({"Ref": "Logs"}, "pass"),
    ({"Fn::ImportValue": "assets"}, "pass"),
    ("somebodys-bucket", "undetermined"),
    ({"Ref": "Bucket"}, "undetermined"),
]


def _upload(template, **more):
    template["Parameters"] = {"Bucket": {"Type": "String"}}
    upload = template["Resources"]["Upload"]["Properties"]
    upload.update(ServiceToken={"Fn::GetAtt": "BackupFunction.Arn"}, **more)
    return template["Resources"]["BackupFunction"]["Properties"]


def test_an_upload_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_scripts_come_from(judge, template, bucket, outcome):
    _upload(template, SourceBucketNames=[STAGING, bucket])
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "scripts come from bucket" in report.text()


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_the_code_comes_from(judge, template, bucket, outcome):
    _upload(template)["Code"] = {"S3Bucket": bucket, "S3Key": "a.zip"}
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "the code that uploads scripts comes from bucket" in report.text()


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_a_layer_comes_from(judge, template, bucket, outcome):
    _upload(template)["Layers"] = [{"Ref": "Layer"}]
    template["Resources"]["Layer"] = {
        "Type": "AWS::Lambda::LayerVersion",
        "Properties": {"Content": {"S3Bucket": bucket, "S3Key": "a.zip"}},
    }
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(
    ("account", "outcome"), [("444455556666", "fail"), (OWN, "pass"), (None, "undetermined")]
)
def test_a_layer_that_exists(judge, template, account, outcome):
    layer = f"arn:aws:lambda:us-west-2:{account}:layer:aws-cli:1" if account else {"Ref": "Bucket"}
    _upload(template)["Layers"] = [layer]
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome != "fail" or "of another account" in report.text()


def test_code_in_the_template_complies(judge, template):
    _upload(template)["Code"] = {"ZipFile": "pass"}
    assert judge(ID, template).outcome(ID) == "pass"


def test_uploads_to_other_buckets_are_left_alone(judge, template):
    _upload(template, SourceBucketNames=["somebodys-bucket"], DestinationBucketName={"Ref": "Checkpoints"})
    assert judge(ID, template).verdicts == ()
