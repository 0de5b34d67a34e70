"""What others write to watch a cluster, each by hand: weak ones and their benign twins.

`found` lists what a reviewer must hear of and `unclear` what only deployment can tell, by rule and resource,
each once; nothing else of these rules may be said. `HealthEvents` and `Budget` of the cluster itself are left
out unless `whole` names them, since most of these templates show one thing alone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from hyperpod_policy.registry import GROUPS, rule
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load

CASES = {
    name: case
    for file in sorted((Path(__file__).parent / "watched").glob("*.yaml"))
    for name, case in yaml.safe_load(file.read_text()).items()
}
NEIGHBOURS = ("WorkspaceAccess", "RolePrivileges", "RoleTrust", "FunctionAccess", "TeamQuotas")
RULES = [*GROUPS["watch"], *map(rule, NEIGHBOURS)]
OF_THE_CLUSTER = ("HealthEvents", "Budget")
CLUSTER = """
  Hyper:
    Type: AWS::SageMaker::Cluster
    Properties:
      ClusterName: llm-train
      Tags: [{Key: project, Value: llm}]
      Orchestrator: {Eks: {ClusterArn: "arn:aws:eks:us-west-2:111122223333:cluster/llm"}}
      InstanceGroups:
        - InstanceGroupName: gpu
          InstanceType: ml.p5.48xlarge
          InstanceCount: 4
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
"""


@pytest.mark.parametrize("name", CASES)
def test_each_weakness_is_found_once_and_nothing_else(tmp_path, name):
    case = CASES[name]
    file = tmp_path / "template.yaml"
    file.write_text(case["template"].replace("Resources:\n", f"Resources:{CLUSTER}", 1))
    report = review_sources(load([file]), rules=RULES)
    left_out = {f"{one} Hyper" for one in OF_THE_CLUSTER if one not in case.get("whole", ())}
    found = [
        finding for finding in report.findings if f"{finding.rule_id} {finding.logical_id}" not in left_out
    ]
    for outcome, expected in (("fail", "found"), ("undetermined", "unclear")):
        said = Counter(f"{one.rule_id} {one.logical_id}" for one in found if one.outcome == outcome)
        assert said == Counter(case.get(expected, ()))
    assert all(one.line is not None and one.found and one.allowed and one.fix for one in found)


def test_there_are_many():
    assert len(CASES) >= 80
    weak = [case for case in CASES.values() if case.get("found")]
    assert len(weak) >= 40
    assert len(CASES) - len(weak) >= 30


def test_stacks_that_know_each_other_are_judged_together():
    """A topic by export, rules in the stack of the cluster, alarms in one that it nests."""
    report = review_sources(load([Path(__file__).parent / "watched_stacks"]), rules=RULES)
    assert sorted(f"{one.rule_id} {one.logical_id}" for one in report.findings) == [
        "AlarmActions Key",
        "AlarmActions Pager",
        "AlarmActions Policy",
        "Budget Hyper",
        "FigureAlarms Wrong",
        "HealthEvents Pager",
    ]
    assert {one.outcome for one in report.findings} == {"fail"}
    assert report.limits == ()
