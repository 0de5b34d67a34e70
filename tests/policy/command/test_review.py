from __future__ import annotations

import copy
import json

import pytest


def test_a_hardened_template_is_clean(run, save, template):
    save("t.json", template)
    ran = run("t.json", "--format", "json")
    assert (ran.code, ran.json["findings"], ran.err) == (0, [], "")
    assert ran.json["summary"]["pass"] > 30


def test_a_finding_says_all_that_the_issue_asks_for(run, save, unversioned):
    save("t.json", unversioned)
    ran = run("t.json", "--format", "json")
    (finding,) = ran.json["findings"]
    assert ran.code == 1
    line = (
        json.dumps(unversioned, indent=1)[
            : json.dumps(unversioned, indent=1).index('"Checkpoints": {')
        ].count("\n")
        + 1
    )
    assert {
        name: finding[name]
        for name in ("rule_id", "severity", "outcome", "resource", "path", "file", "acknowledged")
    } == {
        "rule_id": "BucketVersioning",
        "severity": "error",
        "outcome": "fail",
        "resource": "Checkpoints",
        "path": "VersioningConfiguration.Status",
        "file": "t.json",
        "acknowledged": None,
    }
    assert finding["line"] >= line
    assert "versioning of checkpoint bucket Checkpoints is absent" in finding["message"]
    assert finding["fix"].startswith("set VersioningConfiguration.Status to Enabled")
    assert finding["why"]
    assert finding["source"]
    assert finding["title"] == "checkpoint and lifecycle-script buckets keep old versions"


def test_text_ends_with_a_summary(run, save, unversioned):
    save("t.json", unversioned)
    ran = run("t.json")
    assert ran.out.startswith("error: BucketVersioning: ")
    assert ran.out.splitlines()[-1].startswith("1 error; ")
    assert "(1 template by " in ran.out.splitlines()[-1]
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("name", ["cdk.out", "."])
def test_a_folder_is_searched(run, save, unversioned, name):
    save("cdk.out/Some.template.json", unversioned)
    ran = run(name, "--format", "json")
    assert ran.rule_ids == ["BucketVersioning"]


def test_cdk_out_is_the_default(run, save, unversioned):
    save("cdk.out/Some.template.json", unversioned)
    assert run("--format", "json").rule_ids == ["BucketVersioning"]


def test_a_template_in_yaml_is_reviewed(run, save, unversioned):
    import yaml

    save("t.yaml", yaml.safe_dump(unversioned))
    ran = run("t.yaml", "--format", "json")
    assert ran.rule_ids == ["BucketVersioning"]
    assert ran.json["findings"][0]["line"] > 1


def test_a_template_without_cluster_does_not_look_like_a_pass(run, save):
    save("t.json", {"Resources": {"B": {"Type": "AWS::S3::Bucket"}}})
    ran = run("t.json")
    assert ran.code == 0
    assert ran.out.startswith("nothing was judged: no AWS::SageMaker::Cluster or training job is at hand")


@pytest.mark.parametrize(
    ("severity", "fail_on", "code"),
    [
        ("error", "error", 1),
        ("error", "warning", 1),
        ("error", "advice", 1),
        ("error", "never", 0),
        ("warning", "error", 0),
        ("warning", "warning", 1),
        ("warning", "advice", 1),
        ("undetermined", "advice", 0),
    ],
)
def test_fail_on_sets_the_least_severity_that_counts(run, save, template, severity, fail_on, code):
    bucket = template["Resources"]["Checkpoints"]["Properties"]
    if severity == "error":
        del bucket["VersioningConfiguration"]
    elif severity == "warning":
        del bucket["LoggingConfiguration"]
    else:
        bucket["VersioningConfiguration"]["Status"] = {"Fn::ImportValue": "status"}
    save("t.json", template)
    ran = run("t.json", "--fail-on", fail_on, "--format", "json")
    assert ran.code == code
    assert ran.json["summary"][severity] == 1


def test_quiet_writes_a_line_for_each_open_finding(run, save, unversioned):
    save("t.json", unversioned)
    ran = run("t.json", "-q")
    (line,) = ran.out.splitlines()
    assert line.startswith("t.json:")
    assert ": error: BucketVersioning: Checkpoints (AWS::S3::Bucket) VersioningConfiguration.Status: " in line


def test_verbose_lists_kept_promises(run, save, template):
    save("t.json", template)
    assert "pass: BucketVersioning: Checkpoints (AWS::S3::Bucket)" in run("t.json", "--verbose").out
    assert "pass: " not in run("t.json").out
    passes = run("t.json", "--verbose", "--format", "json").json["passes"]
    assert {"BucketVersioning", "EfaSelfTraffic"} <= {entry["rule_id"] for entry in passes}


