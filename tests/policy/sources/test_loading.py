from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from hyperpod_policy.sources import UnusableInputError, load
from hyperpod_policy.sources import folder as folder_module

BUCKET = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "b"}}}}
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"


def write(folder: Path, **files: object) -> Path:
    for name, content in files.items():
        file = folder / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return folder


def names(found) -> list[str]:
    return [Path(document.file).name for document in found.documents]


def test_a_file_is_a_template_with_lines(tmp_path):
    file = write(tmp_path, a_json=BUCKET) / "a.json"
    found = load([file], region="us-west-2", account="111122223333", parameters={"P": "x"})
    (document,) = found.documents
    assert document.body == BUCKET
    assert (document.file, document.region, document.account) == (str(file), "us-west-2", "111122223333")
    assert document.parameters == {"P": "x"}
    assert document.line_of("Bucket") == 3
    assert document.line_of("Bucket", ("BucketName",)) == 6
    assert document.line_of("Bucket", ("Tags", 0)) == 5
    assert (found.manifests, found.limits, found.acknowledgements) == ((), (), ())


@pytest.mark.parametrize(
    "name", ["t.yaml", "t.template", "t.txt", "t"], ids=lambda name: name.partition(".")[2] or "no suffix"
)
@pytest.mark.parametrize("text", [json.dumps(BUCKET), "Resources:\n  Bucket: {Type: 'AWS::S3::Bucket'}\n"])
def test_a_template_is_known_by_what_it_holds(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (document,) = load([tmp_path / name]).documents
    assert document.body["Resources"]["Bucket"]["Type"] == "AWS::S3::Bucket"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.json", '{"Resources": {},}', r"t\.json:1: is no JSON"),
        ("t.json", "{Resources: {}}", r"t\.json:1: is no JSON"),
        ("t.template", '{"Resources": {},}', r"t\.template:1: is no JSON"),
    ],
)
def test_json_with_a_mistake_is_called_json(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(UnusableInputError, match=words):
        load([tmp_path / name])


def test_yaml_in_braces_is_yaml(tmp_path):
    (tmp_path / "t.yaml").write_text("{Resources: {}}  # nothing yet")
    assert load([tmp_path / "t.yaml"]).documents[0].body == {"Resources": {}}


def test_a_name_ending_in_json_does_not_make_yaml_unreadable(tmp_path):
    (tmp_path / "t.json").write_text("Resources: {}")
    assert load([tmp_path / "t.json"]).documents[0].body == {"Resources": {}}


def test_standard_input_is_read(tmp_path):
    found = load(["-"], standard_input=io.BytesIO(b"Resources:\n  A: {Type: T}\n"))
    (document,) = found.documents
    assert (document.file, document.line_of("A")) == ("<stdin>", 2)


def test_what_get_template_prints_is_unwrapped():
    for body in (BUCKET, json.dumps(BUCKET), "Resources:\n  Bucket:\n    Type: AWS::S3::Bucket\n"):
        printed = json.dumps({"TemplateBody": body, "StagesAvailable": ["Original"]}, indent=1)
        (document,) = load(["-"], standard_input=io.BytesIO(printed.encode())).documents
        assert document.body["Resources"]["Bucket"]["Type"] == "AWS::S3::Bucket"
        assert document.line_of("Bucket") == {True: 4}.get(isinstance(body, dict), document.line_of("Bucket"))


def test_a_path_given_twice_is_read_once(tmp_path):
    write(tmp_path, a_json=BUCKET)
    assert names(load([tmp_path / "a.json", tmp_path, tmp_path / ".." / tmp_path.name / "a.json"])) == [
        "a.json"
    ]


def test_a_serverless_template_is_left_as_it_is(tmp_path):
    body = {
        "Transform": "AWS::Serverless-2016-10-31",
        "Globals": {"Function": {"Timeout": 5}},
        "Resources": {"F": {"Type": "AWS::Serverless::Function", "Properties": {"CodeUri": "src"}}},
    }
    assert load([write(tmp_path, a_json=body) / "a.json"]).documents[0].body == body


def test_a_folder_is_searched(tmp_path):
    write(
        tmp_path,
        b_template=BUCKET,
        sub__a_yaml="Resources: {A: {Type: T}}",
        sub__pods_yml=f"{POD}---\n{POD}",
        package_json={"name": "x"},
        values_yaml="a: 1",
        empty_json="",
        readme_md="# x",
    )
    write(tmp_path / "node_modules", a_json=BUCKET)
    write(tmp_path / ".hidden", a_json=BUCKET)
    write(tmp_path / "asset.0123", a_json=BUCKET)
    found = load([tmp_path])
    assert names(found) == ["b.template", "a.yaml"]
    assert [str(manifest) for manifest in found.manifests] == ["Pod/a", "Pod/a"]
    (limit,) = found.limits
    passed_over = ("empty.json", "package.json", "values.yaml")
    assert limit == f"neither a template nor a manifest: {', '.join(str(tmp_path / n) for n in passed_over)}"


def test_files_that_are_neither_are_counted_where_they_are_many(tmp_path):
    write(tmp_path, a_json=BUCKET, **{f"x{number}_json": {} for number in range(10)})
    (limit,) = load([tmp_path]).limits
    assert limit.endswith("x2.json and 7 more")


@pytest.mark.parametrize("content", [None, {"name": "x"}, "a: 1", ""])
def test_a_folder_without_templates_is_refused(tmp_path, content):
    if content is not None:
        write(tmp_path, a_json=content)
    with pytest.raises(UnusableInputError, match="holds no template and no manifest"):
        load([tmp_path])


def test_a_broken_file_in_a_folder_is_said_and_a_broken_template_refused(tmp_path):
    write(tmp_path, a_json=BUCKET, chart_yaml="kind: {{ .Values.kind }}\na: {")
    (limit,) = load([tmp_path]).limits
    assert limit.startswith(f"{tmp_path / 'chart.yaml'}:")
    write(tmp_path, broken_yaml="Resources:\n  A:\n    Type: AWS::S3::Bucket\n   B: {")
    with pytest.raises(UnusableInputError, match=r"broken\.yaml:4: "):
        load([tmp_path])


def test_what_is_no_regular_file_in_a_folder_is_passed_over(tmp_path):
    import os

    write(tmp_path, a_json=BUCKET)
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "gone.json").symlink_to("nowhere.json")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert names(load([tmp_path])) == ["a.json"]


