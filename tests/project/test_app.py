"""The app as the CDK command line starts it: its own process, in the root of the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BAD_APP = """
from aws_cdk import App, CfnResource, Stack

app = App()
CfnResource(Stack(app, "Bad"), "Volume", type="AWS::EC2::Volume", properties={"Size": "big"})
app.synth()
"""


def synthesize(
    program: Path, assembly: Path, *, validation: bool = False, **said: str
) -> subprocess.CompletedProcess[str]:
    """Run an app; with validation, findings of the built-in rules are errors as in no other test."""
    context: dict[str, Any] = dict(said)
    if validation:
        context["@aws-cdk/core:validateAgainstDefaultRules"] = True
    return subprocess.run(
        [sys.executable, program.name],
        cwd=program.parent,
        env={
            **os.environ,
            "CDK_OUTDIR": str(assembly),
            "CDK_VALIDATION": str(validation).lower(),
            "CDK_CONTEXT_JSON": json.dumps(context),
        },
        capture_output=True,
        text=True,
    )


def built_in_findings(assembly: Path) -> list[str]:
    """Findings of the built-in rules, which the report leaves out altogether where there are none."""
    plugins = json.loads((assembly / "validation-report.json").read_text())["pluginReports"]
    return [
        violation["ruleName"]
        for plugin in plugins
        if plugin["pluginName"] == "CloudFormation Validate"
        for violation in plugin["violations"]
    ]


def test_the_app_runs_from_the_root(tmp_path: Path) -> None:
    run = synthesize(ROOT / "app.py", tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "HyperPodStack.template.json").is_file()
    assert (tmp_path / "validation-report.json").is_file()


def test_the_template_passes_the_built_in_validation(tmp_path: Path) -> None:
    run = synthesize(ROOT / "app.py", tmp_path, validation=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert built_in_findings(tmp_path) == []


def test_a_misspelt_context_makes_no_default_cluster(tmp_path: Path) -> None:
    run = synthesize(ROOT / "app.py", tmp_path, clustr="my.yaml")
    assert run.returncode == 1
    assert "error: -c clustr: is no context of this app; did you mean -c cluster=my.yaml?" in run.stderr
    assert not (tmp_path / "HyperPodStack.template.json").exists()


def test_each_step_that_is_due_is_said_once(tmp_path: Path) -> None:
    run = synthesize(ROOT / "app.py", tmp_path, cluster="examples/clusters/llm-train-eks.yaml")
    assert run.returncode == 0, run.stderr
    metadata = json.loads((tmp_path / "HyperPodStack.metadata.json").read_text())
    infos = [
        entry["data"] for entries in metadata.values() for entry in entries if entry["type"] == "aws:cdk:info"
    ]
    for words in ("Cost allocation tags", "amzn-sagemaker-checkpointing"):
        assert [line for line in run.stderr.splitlines() if words in line] != []
        assert [info for info in infos if words in info] == []


def test_the_built_in_validation_finds_a_bad_template(tmp_path: Path) -> None:
    """So that the test above cannot pass because nothing was checked."""
    (tmp_path / "bad.py").write_text(BAD_APP)
    run = synthesize(tmp_path / "bad.py", tmp_path / "out", validation=True)
    assert run.returncode != 0
    assert "F3012" in built_in_findings(tmp_path / "out")
