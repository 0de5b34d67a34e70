from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_policy.sources import UnusableInputError, load

BUCKET = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}


def _stack(template: Any = "A.template.json", environment: Any = "aws://1/r", **more: Any) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": environment,
        "properties": {"templateFile": template, **more.pop("properties", {})},
        **more,
    }


def _assembly(folder: Path, artifacts: Any, **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}))
    for name, body in {"A_template_json": BUCKET, **files}.items():
        (folder / name.replace("_", ".")).write_text(json.dumps(body))
    return folder


@pytest.mark.parametrize(
    ("environment", "account", "region"),
    [
        ("aws://111122223333/us-west-2", "111122223333", "us-west-2"),
        ("aws://unknown-account/us-west-2", "given", "us-west-2"),
        ("aws://111122223333/unknown-region", "111122223333", "given"),
        ("nonsense", "given", "given"),
        (None, "given", "given"),
        ([], "given", "given"),
    ],
)
def test_a_stack_has_the_environment_of_its_artifact_or_what_is_given(tmp_path, environment, account, region):
    _assembly(tmp_path, {"A": _stack(environment=environment)})
    (document,) = load([tmp_path], region="given", account="given").documents
    assert (document.account, document.region) == (account, region)


def test_a_stack_has_the_parameters_that_its_artifact_gives(tmp_path):
    _assembly(tmp_path, {"A": _stack(properties={"parameters": {"P": "a", "Q": "b", "R": {}}})})
    assert load([tmp_path], parameters={"Q": "c"}).documents[0].parameters == {"P": "a", "Q": "c"}


def test_a_stack_without_resources_is_read(tmp_path):
    _assembly(tmp_path, {"A": _stack()}, A_template_json={"Rules": {}})
    assert load([tmp_path]).documents[0].body == {"Rules": {}}


def test_assemblies_that_hold_each_other_are_read_once(tmp_path):
    nested = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Prod"}}
    back = {"type": "cdk:cloud-assembly", "properties": {"directoryName": ".."}}
    _assembly(tmp_path, {"A": _stack(), "Prod": nested})
    _assembly(tmp_path / "assembly-Prod", {"A": _stack(), "Up": back})
    assert len(load([tmp_path]).documents) == 2


def test_an_assembly_within_a_folder_is_found(tmp_path):
    _assembly(tmp_path / "cdk.out", {"A": _stack(environment="aws://1/us-west-2")}, tree_json={})
    (tmp_path / "b.json").write_text(json.dumps(BUCKET))
    found = load([tmp_path])
    assert [document.region for document in found.documents] == [None, "us-west-2"]
    assert found.limits == ()


@pytest.mark.parametrize(
    ("artifacts", "words"),
    [
        ({"A": _stack("B.template.json")}, "names 'B.template.json' for stack 'A', which is not there"),
        ({"A": _stack(None)}, "names no template for stack 'A'"),
        ({"A": _stack("x\0y")}, "which is not there"),
        ({}, "is a cloud assembly without stacks"),
        ({"A": 5, "B": {"type": "cdk:tree"}}, "is a cloud assembly without stacks"),
        (
            {"P": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "gone"}}},
            "manifest.json: is not there",
        ),
    ],
)
def test_a_broken_assembly_is_refused(tmp_path, artifacts, words):
    with pytest.raises(UnusableInputError) as refused:
        load([_assembly(tmp_path, artifacts)])
    assert words in str(refused.value)


def test_a_manifest_of_something_else_is_passed_over(tmp_path):
    _assembly(tmp_path, ["not", "artifacts"])
    assert len(load([tmp_path]).documents) == 1


@pytest.mark.parametrize(
    "report",
    [
        [],
        {"pluginReports": 5},
        {"pluginReports": [5, {"suppressedViolations": {}}, {"suppressedViolations": [5, {}]}]},
        {
            "pluginReports": [
                {
                    "suppressedViolations": [
                        {"acknowledgedId": "HyperPodChecks::X", "violatingConstructs": [{}]}
                    ]
                }
            ]
        },
    ],
)
@pytest.mark.parametrize(
    "metadata", [[], {"/A": 5}, {"/A": [5, {"type": "aws:cdk:acknowledged-rules", "data": 5}]}]
)
def test_reports_and_metadata_of_another_shape_acknowledge_nothing(tmp_path, report, metadata):
    _assembly(tmp_path, {"A": _stack(metadata=metadata)}, **{"validation-report_json": report})
    assert load([tmp_path]).acknowledgements == ()


def test_a_report_of_another_machine_is_understood_by_file_name_and_logical_id(tmp_path):
    entry = {"type": "aws:cdk:logicalId", "data": "Bucket"}
    violation = {
        "acknowledgedId": "HyperPodChecks::BucketVersioning",
        "reason": "why",
        "acknowledgedAt": "A",
        "violatingConstructs": [
            {
                "constructPath": "unknown",
                "cloudFormationResource": {"templatePath": "C:\\x\\A.template.json", "logicalId": "Bucket"},
            }
        ],
    }
    _assembly(
        tmp_path,
        {"A": _stack(metadata={"/A/Bucket": [entry]})},
        **{"validation-report_json": {"pluginReports": [{"suppressedViolations": [violation]}]}},
    )
    (found,) = load([tmp_path]).acknowledgements
    assert (found.rule_id, found.resource, found.by) == ("BucketVersioning", "Bucket", "A")
    assert found.file == str(tmp_path / "A.template.json")


@pytest.mark.parametrize(
    "assets",
    [[], {"files": []}, {"files": {"a": 5, "b": {"source": 5}, "c": {"source": {"path": 5}}}}],
)
def test_asset_manifests_of_another_shape_name_nothing(tmp_path, assets):
    body = {
        "Resources": {
            "In": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://a"}}
        }
    }
    _assembly(tmp_path, {"A": _stack()}, A_template_json=body, A_assets_json=assets)
    assert load([tmp_path]).documents[0].nested == {}
