"""Templates of shapes that others write, each finding on which was read and judged true.

They follow the habits of public templates in words of their own: a single file of a workshop, nested stacks
that come and go by parameters, exports of a network team, what converters, SAM, the CDK and a service catalog
make.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load
from hyperpod_policy.trust_map import trust_map

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
JUDGED = yaml.safe_load((HERE / "findings.yaml").read_text())
_UNDECIDED = "conditions on parameter {} with another value than its default"
LIMITS = {
    "optional_file_system": [_UNDECIDED.format("FileSystemId of template.yaml")],
    "slurm_inline_vpc": [_UNDECIDED.format("BackupZone of hyperpod.yaml")],
    "nested_stacks": ["nested stack HelmStack of main.yaml: its template is not at hand"],
    "sam": ["transform AWS::Serverless-2016-10-31 of template.yaml: only CloudFormation runs it"],
    "stack_set": ["stack set Clusters of template.yaml: name its template's file to have it reviewed"],
}
UNDETERMINED = {
    # The first shows its whole network, roles and bucket; the others name parts that exist already.
    "slurm_inline_vpc": set(),
    "cdk_typescript": set(),
    "custom_resource": set(),
    "optional_file_system": {
        "AddressBudget",
        "BucketWriters",
        "ExecutionRolePrivileges",
        "ExecutionRoleTrust",
        "NodeSubnets",
    },
}


def test_every_template_was_judged():
    assert sorted(JUDGED) == sorted(path.name for path in TEMPLATES.iterdir())
    assert len(JUDGED) >= 10


@pytest.mark.parametrize("name", JUDGED)
def test_the_findings_are_those_that_were_judged_true(name):
    report = review_sources(load([TEMPLATES / name]))
    found = {f"{finding.rule_id} {finding.logical_id}" for finding in report.failures}
    assert found == set(JUDGED[name])
    assert all(finding.line is not None for finding in report.findings)


@pytest.mark.parametrize("name", UNDETERMINED)
def test_only_what_a_template_leaves_to_others_is_undetermined(name):
    report = review_sources(load([TEMPLATES / name]))
    found = {finding.rule_id for finding in report.findings if finding.outcome == "undetermined"}
    assert found == UNDETERMINED[name]


@pytest.mark.parametrize("name", JUDGED)
def test_what_was_not_read_is_said(name):
    limits = review_sources(load([TEMPLATES / name])).limits
    assert [limit.replace(f"{TEMPLATES / name}/", "") for limit in limits] == LIMITS.get(name, [])


@pytest.mark.parametrize("name", JUDGED)
def test_a_trust_map_can_be_drawn(name):
    found = trust_map(load([TEMPLATES / name]).documents)
    assert found.text().strip()
    assert isinstance(found.to_json(), dict)
