from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import hyperpod_policy.rules
from hyperpod_policy import review
from hyperpod_policy.command.selection import MANIFESTS
from hyperpod_policy.registry import GROUPS, MANIFEST_RULES, RULES, group_of, rule

REGION = "us-west-2"
ABOUT_EKS = {
    "EksEndpointAccess",
    "EksAuthentication",
    "EksSecretsEncryption",
    "EksControlPlaneLogs",
    "EksNodeTraffic",
    "PodIdentityTrust",
    "ServiceAccountTrust",
    "NodeCheckpointAccess",
    "TrainingOperatorTag",
    "EksKubernetesVersion",
    "EksAddOnOrder",
    "EksAddOnVersions",
    "DependencyChart",
    "Checkpointless",
}
ONLY_FOR_EXCEPTIONS = {"EfaLustreTraffic"}
EVERY = (*RULES, *MANIFEST_RULES)


def _modules():
    for found in pkgutil.walk_packages(hyperpod_policy.rules.__path__, "hyperpod_policy.rules."):
        if not found.ispkg:
            yield importlib.import_module(found.name)


def test_every_rule_module_is_registered():
    assert {module.RULE.id for module in _modules()} == {found.id for found in EVERY}


def test_rules_are_grouped_by_the_folder_they_stand_in():
    folders = {module.RULE.id: module.__name__.split(".")[-2] for module in _modules()}
    groups = {found.id: group_of(found.id) for found in RULES} | {
        found.id: MANIFESTS for found in MANIFEST_RULES
    }
    assert groups == folders
    assert sum(map(len, GROUPS.values())) == len(RULES)


def test_rule_ids_are_unique_and_can_be_acknowledged():
    ids = [found.id for found in EVERY]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", rule_id) for rule_id in ids)


@pytest.mark.parametrize("found", EVERY, ids=lambda found: found.id)
def test_a_rule_says_all_that_a_reader_needs(found):
    assert found.title
    assert not found.title.endswith(".")
    assert found.why.endswith(".")
    assert found.fix
    assert not found.fix.endswith(".")
    assert found.source


@pytest.mark.parametrize("found", EVERY, ids=lambda found: found.id)
def test_a_rule_has_a_test_file_of_its_own(found, request):
    module = next(module for module in _modules() if module.RULE.id == found.id)
    concern, name = module.__name__.split(".")[-2:]
    assert (request.path.parent / concern / f"test_{name}.py").is_file()


def test_the_compliant_templates_keep_every_promise(template, eks_template):
    reports = [review(found, region=REGION) for found in (template, eks_template)]
    assert [report.findings for report in reports] == [(), ()]
    passed = {found.id for found in RULES if "pass" in {report.outcome(found.id) for report in reports}}
    assert {found.id for found in RULES} - passed == ONLY_FOR_EXCEPTIONS


def test_rules_about_eks_have_nothing_to_say_about_slurm(template):
    assert {rule_id for rule_id in ABOUT_EKS if review(template).outcome(rule_id)} == set()


def test_a_template_without_cluster_has_no_verdicts(template):
    del template["Resources"]["Cluster"]
    assert review(template, region=REGION).verdicts == ()


def test_an_unknown_rule_is_named():
    with pytest.raises(LookupError, match="no rule 'Nonsense'; rules: EfaSelfTraffic, "):
        rule("Nonsense")
