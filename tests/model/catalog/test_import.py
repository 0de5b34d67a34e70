"""The catalog is cheap to import: rules, constructs and scripts all start with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hyperpod_model.catalog

MODULES = sorted(
    f"hyperpod_model.catalog.{path.stem}"
    for path in Path(hyperpod_model.catalog.__file__).parent.glob("[a-z]*.py")
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, timeout=60
    )


def test_every_module_is_covered():
    assert {"hyperpod_model.catalog.instances", "hyperpod_model.catalog.iam"} <= set(MODULES)


def test_nothing_heavy_is_imported():
    program = (
        f"import sys, {', '.join(MODULES)}\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules} & "
        "{'pydantic', 'boto3', 'botocore', 'yaml', 'aws_cdk', 'jsii', 'constructs'}))"
    )
    assert run("-c", program).stdout.strip() == ""


def test_the_large_tables_are_read_only_when_asked_for():
    program = (
        f"import {', '.join(MODULES)}\n"
        "from hyperpod_model.catalog import instances, regions\n"
        "print(instances.instance_types.cache_info().currsize, regions.regions.cache_info().currsize)"
    )
    assert run("-c", program).stdout.split() == ["0", "0"]
