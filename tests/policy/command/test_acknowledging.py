from __future__ import annotations

import pytest

ACCEPTED = """
acknowledgements:
  - id: {id}
    resource: {resource}
    reason: versions are kept by the backup vault
    {more}
"""


@pytest.fixture
def accept(save):
    def write(rule_id="BucketVersioning", resource="Checkpoints", more="", file=".hyperpod-review.yaml"):
        return save(file, ACCEPTED.format(id=rule_id, resource=resource, more=more))

    return write


def test_an_acknowledged_finding_is_shown_with_its_reason_and_does_not_fail(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept()
    ran = run("t.json", "-f", "json")
    assert ran.code == 0
    (finding,) = ran.json["findings"]
    assert finding["outcome"] == "fail"
    assert finding["acknowledged"] == {
        "reason": "versions are kept by the backup vault",
        "by": ".hyperpod-review.yaml:3",
        "expires": None,
    }
    text = run("t.json").out
    assert "acknowledged: BucketVersioning: " in text
    assert "reason: versions are kept by the backup vault (.hyperpod-review.yaml:3)" in text
    assert text.splitlines()[-1].startswith("1 acknowledged; ")
    assert run("t.json", "-q").out == ""


def test_another_file_is_named(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept(file="accepted.yaml")
    assert run("t.json").code == 1
    assert run("t.json", "--acknowledgements", "accepted.yaml").code == 0


def test_nothing_is_accepted_if_asked(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept()
    assert run("t.json", "--no-acknowledgements").code == 1


def test_the_id_may_be_written_as_in_a_cdk_app(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept("HyperPodChecks::BucketVersioning")
    assert run("t.json").code == 0


def test_an_expired_one_counts_no_more_and_is_reported(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept(more="expires: 2020-01-31")
    ran = run("t.json", "-f", "json")
    assert ran.code == 1
    first, second = ran.json["findings"]
    assert (first["rule_id"], first["acknowledged"]) == ("BucketVersioning", None)
    assert second["rule_id"] == "AcknowledgementExpired"
    assert second["message"].startswith("acknowledgement of BucketVersioning expired on 2020-01-31")
    assert (second["file"], second["line"], second["severity"]) == (".hyperpod-review.yaml", 3, "warning")


def test_one_that_will_expire_counts_until_then(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept(more="expires: 9999-12-31")
    ran = run("t.json", "-f", "json")
    assert ran.code == 0
    assert ran.json["findings"][0]["acknowledged"]["expires"] == "9999-12-31"


@pytest.mark.parametrize(
    ("rule_id", "resource", "more", "words"),
    [
        ("BucketVersioning", "Scripts", "", "BucketVersioning finds nothing on Scripts"),
        (
            "BucketVersionning",
            "Checkpoints",
            "",
            "there is no rule BucketVersionning; did you mean BucketVer",
        ),
        ("BucketVersioning", "Scripts", "file: t.json", "BucketVersioning finds nothing on Scripts"),
        ("BucketVersioning", "Scripts", "file: other.json", None),
        ("GroupSettings", "Cluster", "", None),
    ],
)
def test_one_without_finding_is_reported(run, save, accept, template, rule_id, resource, more, words):
    """Unless what it is about was not reviewed: another template, or an update without a baseline."""
    save("t.json", template)
    accept(rule_id, resource, more)
    ran = run("t.json", "-f", "json")
    assert [finding["message"][: len(words or "")] for finding in ran.json["findings"]] == (
        [] if words is None else [words]
    )
    assert set(ran.rule_ids) <= {"AcknowledgementUnmatched"}
    assert ran.code == 0
    assert run("t.json", "--fail-on", "warning").code == int(words is not None)


def test_one_about_another_template_accepts_nothing(run, save, accept, unversioned):
    save("a/t.json", unversioned)
    accept(more="file: b/t.json")
    assert run("a/t.json").code == 1
    accept(more="file: a/t.json")
    assert run("a/t.json").code == 0


def test_rules_that_are_not_applied_miss_no_acknowledgement(run, save, accept, unversioned):
    save("t.json", unversioned)
    accept()
    assert run("t.json", "--rules", "network", "-f", "json").rule_ids == []


def test_what_a_cdk_app_acknowledged_is_honoured(run, save, unversioned):
    save("cdk.out/S.template.json", unversioned)
    save(
        "cdk.out/manifest.json",
        {
            "version": "48.0.0",
            "artifacts": {
                "S": {
                    "type": "aws:cloudformation:stack",
                    "environment": "aws://unknown-account/unknown-region",
                    "properties": {"templateFile": "S.template.json"},
                    "metadata": {
                        "/S/Checkpoints/Resource": [
                            {"type": "aws:cdk:logicalId", "data": "Checkpoints"},
                            {
                                "type": "aws:cdk:acknowledged-rules",
                                "data": {"HyperPodChecks::BucketVersioning": "a backup vault"},
                            },
                        ]
                    },
                }
            },
        },
    )
    ran = run("cdk.out", "-f", "json")
    assert ran.code == 0
    assert ran.json["findings"][0]["acknowledged"] == {
        "reason": "a backup vault",
        "by": "S/Checkpoints/Resource",
        "expires": None,
    }
    sarif = run("cdk.out", "-f", "sarif").json["runs"][0]["results"][0]
    assert sarif["suppressions"][0]["kind"] == "inSource"
    assert run("cdk.out", "--no-acknowledgements").code == 1
