from __future__ import annotations

import pytest

ID = "SlurmWayBack"
DATABASE = {
    "Endpoint": "db.example.com",
    "SecretArn": "arn:aws:secretsmanager:us-west-2:1:secret:x",
    "Name": "a",
}


def _cluster(template):
    return template["Resources"]["Cluster"]["Properties"]


def test_the_same_template_complies(judge_update, baseline, template):
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


def test_the_way_to_the_api_complies(judge_update, baseline, template):
    for group in _cluster(baseline)["InstanceGroups"]:
        del group["SlurmConfig"]
    assert judge_update(ID, baseline, template).findings == ()


def test_the_way_back_fails_for_each_group(judge_update, baseline, template):
    for group in _cluster(template)["InstanceGroups"]:
        del group["SlurmConfig"]
    failures = judge_update(ID, baseline, template).failures
    assert len(failures) == 2
    assert all("cannot go back to lifecycle scripts" in finding.message for finding in failures)


def test_a_new_accounting_database_complies(judge_update, baseline, template):
    _cluster(template)["Orchestrator"] = {"Slurm": {"AccountingDatabase": DATABASE}}
    assert judge_update(ID, baseline, template).findings == ()


@pytest.mark.parametrize(
    ("after", "words"),
    [(None, "the accounting database is gone"), ({**DATABASE, "Name": "b"}, "changes from a to b")],
)
def test_an_accounting_database_stays(judge_update, baseline, template, after, words):
    _cluster(baseline)["Orchestrator"] = {"Slurm": {"AccountingDatabase": DATABASE}}
    _cluster(template)["Orchestrator"] = {"Slurm": {} if after is None else {"AccountingDatabase": after}}
    (finding,) = judge_update(ID, baseline, template).failures
    assert words in finding.message


def test_a_database_from_a_parameter_is_undetermined(judge_update, baseline, template):
    template["Parameters"] = {"Host": {"Type": "String"}}
    _cluster(baseline)["Orchestrator"] = {"Slurm": {"AccountingDatabase": DATABASE}}
    after = {**DATABASE, "Endpoint": {"Ref": "Host"}}
    _cluster(template)["Orchestrator"] = {"Slurm": {"AccountingDatabase": after}}
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"
