from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_policy import review
from hyperpod_policy.assembly import read_stack

INNER = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}
HASH = "0123abcd" * 8


def _write(folder: Path, name: str, body: Any) -> Path:
    file = folder / name
    file.write_text(json.dumps(body))
    return file


def _parent(folder: Path, stack: dict[str, Any]) -> Path:
    _write(folder, "Inner.nested.template.json", INNER)
    body = {"Resources": {"Inner": {"Type": "AWS::CloudFormation::Stack", **stack}}}
    return _write(folder, "Outer.template.json", body)


def _url(key: str) -> dict[str, Any]:
    return {"TemplateURL": {"Fn::Sub": f"https://s3.${{AWS::Region}}.${{AWS::URLSuffix}}/assets/{key}.json"}}


def test_the_asset_manifest_names_nested_templates(tmp_path):
    outer = _parent(tmp_path, {"Properties": _url(HASH)})
    _write(
        tmp_path,
        "Outer.assets.json",
        {
            "files": {
                HASH: {
                    "source": {"path": "Inner.nested.template.json"},
                    "destinations": {"current": {"objectKey": f"{HASH}.json"}},
                },
                "other": {"source": {"path": "asset.zip"}, "destinations": {}},
            }
        },
    )
    document = read_stack(outer, region="us-west-2")
    assert document.nested["Inner"].body == INNER
    assert document.nested["Inner"].region == "us-west-2"
    assert document.nested["Inner"].file == str(tmp_path / "Inner.nested.template.json")


@pytest.mark.parametrize("file", ["manifest.json", "Outer.metadata.json"])
def test_metadata_of_the_legacy_synthesizer_names_nested_templates(tmp_path, file):
    key = "AssetParametersabcS3VersionKey"
    join = {"Fn::Join": ["", ["https://s3/", {"Fn::Select": [0, {"Fn::Split": ["||", {"Ref": key}]}]}]]}
    outer = _parent(tmp_path, {"Properties": {"TemplateURL": join}})
    entry = {
        "type": "aws:cdk:asset",
        "data": {"path": "Inner.nested.template.json", "s3KeyParameter": key, "sourceHash": HASH},
    }
    metadata = {"/Outer": [entry, {"type": "x"}]}
    manifest = {"artifacts": {"Outer": {"metadata": metadata}}}
    _write(tmp_path, file, manifest if file == "manifest.json" else metadata)
    assert read_stack(outer).nested["Inner"].body == INNER


def test_metadata_names_nested_templates(tmp_path):
    outer = _parent(
        tmp_path, {"Properties": _url("x"), "Metadata": {"aws:asset:path": "Inner.nested.template.json"}}
    )
    assert read_stack(outer).nested["Inner"].body == INNER


@pytest.mark.parametrize("metadata", [{}, {"aws:asset:path": "missing.json"}, "malformed"])
def test_a_nested_stack_that_is_not_found_is_said(tmp_path, metadata):
    outer = _parent(tmp_path, {"Properties": _url(HASH), "Metadata": metadata})
    document = read_stack(outer)
    assert document.nested == {}
    assert "nested stack Inner" in review(document).limits[0]


def test_a_template_that_is_no_object_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a mapping with Resources, got a list"):
        read_stack(_write(tmp_path, "Outer.template.json", []))