@pytest.mark.parametrize("output_format", ["text", "json", "sarif", "markdown"])
def test_a_report_goes_to_a_file_and_its_summary_to_the_terminal(
    run, save, folder, unversioned, output_format
):
    save("t.json", unversioned)
    direct = run("t.json", "--format", output_format)
    ran = run("t.json", "--format", output_format, "--output", "report")
    assert ran.code == 1
    assert ran.out.startswith("1 error; ")
    assert ran.out.endswith("; report: report\n")
    assert (folder / "report").read_text() == direct.out
    assert run("t.json", "--output", "report", "-q").out == ""


def test_the_same_input_gives_the_same_report(run, save, unversioned):
    save("t.json", unversioned)
    for output_format in ("text", "json", "sarif", "markdown"):
        assert run("t.json", "-f", output_format).out == run("t.json", "-f", output_format).out


def test_only_some_rules_are_applied(run, save, unversioned):
    del unversioned["Resources"]["Checkpoints"]["Properties"]["LoggingConfiguration"]
    save("t.json", unversioned)
    assert run("t.json", "-f", "json").rule_ids == ["BucketVersioning", "BucketAccessLogs"]
    assert run("t.json", "-f", "json", "--rules", "bucketaccesslogs").rule_ids == ["BucketAccessLogs"]
    assert run("t.json", "-f", "json", "--rules", "network, storage").rule_ids == [
        "BucketVersioning",
        "BucketAccessLogs",
    ]
    assert run("t.json", "-f", "json", "--rules", "network", "--rules", "identity").rule_ids == []


def test_a_parameter_is_given_a_value(run, save, template):
    template["Parameters"] = {"Versions": {"Type": "String", "AllowedValues": ["Enabled", "Suspended"]}}
    status = template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    status["Status"] = {"Ref": "Versions"}
    save("t.json", template)
    (finding,) = run("t.json", "-f", "json").json["findings"]
    assert finding["when"] == "parameter Versions is Suspended"
    assert run("t.json", "-f", "json", "-p", "Versions=Enabled").rule_ids == []
    (finding,) = run("t.json", "-f", "json", "--parameter", "Versions=Suspended").json["findings"]
    assert finding["when"] == ""


def test_a_region_decides_what_depends_on_it(run, save, template):
    template["Conditions"] = {"Away": {"Fn::Equals": [{"Ref": "AWS::Region"}, "eu-west-1"]}}
    status = template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    status["Status"] = {"Fn::If": ["Away", "Suspended", "Enabled"]}
    save("t.json", template)
    rules = ("--rules", "BucketVersioning", "-f", "json")
    assert run("t.json", *rules, "--region", "us-west-2").rule_ids == []
    assert run("t.json", *rules, "--region", "eu-west-1").rule_ids == ["BucketVersioning"]


def test_a_bucket_is_named_as_one_of_checkpoints(run, save, template):
    template["Resources"]["Other"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "weights"}}
    save("t.json", template)
    assert run("t.json", "-f", "json").rule_ids == []
    for name in ("Other", "weights"):
        ran = run("t.json", "-f", "json", "--checkpoint-bucket", name)
        assert "BucketVersioning" in ran.rule_ids
        assert {finding["resource"] for finding in ran.json["findings"]} == {"Other"}


def test_a_bucket_that_no_template_makes_is_said(run, save, template):
    save("t.json", template)
    ran = run("t.json", "--checkpoint-bucket", "Chekpoints")
    assert "not reviewed: checkpoint bucket Chekpoints: no template makes a bucket with that" in ran.out


def test_two_templates_are_counted_and_told_apart(run, save, template, unversioned):
    save("a.json", unversioned)
    save("b.json", unversioned)
    ran = run("b.json", "a.json", "-f", "json")
    assert [finding["file"] for finding in ran.json["findings"]] == ["b.json", "a.json"]
    assert ran.json["summary"]["templates"] == 2


def test_a_baseline_adds_what_the_update_would_break(run, save, template):
    save("old.json", template)
    after = copy.deepcopy(template)
    after["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]["InstanceType"] = "ml.p4d.24xlarge"
    save("new.json", after)
    assert "GroupSettings" not in run("new.json", "-f", "json").rule_ids
    ran = run("--baseline", "old.json", "new.json", "-f", "json")
    assert ran.code == 1
    assert "GroupSettings" in ran.rule_ids
    unchanged = run("--baseline", "old.json", "old.json", "-f", "json")
    assert (unchanged.code, unchanged.rule_ids) == (0, [])


def test_a_manifest_is_counted(run, save):
    save("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    ran = run("pod.yaml", "-f", "json")
    assert (ran.code, ran.json["summary"]["manifests"]) == (0, 1)
