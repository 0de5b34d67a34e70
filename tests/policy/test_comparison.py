from __future__ import annotations

import copy
import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest
import yaml

import hyperpod_policy.updates
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy import Document, compare
from hyperpod_policy.baseline import read_baseline
from hyperpod_policy.registry import RULES, UPDATE_RULES, update_rule

TESTS = Path(__file__).parent / "updates"


def _modules():
    for found in pkgutil.iter_modules(hyperpod_policy.updates.__path__, "hyperpod_policy.updates."):
        yield importlib.import_module(found.name)


def test_every_update_rule_is_registered_and_has_a_test_file():
    assert {module.RULE.id for module in _modules()} == {found.id for found in UPDATE_RULES}
    for module in _modules():
        assert (TESTS / f"test_{module.__name__.rpartition('.')[2]}.py").is_file()


def test_ids_are_unique_among_all_rules():
    ids = [found.id for found in (*RULES, *UPDATE_RULES)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", rule_id) for rule_id in ids)


@pytest.mark.parametrize("found", UPDATE_RULES, ids=lambda found: found.id)
def test_an_update_rule_says_all_that_a_reader_needs(found):
    assert found.title
    assert found.why.endswith(".")
    assert found.fix
    assert not found.fix.endswith(".")
    assert found.source


def test_an_unknown_update_rule_is_named():
    with pytest.raises(LookupError, match="no update rule 'Nonsense'; rules: GroupSettings, "):
        update_rule("Nonsense")


def test_an_unchanged_template_keeps_every_promise(baseline, template):
    report = compare(baseline, template)
    assert report.findings == ()
    assert report.verdicts


def test_a_baseline_without_cluster_or_file_system_has_no_verdicts(template):
    assert compare({"Resources": {}}, {"Resources": {}}).verdicts == ()


def test_a_first_cluster_in_a_stack_has_no_findings(template):
    assert compare({"Resources": {}}, template).findings == ()


def test_a_cluster_in_a_nested_stack_is_compared(template):
    parent = {"Resources": {"Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": {}}}}
    before = Document(body=parent, nested={"Inner": Document(body=template)})
    changed = copy.deepcopy(template)
    changed["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]["InstanceType"] = "ml.p4d.24xlarge"
    report = compare(before, Document(body=parent, nested={"Inner": Document(body=changed)}))
    assert [finding.rule_id for finding in report.failures] == ["GroupSettings"]


def test_parameter_values_hold_on_both_sides(baseline, template):
    for side in (baseline, template):
        side["Parameters"] = {"Type": {"Type": "String"}}
        group = side["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]
        group["InstanceType"] = {"Ref": "Type"} if side is template else "ml.p5.48xlarge"
    assert compare(baseline, template, parameters={"Type": "ml.p5.48xlarge"}).findings == ()
    assert len(compare(baseline, template, parameters={"Type": "ml.p4d.24xlarge"}).failures) == 1


@pytest.mark.parametrize(
    "wrap", [lambda body: body, lambda body: {"TemplateBody": body, "StagesAvailable": []}]
)
@pytest.mark.parametrize("text", [None, json.dumps, yaml.safe_dump])
def test_a_baseline_is_read_as_users_have_it(tmp_path, template, wrap, text):
    body = wrap(template)
    if text and "TemplateBody" in body:
        body["TemplateBody"] = text(template)
    file = tmp_path / "old.json"
    file.write_text(json.dumps(body))
    document = read_baseline(file, region="us-west-2")
    assert document.body["Resources"].keys() == template["Resources"].keys()
    assert (document.file, document.region) == (str(file), "us-west-2")


def test_a_baseline_in_yaml_compares_equal(tmp_path, template):
    file = tmp_path / "old.yaml"
    file.write_text(yaml.safe_dump(template))
    assert compare(read_baseline(file), template).findings == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is not there"),
        ("Resources:\n\t- x", "is indented with a tab"),
        ("[]", "must be a mapping with Resources, got a list"),
        ("{}", "has no Resources"),
        ('{"TemplateBody": "[]"}', "must be a mapping with Resources, got a list"),
        ('{"TemplateBody": ""}', "has a TemplateBody without a template"),
    ],
)
def test_another_file_is_refused(tmp_path, content, words):
    file = tmp_path / "old.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidInputError, match="get-template") as refused:
        read_baseline(str(file))
    assert words in str(refused.value)
    assert str(refused.value).startswith("baseline: ")