def test_a_folder_of_too_many_files_is_refused(tmp_path, monkeypatch):
    write(tmp_path, a_json=BUCKET, b_json=BUCKET)
    monkeypatch.setattr(folder_module, "MAX_FILES", 1)
    with pytest.raises(UnusableInputError, match="holds more than 1 files named"):
        load([tmp_path])


def _stack(url, **more):
    return {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url, **more}}


@pytest.mark.parametrize("named", [["."], ["outer.yaml"], ["outer.yaml", "in/inner.json"]])
def test_nested_stacks_are_read_by_their_path(tmp_path, named):
    write(
        tmp_path,
        outer_yaml={"Resources": {"In": _stack("./in/inner.json"), "S3": _stack("https://s3/in/inner.json")}},
        in__inner_json=BUCKET,
    )
    found = load([tmp_path / name for name in named], parameters={"P": "x"})
    (document,) = found.documents
    assert document.file == str(tmp_path / "outer.yaml")
    assert list(document.nested) == ["In"]
    inner = document.nested["In"]
    assert (inner.body, inner.parameters, inner.line_of("Bucket")) == (BUCKET, {}, 3)


@pytest.mark.parametrize(
    "url", ["missing.yaml", "", ".", "x" * 5000, "a\0b", 5, None, {"Ref": "Url"}, ["a"], "s3://b/inner.json"]
)
def test_a_nested_stack_that_is_not_at_hand_stays_out(tmp_path, url):
    write(tmp_path, outer_json={"Resources": {"In": _stack(url), "B": {"Type": "T"}}})
    assert load([tmp_path]).documents[0].nested == {}


def test_templates_that_nest_each_other_are_refused(tmp_path):
    write(
        tmp_path,
        a_json={"Resources": {"B": _stack("b.json")}},
        b_json={"Resources": {"A": _stack("a.json")}},
    )
    with pytest.raises(UnusableInputError, match=r"nested stack [AB] nests itself"):
        load([tmp_path])


def test_templates_that_nest_many_others_many_times_are_refused(tmp_path):
    for level in range(5):
        body = {"Resources": {f"S{number}": _stack(f"t{level + 1}.json") for number in range(20)}}
        write(tmp_path, **{f"t{level}_json": body})
    write(tmp_path, t5_json=BUCKET)
    with pytest.raises(UnusableInputError, match="has more than 1000 nested stacks"):
        load([tmp_path / "t0.json"])


def test_templates_that_nest_a_long_chain_are_refused(tmp_path):
    for level in range(30):
        write(tmp_path, **{f"t{level}_json": {"Resources": {"S": _stack(f"t{level + 1}.json")}}})
    write(tmp_path, t30_json=BUCKET)
    with pytest.raises(UnusableInputError, match="nests stacks more than 20 levels deep"):
        load([tmp_path / "t0.json"])


def test_manifests_keep_their_lines(tmp_path):
    text = (
        f"{POD}---\n{{}}\n---\napiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: Service}}\n- x\n"
    )
    (tmp_path / "m.yaml").write_text(text.replace("{}\n", "# nothing\n"))
    pod, service = load([tmp_path / "m.yaml"]).manifests
    assert (pod.kind, pod.name, pod.namespace, pod.line_of(("metadata", "name"))) == ("Pod", "a", None, 3)
    assert (service.kind, service.name, service.line_of(("kind",))) == ("Service", "", 10)


def test_a_document_that_is_neither_among_manifests_is_refused_with_its_line(tmp_path):
    (tmp_path / "m.yaml").write_text(f"{POD}---\na: 1\n")
    with pytest.raises(UnusableInputError, match=r"m\.yaml:5: is neither a CloudFormation template"):
        load([tmp_path / "m.yaml"])


def test_a_manifest_in_json_is_read(tmp_path):
    write(tmp_path, m_json={"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}})
    (manifest,) = load([tmp_path / "m.json"]).manifests
    assert (str(manifest), manifest.line_of(("kind",))) == ("Pod/a-", 3)
