"""Which package may import which, read from the source without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ALLOWED = {
    "hyperpod_model": set[str](),
    "hyperpod_policy": {"hyperpod_model"},
    "hyperpod_charts": {"hyperpod_model", "hyperpod_policy"},
    "hyperpod_lifecycle": {"hyperpod_model"},
    "hyperpod_constructs": {"hyperpod_model", "hyperpod_policy", "hyperpod_lifecycle", "hyperpod_charts"},
}
CDK = {"aws_cdk", "cdk_nag", "constructs", "jsii"}
CLIENTS = {"boto3", "botocore"}
FORBIDDEN_LIBRARIES = {
    "hyperpod_model": CDK | CLIENTS | {"cdk8s"},
    "hyperpod_policy": CDK | CLIENTS | {"cdk8s"},
    "hyperpod_charts": {"aws_cdk", "cdk_nag"} | CLIENTS,
    "hyperpod_lifecycle": CDK | {"cdk8s"},
    "hyperpod_constructs": CLIENTS,
}
# Source of Lambda functions and of pods: it runs in AWS, where botocore is and our packages are not.
HANDLERS = ("hyperpod_constructs/handlers", "hyperpod_charts/pod_scripts")
IMPORTING_CALLS = {"import_module", "__import__", "find_spec", "files", "run_module", "importorskip"}


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Line and top-level name of every import, inside functions and by string included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.lineno, node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and _called(node.func) in IMPORTING_CALLS:
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                if text := _leading_text(argument):
                    yield node.lineno, text.partition(".")[0]


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _leading_text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text
    return ""


def wrong_arrows(tree: Path) -> list[str]:
    faults = []
    for package, allowed in ALLOWED.items():
        folder = tree / package.removeprefix("hyperpod_") / package
        for path in sorted(folder.rglob("*.py")):
            forbidden = (ALLOWED.keys() - allowed - {package}) | FORBIDDEN_LIBRARIES[package]
            if any(folder in path.as_posix() for folder in HANDLERS):
                forbidden = ALLOWED.keys() | CDK
            for line, name in imported(path.read_text()):
                if name in forbidden:
                    faults.append(f"{path.relative_to(tree).as_posix()}:{line} imports {name}")
    return faults


def test_imports_follow_the_arrows() -> None:
    assert wrong_arrows(ROOT) == []


def test_the_guard_reads_every_package() -> None:
    """A guard that finds no files would pass for ever."""
    for root in ALLOWED:
        assert list((ROOT / root.removeprefix("hyperpod_") / root).rglob("*.py"))


@pytest.mark.parametrize(
    ("package", "source", "name"),
    [
        ("model", "import hyperpod_policy", "hyperpod_policy"),
        ("model", "from hyperpod_constructs.tokens import known", "hyperpod_constructs"),
        ("model", "def late():\n    from aws_cdk import Token", "aws_cdk"),
        ("model", "import boto3.session as b", "boto3"),
        ("model", "import importlib\nimportlib.import_module('constructs.x')", "constructs"),
        ("model", "from importlib import import_module\nimport_module(f'aws_cdk.{1}')", "aws_cdk"),
        ("model", "if TYPE_CHECKING:\n    import jsii", "jsii"),
        ("policy", "import hyperpod_lifecycle", "hyperpod_lifecycle"),
        ("policy", "try:\n    import cdk_nag\nexcept ImportError:\n    raise", "cdk_nag"),
        ("policy", "from constructs import Construct", "constructs"),
        ("charts", "import hyperpod_constructs", "hyperpod_constructs"),
        ("charts", "import aws_cdk", "aws_cdk"),
        ("lifecycle", "import hyperpod_policy", "hyperpod_policy"),
        ("lifecycle", "import aws_cdk.aws_s3", "aws_cdk"),
        ("constructs", "import boto3", "boto3"),
    ],
)
def test_a_wrong_arrow_is_found(tmp_path: Path, package: str, source: str, name: str) -> None:
    module = tmp_path / package / f"hyperpod_{package}" / "deep" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text(source)
    (fault,) = wrong_arrows(tmp_path)
    assert fault.startswith(f"{package}/hyperpod_{package}/deep/module.py:")
    assert fault.endswith(f" imports {name}")


@pytest.mark.parametrize("name", ["hyperpod_model", "hyperpod_constructs", "aws_cdk"])
def test_lambda_source_imports_nothing_that_lambda_lacks(tmp_path: Path, name: str) -> None:
    module = tmp_path / "constructs" / HANDLERS[0] / "handler.py"
    module.parent.mkdir(parents=True)
    module.write_text(f"import botocore.session\nimport {name}")
    assert wrong_arrows(tmp_path) == [f"constructs/{HANDLERS[0]}/handler.py:2 imports {name}"]


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("model", "from hyperpod_model.faults import Fault\nfrom . import faults\nimport pydantic"),
        ("policy", "from hyperpod_model.catalog import ports"),
        ("lifecycle", "import boto3\nimport hyperpod_model"),
        ("charts", "import constructs, cdk8s, hyperpod_policy"),
        ("constructs", "import aws_cdk, constructs, hyperpod_lifecycle, hyperpod_charts, hyperpod_policy"),
    ],
)
def test_a_right_arrow_passes(tmp_path: Path, package: str, source: str) -> None:
    module = tmp_path / package / f"hyperpod_{package}" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text(source)
    assert wrong_arrows(tmp_path) == []
