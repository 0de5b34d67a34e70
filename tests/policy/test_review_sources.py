from __future__ import annotations

import json

import pytest

from hyperpod_policy.manifests import ManifestRule, ManifestVerdict, manifests_of
from hyperpod_policy.registry import MANIFEST_RULES
from hyperpod_policy.review_sources import review_manifests, review_sources
from hyperpod_policy.sources import load

MANIFESTS = """\
apiVersion: v1
kind: PodList
items:
- metadata: {name: good, namespace: train}
  spec: {hostNetwork: true}
- metadata: {name: bad}
  spec:
    hostNetwork: false
"""


def _check(manifests):
    for manifest in manifests:
        kept = manifest.get("spec", "hostNetwork") is True
        yield ManifestVerdict(
            outcome="pass" if kept else "fail",
            manifest=manifest,
            path=("spec", "hostNetwork"),
            found="false",
            allowed="true",
        )


RULE = ManifestRule(
    id="HostNetwork",
    title="pods use the host network",
    severity="warning",
    why="So that there is a rule.",
    fix="set hostNetwork",
    source="none, made up for this test",
    check=_check,
)


def test_templates_and_manifests_are_reviewed_together(tmp_path, template):
    (tmp_path / "a.json").write_text(json.dumps(template, indent=1))
    del template["Resources"]["SelfIngress"]
    (tmp_path / "b.json").write_text(json.dumps(template, indent=1))
    (tmp_path / "pods.yaml").write_text(MANIFESTS)
    (tmp_path / "other.json").write_text("{}")
    report = review_sources(load([tmp_path]), manifest_rules=[RULE])
    efa, pod = sorted(report.failures, key=lambda finding: finding.logical_id)
    assert (efa.rule_id, efa.logical_id, efa.file) == (
        "EfaSelfTraffic",
        "NodeGroup",
        str(tmp_path / "b.json"),
    )
    lines = (tmp_path / "b.json").read_text().splitlines()
    assert [line.strip() for line in lines[efa.line - 3 : efa.line]] == [
        '"NodeGroup": {',
        '"Type": "AWS::EC2::SecurityGroup",',
        '"Properties": {',
    ]
    assert (pod.logical_id, pod.resource_type, pod.line) == ("Pod/bad", "v1", 8)
    assert (pod.severity, pod.fix) == ("warning", "set hostNetwork")
    assert report.outcome("HostNetwork") == "fail"
    assert report.limits == (f"neither a template nor a manifest: {tmp_path / 'other.json'}",)


def test_all_rules_on_manifests_apply_by_default(tmp_path):
    (tmp_path / "pods.yaml").write_text(MANIFESTS)
    manifests = load([tmp_path]).manifests
    assert {finding.rule_id for finding in review_manifests(manifests).verdicts} <= {
        rule.id for rule in MANIFEST_RULES
    }


def test_a_rule_on_manifests_is_not_asked_without_any():
    def check(_manifests):
        raise AssertionError

    rule = ManifestRule("X", "x", "error", "x", "x", "x", check)
    assert review_manifests((), rules=[rule]).verdicts == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, ["Pod"]),
        (
            {"kind": "List", "apiVersion": "v1", "items": [{"kind": "Pod", "apiVersion": "v1"}, {}, 5]},
            ["Pod"],
        ),
        ({"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}, ["Pod/a"]),
        ({"kind": "AllowList", "apiVersion": "x/v1", "spec": {}}, ["AllowList"]),
        ({"kind": "Pod", "apiVersion": "v1", "metadata": []}, ["Pod"]),
        ({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": 5, "generateName": "g-"}}, ["Pod/g-"]),
    ],
)
def test_lists_are_taken_apart(value, expected):
    assert [str(manifest) for manifest in manifests_of(value)] == expected


def test_a_value_is_read_by_its_path():
    (manifest,) = manifests_of({"kind": "Pod", "apiVersion": "v1", "spec": {"containers": [{"name": "a"}]}})
    assert manifest.get("spec", "containers", 0, "name") == "a"
    assert manifest.get("spec", "containers", 1, "name", default="none") == "none"
    assert manifest.get("spec", "containers", "name") is None
