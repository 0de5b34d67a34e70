from __future__ import annotations

import pytest

from hyperpod_policy import Document
from hyperpod_policy.units import units

BUCKET = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "weights"}}


def _document(name, **sections):
    return Document(body=sections, file=f"{name}.json")


def _user(value):
    return {"Resources": {"U": {"Type": "T", "Properties": {"Value": value}}}}


def _exporter(name):
    return {"Outputs": {"O": {"Value": "x", "Export": {"Name": name}}}}


def _names(found):
    return [[document.file for document in unit] for unit in found]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (_exporter("vpc"), _user({"Fn::ImportValue": "vpc"}), True),
        (_exporter("vpc"), _user({"Fn::Join": ["", [{"Fn::ImportValue": "vpc"}, "/x"]]}), True),
        (
            _exporter({"Fn::Sub": ["${A}-vpc", {"A": "net"}]}),
            _user({"Fn::ImportValue": {"Fn::Join": ["-", ["net", "vpc"]]}}),
            True,
        ),
        (
            {"Parameters": {"Name": {"Type": "String", "Default": "net"}}}
            | _exporter({"Fn::Sub": "${Name}-vpc"}),
            _user({"Fn::ImportValue": "net-vpc"}),
            True,
        ),
        (_exporter("vpc"), _user({"Fn::ImportValue": "other"}), False),
        (_exporter({"Ref": "AWS::StackName"}), _user({"Fn::ImportValue": {"Ref": "AWS::StackName"}}), False),
        (_exporter("vpc"), _exporter("vpc"), False),
        ({"Resources": {"B": BUCKET}}, _user("arn:aws:s3:::weights/*"), True),
        ({"Resources": {"B": BUCKET}}, _user({"Fn::Sub": "s3://weights/${AWS::Region}"}), True),
        ({"Resources": {"B": BUCKET}}, _user("arn:aws:s3:::weights-of-others/*"), False),
        ({"Resources": {"B": BUCKET}}, {"Resources": {"B": BUCKET}}, False),
        (
            {"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "trainer"}}}},
            _user("arn:aws:iam::123456789012:role/trainer"),
            True,
        ),
        ({"Resources": {}}, {"Resources": {}}, False),
    ],
)
def test_templates_that_know_each_other_are_one_unit(one, other, together):
    documents = [_document("a", **one), _document("b", **other)]
    for order in (documents, documents[::-1]):
        names = [document.file for document in order]
        assert _names(units(order)) == ([names] if together else [[name] for name in names])


def test_who_knows_whom_carries_over():
    found = units(
        [
            _document("a", **_exporter("one")),
            _document("b"),
            _document("c", **_user({"Fn::ImportValue": "two"})),
            _document("d", **(_exporter("two") | _user({"Fn::ImportValue": "one"}))),
        ]
    )
    assert _names(found) == [["a.json", "c.json", "d.json"], ["b.json"]]


def test_the_stacks_of_an_assembly_are_one_unit(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "cdk.out").write_text('{"version":"48.0.0"}')
    documents = [
        Document(body={}, file=str(tmp_path / folder / f"{stack}.template.json"))
        for folder in ("one", "other")
        for stack in ("A", "B")
    ]
    assert [len(unit) for unit in units(documents)] == [2, 1, 1]


def test_what_is_malformed_is_a_unit():
    strange = [
        Document(body={"Resources": {"A": {"Type": "AWS::S3::Bucket", "Properties": []}}, "Outputs": 1}),
        Document(body={"Outputs": {"O": {"Export": {"Name": ["x"]}}}, "X": {"Fn::ImportValue": {"a": 1}}}),
    ]
    assert len(units(strange)) == 2
    assert units([]) == []
