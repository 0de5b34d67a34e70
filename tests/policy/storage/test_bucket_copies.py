from __future__ import annotations

import pytest

ID = "BucketCopies"
OWN = "111122223333"
OTHER = "444455556666"
ELSEWHERE = "arn:aws:s3:::elsewhere"


def _replicate(template, bucket="Checkpoints", status="Enabled", **target):
    template["Parameters"] = {"Target": {"Type": "String"}}
    template["Resources"][bucket]["Properties"]["ReplicationConfiguration"] = {
        "Role": {"Fn::GetAtt": "UploadRole.Arn"},
        "Rules": [{"Status": status, "Destination": target}],
    }


def test_buckets_without_copies_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize("bucket", ["Checkpoints", "Scripts", "Logs"])
@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        ({"Bucket": ELSEWHERE, "Account": OTHER}, "fail"),
        ({"Bucket": ELSEWHERE}, "undetermined"),
        ({"Bucket": {"Ref": "Target"}}, "undetermined"),
        ({"Bucket": ELSEWHERE, "Account": OWN}, "pass"),
        ({"Bucket": {"Fn::GetAtt": "Logs.Arn"}}, "pass"),
        ({"Bucket": ELSEWHERE, "Account": OTHER, "status": "Disabled"}, "pass"),
    ],
    ids=str,
)
def test_where_replicas_go(judge, template, bucket, target, outcome):
    _replicate(template, bucket, **target)
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


def test_the_finding_names_the_account(judge, template):
    _replicate(template, Bucket=ELSEWHERE, Account=OTHER)
    (finding,) = judge(ID, template, account=OWN).failures
    assert finding.path == ("ReplicationConfiguration", "Rules", 0, "Destination")
    assert f"sends every object to {ELSEWHERE}, of account {OTHER}" in finding.message


def test_rules_that_only_deployment_knows_are_undetermined(judge, template):
    template["Parameters"] = {"Rules": {"Type": "CommaDelimitedList"}}
    configuration = {"Rules": {"Fn::If": ["X", {"Ref": "Rules"}, {"Ref": "Rules"}]}}
    template["Resources"]["Checkpoints"]["Properties"]["ReplicationConfiguration"] = configuration
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        ({"BucketArn": ELSEWHERE, "BucketAccountId": OTHER}, "fail"),
        ({"BucketArn": {"Fn::GetAtt": "Logs.Arn"}}, "pass"),
    ],
    ids=str,
)
def test_where_inventories_go(judge, template, target, outcome):
    properties = template["Resources"]["Checkpoints"]["Properties"]
    properties["InventoryConfigurations"] = [{"Id": "all", "Destination": target}]
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(
    ("path", "outcome"),
    [("s3://elsewhere/all", "undetermined"), ({"Fn::Sub": "s3://${Checkpoints}/all"}, "pass")],
    ids=str,
)
def test_where_file_systems_export(judge, template, path, outcome):
    template["Resources"]["Export"] = {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "DataRepositoryPath": path,
            "S3": {"AutoExportPolicy": {"Events": ["NEW"]}},
        },
    }
    assert judge(ID, template).outcome(ID) == outcome


def test_other_buckets_are_left_alone(judge, template):
    template["Resources"]["Web"] = {"Type": "AWS::S3::Bucket", "Properties": {}}
    _replicate(template, "Web", Bucket=ELSEWHERE, Account=OTHER)
    assert judge(ID, template, account=OWN).findings == ()
