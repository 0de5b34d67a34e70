from __future__ import annotations

import pytest

ID = "LustreBackups"


def _configuration(template):
    return template["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"]


def test_daily_backups_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("days", "outcome"),
    [(0, "fail"), ("0", "fail"), (None, "fail"), (1, "pass"), ({"Ref": "Days"}, "undetermined")],
    ids=str,
)
def test_how_long_backups_are_kept(judge, template, days, outcome):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    if days is None:
        del _configuration(template)["AutomaticBackupRetentionDays"]
    else:
        _configuration(template)["AutomaticBackupRetentionDays"] = days
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert outcome != "fail" or "takes no automatic backups" in report.text()


def test_an_export_to_s3_stands_in(judge, template):
    _configuration(template)["AutomaticBackupRetentionDays"] = 0
    template["Resources"]["Export"] = {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "DataRepositoryPath": {"Fn::Sub": "s3://${Checkpoints}"},
            "S3": {"AutoExportPolicy": {"Events": ["NEW"]}},
        },
    }
    assert judge(ID, template).outcome(ID) == "pass"


def test_scratch_has_a_rule_of_its_own(judge, template):
    template["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"] = {"DeploymentType": "SCRATCH_2"}
    assert judge(ID, template).verdicts == ()


def test_other_file_systems_are_left_alone(judge, template):
    template["Resources"]["Home"] = {
        "Type": "AWS::FSx::FileSystem",
        "Properties": {"FileSystemType": "OPENZFS", "SubnetIds": [{"Ref": "Subnet"}]},
    }
    assert judge(ID, template).findings == ()
