"""Synthesizes stacks for tests and looks into their templates."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import aws_cdk
from aws_cdk import App, Stack

Template = dict[str, Any]


def template_of(stack: Stack) -> Template:
    """Synthesize the stack's app and return the stack's template."""
    app = stack.node.root
    assert isinstance(app, App)
    template: Template = app.synth().get_stack_artifact(stack.artifact_id).template
    return template


def resources(template: Template, kind: str) -> dict[str, Any]:
    """The resources of a type by logical id."""
    return {
        logical_id: resource
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


def only(template: Template, kind: str) -> tuple[str, Any]:
    """The one resource of a type, with its logical id."""
    found = list(resources(template, kind).items())
    assert len(found) == 1, [logical_id for logical_id, _ in found]
    return found[0]


def lint(template: Template) -> list[str]:
    """What CloudFormation's schemas and rules say against a template: errors and warnings of cfn-lint."""
    from cfnlint.api import lint_all  # takes more than a second to import

    return [
        f"{match.rule.id} {match.message}"
        for match in lint_all(json.dumps(template))
        if match.rule.severity in ("error", "warning")
    ]


def recommended_feature_flags() -> dict[str, Any]:
    """Every feature flag with the value that CDK recommends for new apps, from the installed package."""
    folder = Path(aws_cdk.__file__).parent / "_jsii"
    (package,) = folder.glob("aws-cdk-lib@*.jsii.tgz")
    with tarfile.open(package) as archive:
        flags = archive.extractfile("package/recommended-feature-flags.json")
        assert flags is not None
        decoded: dict[str, Any] = json.load(flags)
        return decoded
