"""Other spellings of the same safety raise nothing, and neither do the hardened templates themselves."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml
from assemblies import CLUSTERS, assembly_of, spec_of
from mutants.additions import addition_mutants
from spellings.all import SPELLINGS

from hyperpod_model.cluster_spec import load_cluster
from hyperpod_policy import review
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load

SHORT = {
    "Ref": "!Ref",
    "Fn::GetAtt": "!GetAtt",
    "Fn::Sub": "!Sub",
    "Fn::Join": "!Join",
    "Fn::Split": "!Split",
}
WITHOUT_BUDGET = {"Budget"}
"""No default could know what somebody is to spend; the usual examples say it."""

USUAL = ("llm-train.yaml", "llm-train-eks.yaml")
CHOSEN = {
    # A request has no place for whoever is to hear.
    "llm-train-request.json": {"AlarmActions", "HealthEvents"},
    # What an example chooses to do without, and says so in its file.
    "llm-train-eks-existing.yaml": {"DeepHealthChecks"},
    "small-existing-network.yaml": {"DeepHealthChecks", "LustreRemoval"},
}


def _specs():
    network, eks_network = (
        spec_of(name).network.model_dump(exclude_unset=True)
        for name in ("llm-train.yaml", "llm-train-eks.yaml")
    )
    return {
        "slurm": spec_of("llm-train.yaml"),
        "eks": spec_of("llm-train-eks.yaml"),
        "isolated": spec_of("llm-train.yaml", network={**network, "isolated": True}),
        "measured": spec_of(
            "llm-train-eks.yaml",
            network={**eks_network, "isolated": True},
            metrics={
                "prometheus": True,
                "grafana_authentication": ["AWS_SSO", "SAML"],
                "container_insights": True,
            },
            task_governance={"teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}]},
        ),
    }


@pytest.fixture(scope="module")
def hardened(tmp_path_factory):
    found = {}
    for name, spec in _specs().items():
        folder = assembly_of(spec, tmp_path_factory.mktemp(name))
        found[name] = json.loads((folder / "HyperPodStack.template.json").read_text(encoding="utf-8"))
    return found


def _told(report):
    """What a report says, apart from advice."""
    return [finding.text() for finding in report.findings if finding.severity != "advice"]


@pytest.mark.parametrize("name", ["slurm", "eks", "isolated", "measured"])
def test_the_hardened_templates_raise_nothing(hardened, name):
    assert _told(review(hardened[name], region="us-west-2")) == []


@pytest.mark.parametrize("name", ["slurm", "eks", "isolated"])
@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.__name__)
def test_another_spelling_raises_nothing(hardened, name, spelling):
    template = copy.deepcopy(hardened[name])
    spelling(template)
    assert template != hardened[name] or spelling.__name__ == "everything_in_reverse"
    assert _told(review(template, region="us-west-2")) == []


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.__name__)
def test_another_spelling_hides_nothing(hardened, spelling):
    """A weakening, a second policy that admits everybody, is found however the rest is written."""
    mutant = next(
        found
        for found in addition_mutants(hardened["slurm"])
        if found.label.endswith("a second policy for everybody")
    )
    template = copy.deepcopy(mutant.of(hardened["slurm"]))
    spelling(template)
    failures = review(template, region="us-west-2").failures
    assert "to everybody" in "".join(finding.found for finding in failures)


class _Tagged(yaml.YAMLObject):
    """A function of CloudFormation in its short form."""

    def __init__(self, tag, value):
        self.tag, self.value = tag, value


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def _represent(dumper, tagged):
    if isinstance(tagged.value, list):
        return dumper.represent_sequence(tagged.tag, tagged.value)
    return dumper.represent_scalar(tagged.tag, tagged.value)


_Dumper.add_representer(_Tagged, _represent)


def _shortened(value):
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (name, argument), *_ = value.items()
        if name in SHORT:
            plain = ".".join(argument) if name == "Fn::GetAtt" else _shortened(argument)
            return _Tagged(SHORT[name], plain)
    return {key: _shortened(item) for key, item in value.items()}


@pytest.mark.parametrize("name", ["slurm", "eks", "isolated"])
def test_yaml_in_the_short_form_raises_nothing(hardened, name, tmp_path):
    file = tmp_path / "template.yaml"
    file.write_text(yaml.dump(_shortened(hardened[name]), Dumper=_Dumper), encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    assert "!GetAtt" in text
    assert "Fn::GetAtt" not in text
    assert _told(review_sources(load([file], region="us-west-2"))) == []


@pytest.mark.parametrize("example", sorted(path.name for path in CLUSTERS.iterdir()))
def test_examples_raise_nothing_but_what_they_choose(example, tmp_path):
    where = (
        {} if Path(example).suffix == ".yaml" else {"region": "us-west-2", "availability_zone_id": "usw2-az2"}
    )
    spec = load_cluster(CLUSTERS / example, **where).spec
    report = review_sources(load([assembly_of(spec, tmp_path)]))
    found = {finding.rule_id for finding in report.failures if finding.severity != "advice"}
    assert found == CHOSEN.get(example, set()) | (set() if example in USUAL else WITHOUT_BUDGET)
