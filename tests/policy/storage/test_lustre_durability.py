from __future__ import annotations

import pytest

ID = "LustreDurability"


def _configure(template, **configuration):
    template["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"] = configuration


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("PERSISTENT_2", "pass"),
        ("PERSISTENT_1", "pass"),
        ("SCRATCH_2", "fail"),
        ("SCRATCH_1", "fail"),
        ({"Ref": "AWS::NoValue"}, "fail"),
        ({"Fn::ImportValue": "kind"}, "undetermined"),
        ({"Fn::FindInMap": ["Kinds", "all", "kind"]}, "fail"),
    ],
    ids=str,
)
def test_deployment_types(judge, template, kind, outcome):
    template["Mappings"] = {"Kinds": {"all": {"kind": "SCRATCH_2"}}}
    _configure(template, DeploymentType=kind)
    assert judge(ID, template).outcome(ID) == outcome


def test_the_finding_says_what_is_lost(judge, template):
    _configure(template, DeploymentType="SCRATCH_2")
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("FileSystem", "warning")
    assert "is SCRATCH_2, which keeps one copy of each file and has no backups" in finding.message


@pytest.mark.parametrize(
    ("s3", "outcome"),
    [
        ({"AutoExportPolicy": {"Events": ["NEW"]}}, "pass"),
        ({"AutoImportPolicy": {"Events": ["NEW"]}}, "fail"),
    ],
    ids=str,
)
def test_an_export_to_s3_keeps_the_files(judge, template, s3, outcome):
    _configure(template, DeploymentType="SCRATCH_2")
    template["Resources"]["Association"] = {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "DataRepositoryPath": {"Fn::Sub": "s3://${Checkpoints}/fsx"},
            "S3": s3,
        },
    }
    assert judge(ID, template).outcome(ID) == outcome


def test_an_export_path_keeps_the_files(judge, template):
    _configure(template, DeploymentType="SCRATCH_2", ExportPath="s3://bucket/fsx")
    assert judge(ID, template).findings == ()


def test_a_file_system_of_somebody_else_is_left_alone(judge, template):
    template["Resources"]["Windows"] = {
        "Type": "AWS::FSx::FileSystem",
        "Properties": {"FileSystemType": "WINDOWS", "SubnetIds": [{"Ref": "Subnet"}]},
    }
    assert judge(ID, template).findings == ()
