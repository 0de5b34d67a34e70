"""Which buckets are guarded, told by how a cluster uses them."""

from __future__ import annotations

import pytest

from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.documents import Document
from hyperpod_policy.template import Template


def _roles(template, **more):
    subject = Template([Document(body=template)], **more)
    return {guarded.bucket.logical_id: guarded.role for guarded in guarded_buckets(subject)}


@pytest.fixture
def with_exports(template):
    """The template with a bucket that nothing but what a test adds tells to be one of checkpoints."""
    template["Resources"]["Exports"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "x-exports"}}
    return template


def _association(path, s3):
    return {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "FileSystemPath": "/data",
            "DataRepositoryPath": path,
            "S3": s3,
        },
    }


EXPORTING = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
IMPORTING = {"AutoImportPolicy": {"Events": ["NEW"]}}


@pytest.mark.parametrize(
    ("path", "s3", "guarded"),
    [
        ({"Fn::Sub": "s3://${Exports}/runs"}, EXPORTING, True),
        ({"Fn::Join": ["", ["s3://", {"Ref": "Exports"}]]}, EXPORTING, True),
        ("s3://x-exports/runs", {**EXPORTING, **IMPORTING}, True),
        ({"Fn::Sub": "s3://${Exports}/runs"}, IMPORTING, False),
        ("s3://another/runs", EXPORTING, False),
        ({"Fn::ImportValue": "path"}, EXPORTING, False),
    ],
    ids=str,
)
def test_a_bucket_that_a_file_system_exports_to_holds_checkpoints(with_exports, path, s3, guarded):
    with_exports["Resources"]["Association"] = _association(path, s3)
    assert (_roles(with_exports).get("Exports") == "checkpoint") is guarded


def test_an_export_path_of_the_file_system_counts(with_exports):
    lustre = with_exports["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"]
    lustre["ExportPath"] = {"Fn::Sub": "s3://${Exports}"}
    assert _roles(with_exports)["Exports"] == "checkpoint"


def test_a_script_bucket_stays_one_whatever_exports_to_it(template):
    template["Resources"]["Association"] = _association({"Fn::Sub": "s3://${Scripts}/x"}, EXPORTING)
    assert _roles(template)["Scripts"] == "lifecycle script"


@pytest.mark.parametrize("name", ["x-exports", "Exports"])
def test_a_name_that_the_user_gives_counts(with_exports, name):
    assert "Exports" not in _roles(with_exports)
    assert _roles(with_exports, checkpoint_buckets=[name])["Exports"] == "checkpoint"


@pytest.mark.parametrize(
    ("resource", "guarded"),
    [
        ("arn:aws:s3:::x-exports/*", True),
        ("arn:aws:s3:::x-e*", True),
        ("arn:aws:s3:::x-expor?s/*", True),
        ("arn:aws:s3:::x*/*", False),
        ("arn:aws:s3:::y-exports/*", False),
        ("*", False),
    ],
)
def test_a_grant_of_a_name_with_wildcards_names_the_bucket(with_exports, resource, guarded):
    with_exports["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Action": "s3:PutObject", "Resource": resource}
    )
    assert ("Exports" in _roles(with_exports)) is guarded
