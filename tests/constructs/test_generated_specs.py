"""Whatever a specification says, it becomes a template that keeps its promises, or it is refused by field.

``HYPERPOD_EXAMPLES`` sets how many specifications are tried. They are the same in every run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App
from create_cluster_model import IDENTIFIER, cluster_resources, violations
from generated_specs import (
    CHART_FOLDER,
    SCRIPTS_FOLDER,
    Site,
    all_models,
    changed_documents,
    values,
    with_folders,
)
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import ValidationError
from registry_schema import registry_violations

from hyperpod_constructs.hyperpod_stack import HyperPodStack
from hyperpod_model.catalog.add_ons import CHART_COMPONENTS
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_policy import review

EXAMPLES = int(os.environ.get("HYPERPOD_EXAMPLES", "120"))
PACK = "HyperPodChecks"


LOOSENINGS: dict[str, Callable[[ClusterSpec], bool]] = {
    "NodeRecovery": lambda spec: spec.node_recovery == "None",
    "DeepHealthChecks": lambda spec: any(group.deep_health_checks == () for group in spec.instance_groups),
    "InstanceTypeOffer": lambda spec: spec.unlisted_instance_types != (),
    "EksEndpointAccess": lambda spec: "0.0.0.0/0" in spec.eks.public_access_cidrs,
    "EfaLustreTraffic": lambda spec: spec.file_system is not None and spec.file_system.efa_enabled,
}
"""Errors of the checks at synthesis that a specification asks for, which are then its user's to accept."""

SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)


class Stacks:
    """Makes the stack of a document and judges what comes of it."""

    def __init__(self, folder: Path) -> None:
        self._assembly = folder / "cdk.out"
        self._folders = {CHART_FOLDER: str(folder / "chart"), SCRIPTS_FOLDER: str(folder / "scripts")}
        _write_chart(folder / "chart")
        _write_scripts(folder / "scripts")
        self.synthesized = 0
        self.refused = 0

    def judge(self, document: dict[str, Any]) -> list[str]:
        """Everything that is wrong about the outcome."""
        document = with_folders(document, lambda text: self._folders.get(text, text))
        try:
            spec = ClusterSpec.model_validate(document)
        except ValidationError as error:
            self.refused += 1
            return _unnamed_fields(error, document)
        app = App(outdir=str(self._assembly), stack_traces=False, analytics_reporting=False)
        try:
            stack = HyperPodStack(app, "HyperPodStack", spec=spec)
        except InvalidInputError as error:
            self.refused += 1
            return _unsaid(error.faults)
        app.synth()
        self.synthesized += 1
        template = json.loads((self._assembly / stack.template_file).read_text(encoding="utf-8"))
        return _faults_of(template, spec)


def _faults_of(template: Mapping[str, Any], spec: ClusterSpec) -> list[str]:
    clusters = cluster_resources(template)
    assert len(clusters) == 1
    vouched = [
        f"InstanceType: {name!r} is {words}"
        for name in spec.unlisted_instance_types
        for words in ("none of", "not one of")
    ]
    found = [
        one
        for one in (
            *registry_violations(template, region=spec.region),
            *violations(clusters[0]["Properties"]),
        )
        if not any(known in one for known in vouched)
    ]
    for finding in review(template, region=spec.region).failures:
        meant = LOOSENINGS.get(finding.rule_id)
        if finding.severity != "error" or (meant is not None and meant(spec)):
            continue
        if f"{PACK}::{finding.rule_id}" not in spec.acknowledged_findings:
            found.append(finding.text())
    return found


def _unnamed_fields(error: ValidationError, document: object) -> list[str]:
    unnamed = []
    for one in error.errors(include_url=False):
        cause = one.get("ctx", {}).get("error")
        if isinstance(cause, InvalidInputError):
            unnamed += _unsaid(cause.faults)
        elif not one["loc"] and isinstance(document, dict):
            unnamed.append(one["msg"])
    return unnamed


def _unsaid(faults: tuple[Fault, ...]) -> list[str]:
    errors = [fault for fault in faults if fault.severity == "error"]
    unsaid = [
        f"names no field: {fault}"
        for fault in errors
        if not _FIELDS & {step for step in fault.path if isinstance(step, str)}
        and not _UNMISTAKABLE & set(re.findall(r"\w+", fault.message))
        and not _FIELDS & set(re.findall(r"(?:^|: )(\w+)", fault.message))
    ]
    return unsaid if errors else ["refused without an error"]


_FIELDS = {name for model in set(all_models(ClusterSpec)) for name in model.model_fields}
_UNMISTAKABLE = {name for name in _FIELDS if "_" in name}
"""Fields whose names are no plain words."""


def _write_chart(folder: Path) -> None:
    content = {
        "apiVersion": "v2",
        "name": "hyperpod",
        "version": "0.1.0",
        "dependencies": [{"name": part.name} for part in CHART_COMPONENTS],
    }
    for name in ("", *(part.name for part in CHART_COMPONENTS)):
        at = folder / "charts" / name if name else folder
        at.mkdir(parents=True)
        said = {"apiVersion": "v2", "name": name, "version": "0.1.0"} if name else content
        (at / "Chart.yaml").write_text(yaml.safe_dump(said), encoding="utf-8")


def _write_scripts(folder: Path) -> None:
    folder.mkdir()
    for name in ("on_create.sh", "on_init_complete.sh", "main.sh"):
        script = folder / name
        script.write_text("#!/bin/bash\nset -euo pipefail\necho ready\n", encoding="utf-8")
        script.chmod(0o755)


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Stacks:
    return Stacks(tmp_path_factory.mktemp("generated"))


def test_every_part_of_a_specification_is_generated() -> None:
    assert values(Site("us-west-2", "eks", "made", "made")).keys() == set(all_models(ClusterSpec))


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ({"NodeRecovery": "Sometimes"}, "NodeRecovery: 'Sometimes' is not one of"),
        ({"NodeRecovery": {"Ref": "Recovery"}}, None),
        ({"ClusterName": "-a"}, "ClusterName: '-a' does not match"),
        ({"Surprise": 1}, "Additional properties are not allowed"),
    ],
)
def test_the_registry_is_heeded(properties: dict[str, Any], found: str | None) -> None:
    template = {"Resources": {"Cluster": {"Type": IDENTIFIER, "Properties": properties}}}
    said = registry_violations(template, region=None)
    assert said == [] if found is None else any(found in one for one in said), said


def test_a_specification_is_a_sound_template_or_refused_by_field(stacks: Stacks) -> None:
    @SETTINGS
    @given(changed_documents())
    def judged(document: dict[str, Any]) -> None:
        assert stacks.judge(document) == []

    judged()
    # The generator would prove little if nearly all it makes were refused, or nothing.
    assert stacks.synthesized >= EXAMPLES // 4
    assert stacks.refused >= EXAMPLES // 10
