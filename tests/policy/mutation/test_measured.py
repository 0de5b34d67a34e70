"""Every single weakening of what governs and measures a cluster on EKS is found, or takes nothing away.

Of the hardened EKS template with quotas and figures only what these add or change is weakened: the rest is
judged without them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from assemblies import assembly_of, spec_of
from mutants.generating import mutants_of
from mutants.judging import Judge
from mutants.neutral import Outcome, neutral_changes, sorted_out
from mutation_summary import PROPERTY

TABLES = [Path(__file__).parent / name for name in ("neutral-measured.yaml", "neutral.yaml")]
WEAKENED = ("ContainerInsights", "Grafana", "ObservabilityTopic", "Prometheus", "TaskGovernance")
"""How the logical ids begin."""

GOVERNANCE = {
    "teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}],
    "priority_classes": {"inference": 100, "training": 50},
}
METRICS = {"prometheus": True, "grafana_authentication": ["AWS_SSO"], "container_insights": True}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    spec = spec_of("llm-train-eks.yaml", metrics=METRICS, task_governance=GOVERNANCE)
    folder = assembly_of(spec, tmp_path_factory.mktemp("measured"))
    body = json.loads((folder / "HyperPodStack.template.json").read_text(encoding="utf-8"))
    judging = Judge(body, spec.region)
    mutants = [mutant for mutant in mutants_of(body) if mutant.resource.startswith(WEAKENED)]
    killers = {mutant.label: judging.killer(mutant) for mutant in mutants}
    own, common = (neutral_changes(table, "eks") for table in TABLES)
    found = sorted_out(killers, [*own, *common])
    patterns = {change.pattern for change in own}
    return Outcome(
        killed=found.killed,
        neutral=found.neutral,
        survivors=found.survivors,
        idle=[pattern for pattern in found.idle if pattern in patterns],
        wide=[pattern for pattern in found.wide if pattern in patterns],
    )


def test_every_weakening_is_found(outcome, record_property):
    record_property(PROPERTY, f"measured EKS: {outcome.words}")
    record_property(PROPERTY, f"  first by {outcome.by_rule}")
    assert outcome.survivors == []
    assert len(outcome.killed) > 200


def test_each_rule_about_figures_finds_one(outcome):
    assert {"PodRolePrivileges", "PrometheusAlerts", "RolePrivileges", "RoleTrust"} <= set(
        outcome.killed.values()
    )


def test_the_table_lists_what_there_is_and_hides_nothing(outcome):
    assert outcome.idle == []
    assert outcome.wide == []
