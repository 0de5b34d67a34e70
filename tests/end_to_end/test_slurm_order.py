"""The order in which the stack of a cluster with Slurm is made: each dependency that matters, forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from assemblies import assembly_of, spec_of
from forgotten import NOT_NOTICED, NOTICED
from order_cases import (
    Forgotten,
    Template,
    expect_noticed,
    expect_unforgotten,
    template_in,
    unexplained,
)
from published import bootstrap, publish

from aws_double.running import Running

OF_SLURM = (
    Forgotten(
        "rules between nodes and file system",
        "FileSystemSecurityGroupLustreRules",
        r"Cluster\w+: .*no (in|e)gress of tcp 988",
    ),
)


@pytest.fixture(scope="module")
def template(double: Running, folder: Path) -> Template:
    assembly = assembly_of(spec_of("llm-train.yaml"), folder / "assembly")
    bootstrap(double.session())
    publish(double.session(), assembly)
    return template_in(assembly)


def test_with_every_dependency(double: Running, template: Template) -> None:
    expect_unforgotten(double.session(), template)


@pytest.mark.parametrize("case", [*NOTICED, *OF_SLURM], ids=str)
def test_forgotten_dependency(double: Running, template: Template, case: Forgotten) -> None:
    expect_noticed(double.session(), template, case)


def test_no_dependency_is_left_out(template: Template) -> None:
    """Each that the worst order would break is tried above, or it is said why the double does not notice."""
    assert unexplained(template, [*NOTICED, *OF_SLURM], NOT_NOTICED) == set()
    (upload,) = unexplained(template, [*NOTICED, *OF_SLURM][1:], NOT_NOTICED)
    assert upload.startswith("LifecycleScriptsUpload")
