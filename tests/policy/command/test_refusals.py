from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.json"], "missing.json: is not there"),
        ([], "there is no cdk.out here"),
        (["t.json", "--nonsense"], "unrecognized arguments: --nonsense; see hyperpod-review --help"),
        (["t.json", "--form", "json"], "unrecognized arguments: --form json"),
        (["t.json", "-f", "xml"], "invalid choice: 'xml'"),
        (["t.json", "--fail-on", "info"], "invalid choice: 'info'"),
        (["t.json", "-p", "A"], "must be NAME=VALUE, got 'A'"),
        (["t.json", "-p", "=a"], "must be NAME=VALUE, got '=a'"),
        (["t.json", "-p", "A=b"], "--parameter A: no template has it; parameters: none"),
        (["t.json", "-j", "-1"], "must be a number from 0 to 256, got '-1'"),
        (["t.json", "-j", "1000"], "must be a number from 0 to 256, got '1000'"),
        (["t.json", "--account", "12"], "must be the 12 digits of an account id, got '12'"),
        (["t.json", "--region", "mars"], "must be a Region such as us-west-2, got 'mars'"),
        (["t.json", "--rules", "BucketVersionning"], "did you mean BucketVersioning? --list-rules lists all"),
        (["t.json", "--rules", "netwrk"], "did you mean network?"),
        (["--explain", "Bucket"], "there is no rule 'Bucket'"),
        (["t.json", "-q", "-v"], "--quiet and --verbose exclude each other"),
        (
            ["t.json", "--acknowledgements", "a.yaml", "--no-acknowledgements"],
            "--acknowledgements and --no-acknowledgements exclude each other",
        ),
        (["t.json", "--acknowledgements", "a.yaml"], "a.yaml: is not there"),
        (["t.json", "--trust-map", "-f", "sarif"], "--trust-map has the formats text, json, html, got"),
        (["t.json", "--trust-map", "--baseline", "t.json"], "answer different questions"),
        (["t.json", "--output", "no/where"], "--output no/where cannot be written: No such file"),
        (["t.json", "--baseline", "missing.json"], "missing.json: is not there"),
        (
            ["t.json", "--baseline", "pod.yaml"],
            "--baseline compares templates, and one of the sides has none",
        ),
        (["broken.yaml"], "broken.yaml:3: a value is missing"),
        (
            ["cluster.yaml"],
            "cluster.yaml: describes a cluster, and is no CloudFormation template; synthesize it",
        ),
        (["request.json"], "request.json: describes a cluster"),
        (["empty"], "empty: holds no template and no manifest"),
    ],
)
def test_what_cannot_be_reviewed_gets_one_line_and_exit_2(run, save, folder, arguments, words):
    save("t.json", {"Resources": {}})
    save("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    save("broken.yaml", "Resources:\n  A: [\n")
    save("cluster.yaml", "name: a\ninstance_groups: []\n")
    save("request.json", {"ClusterName": "a", "InstanceGroups": []})
    (folder / "empty").mkdir()
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert line.startswith("hyperpod-review: ")
    assert words in line


SIZES = {"Type": "String", "AllowedValues": ["small", "large"]}


@pytest.mark.parametrize(
    ("declarations", "given", "allowed"),
    [
        ([SIZES], "large", None),
        ([SIZES], "huge", "small, large"),
        ([{"Type": "Number", "AllowedValues": [1, 2]}], "2", None),
        ([{"Type": "Number", "AllowedValues": [1, 2]}], "3", "1, 2"),
        ([{"Type": "String", "AllowedValues": [True, False]}], "true", None),
        ([{"Type": "String", "AllowedValues": list(range(10))}], "x", "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"),
        ([{"Type": "CommaDelimitedList", "AllowedValues": ["a", "b"]}], "a,b", None),
        ([{"Type": "String"}], "anything", None),
        ([{"Type": "String", "AllowedValues": "small"}], "huge", None),
        (["no declaration"], "huge", None),
        # Another template under review may allow it.
        ([SIZES, {"Type": "String", "AllowedValues": ["huge"]}], "huge", None),
        ([SIZES, {"Type": "String", "AllowedValues": ["small", "tiny"]}], "huge", "small, large, tiny"),
    ],
)
def test_a_value_must_be_one_that_a_template_allows(run, save, declarations, given, allowed):
    for number, declaration in enumerate(declarations):
        save(f"{number}.json", {"Parameters": {"Size": declaration}, "Resources": {}})
    ran = run(*(f"{number}.json" for number in range(len(declarations))), "-p", f"Size={given}")
    if allowed is None:
        assert ran.code == 0, ran.err
    else:
        assert ran.code == 2
        words = f"--parameter Size: got {given!r}, which its template refuses; allowed: {allowed}"
        assert ran.err == f"hyperpod-review: {words}\n"


def test_every_fault_of_an_acknowledgement_file_is_told_in_one_line(run, save):
    save("t.json", {"Resources": {}})
    save("a.yaml", "acknowledgements:\n- {id: A, resource: B, reason: ''}\n- {id: A}\n")
    ran = run("t.json", "--acknowledgements", "a.yaml")
    assert ran.code == 2
    (line,) = ran.err.splitlines()
    assert "a.yaml: acknowledgements[0].reason (line 2): needs a reason that a reviewer can judge" in line
    assert "a.yaml: acknowledgements[1] (line 3): has no 'resource'" in line


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_the_exit_codes(run, option):
    ran = run(option)
    assert ran.code == 0
    assert "exit codes: 0 clean, 1 findings" in " ".join(ran.out.split())


def test_the_version_is_that_of_the_distribution(run):
    from importlib.metadata import version

    assert run("--version").out == f"hyperpod-review {version('cdk-hyperpod')}\n"


def test_a_fault_of_its_own_does_not_look_like_findings(run, save, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by nothing")

    save("t.json", {"Resources": {}})
    monkeypatch.setattr("hyperpod_policy.command.run.units", broken)
    ran = run("t.json")
    assert ran.code == 2
    assert "ZeroDivisionError: by nothing" in ran.err
    assert ran.err.endswith("hyperpod-review: this is a fault of hyperpod-review itself, please report it\n")


@pytest.mark.parametrize("region", ["us-west-2", "us-gov-west-1", "us-isob-east-1", "eusc-de-east-1"])
def test_regions_of_every_partition_are_taken(run, save, region):
    save("t.json", {"Resources": {}})
    assert run("t.json", "--region", region, "--account", "111122223333").code == 0
