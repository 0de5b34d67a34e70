from __future__ import annotations

import subprocess
import sys

import pytest

from hyperpod_policy.sources import load
from hyperpod_policy.sources.language_extensions import expanded

LOOP = """\
Transform: {transform}
Parameters:
  Names: {{Type: CommaDelimitedList, Default: "x,y"}}
  Unknown: {{Type: "AWS::SSM::Parameter::Value<List<String>>"}}
Resources:
  Plain: {{Type: AWS::S3::Bucket}}
  Fn::ForEach::Literal:
    - Id
    - [A, B]
    - Bucket${{Id}}:
        Type: AWS::S3::Bucket
        Properties: {{BucketName: !Sub "n-${{Id}}"}}
  Fn::ForEach::Parameter:
    - Id
    - !Ref Names
    - P&{{Id}}:
        Type: AWS::S3::Bucket
        DependsOn: !Sub "Bucket${{Id}}"
  Fn::ForEach::Outer:
    - One
    - [A, B]
    - Fn::ForEach::Inner:
      - Two
      - [C, D]
      - N${{One}}In${{Two}}: {{Type: AWS::S3::Bucket}}
  Fn::ForEach::Deployed:
    - Id
    - !Ref Unknown
    - S&{{Id}}: {{Type: AWS::S3::Bucket}}
"""


def _load(tmp_path, text):
    file = tmp_path / "t.yaml"
    file.write_text(text)
    return load([file])


@pytest.mark.parametrize(
    "transform", ["AWS::LanguageExtensions", "[AWS::LanguageExtensions, AWS::Serverless-2016-10-31]"]
)
def test_loops_are_written_out_and_stand_where_the_loop_is(tmp_path, transform):
    (document,) = _load(tmp_path, LOOP.format(transform=transform)).documents
    resources = document.body["Resources"]
    lines = {name: document.line_of(name, ("BucketName",)) for name in resources}
    assert lines == {
        "Plain": 6,
        **dict.fromkeys(("BucketA", "BucketB"), 7),
        **dict.fromkeys(("Px", "Py"), 13),
        **dict.fromkeys(("NAInC", "NAInD", "NBInC", "NBInD"), 19),
        "Fn::ForEach::Deployed": 26,
    }
    assert resources["BucketB"]["Properties"] == {"BucketName": "n-B"}
    assert str(document.body["Transform"]) == str(transform) or isinstance(document.body["Transform"], list)


def test_what_is_repeated_at_deployment_only_stays_and_is_said_by_the_review(tmp_path):
    from hyperpod_policy import review

    documents = _load(tmp_path, LOOP.format(transform="AWS::LanguageExtensions")).documents
    (limit,) = review(documents).limits
    assert limit.startswith("Fn::ForEach::Deployed of ")


def test_without_the_transform_nothing_is_written_out(tmp_path):
    (document,) = _load(tmp_path, LOOP.format(transform="AWS::Serverless-2016-10-31")).documents
    assert "Fn::ForEach::Literal" in document.body["Resources"]


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ([1, 2], "cannot be expanded: Error transforming template: Fn::ForEach values must be a list"),
        (["Id", ["a", "a"], {"X": {"Type": "T"}}], "cannot be expanded: Error transforming template: Dupl"),
        (["Id", [{"Fn::Nope": 1}], {"X${Id}": {"Type": "T"}}], "cannot be expanded: "),
        (["Id", ["a"], []], "cannot be expanded: "),
        (None, "cannot be expanded: "),
        (
            ["A", ["x"] * 300, {"Fn::ForEach::I": ["B", ["x"] * 300, {"X${A}${B}": {"Type": "T"}}]}],
            "has more than 50000 values with its loops written out",
        ),
        (
            ["A", {"Ref": "Long"}, {"Fn::ForEach::I": ["B", {"Ref": "Long"}, {"X${A}${B}": {}}]}],
            "has more than 50000 values with its loops written out",
        ),
    ],
)
def test_a_loop_that_fails_stays_and_is_said(loop, words):
    body = {
        "Transform": "AWS::LanguageExtensions",
        "Parameters": {"Long": {"Type": "CommaDelimitedList", "Default": ",".join("x" * 400)}},
        "Resources": {"Fn::ForEach::L": loop},
    }
    found = expanded(body, None, file="t.json")
    assert found.body == body
    assert found.limits[0].startswith(f"Fn::ForEach of t.json: {words}")


def test_only_loops_import_cfn_lint_and_only_yaml_imports_pyyaml(tmp_path):
    """In a fresh interpreter: here, other tests have imported everything."""
    (tmp_path / "plain.json").write_text('{"Resources": {}}')
    (tmp_path / "plain.yaml").write_text("Transform: AWS::LanguageExtensions\nResources: {}")
    (tmp_path / "loop.yaml").write_text(LOOP.format(transform="AWS::LanguageExtensions"))
    code = (
        "import sys; from hyperpod_policy.sources import load\n"
        "for name in ('plain.json', 'plain.yaml', 'loop.yaml'):\n"
        "    load([f'{sys.argv[1]}/{name}'])\n"
        "    print(*(module in sys.modules for module in ('yaml', 'cfnlint', 'rich', 'pydantic', 'aws_cdk')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    heavy = [line.split() for line in done.stdout.splitlines()]
    assert heavy[0] == ["False"] * 5
    assert heavy[1] == ["True", "False", "False", "False", "False"]
    assert heavy[2][:2] == ["True", "True"]
