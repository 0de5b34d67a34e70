"""The wheel, as another team installs it: alone, in a clean environment, outside the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "other_team"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = [Path(name) for name in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]

IMPORT_EVERYTHING = """
import importlib, pathlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not module.name.startswith("hyperpod_constructs.handlers."):  # runs in Lambda, which has botocore
            importlib.import_module(module.name)
    print(package.__file__)
"""


class Installed(NamedTuple):
    python: Path
    packages: Path


def plain_environment(**extra: str) -> dict[str, str]:
    """The environment without anything that leads an interpreter back to this checkout."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    return {**kept, **extra}


def source_files(package: Path) -> dict[str, bytes]:
    return {
        path.relative_to(ROOT / package.parent).as_posix(): path.read_bytes()
        for path in sorted((ROOT / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def build_wheel(tree: Path, folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(tree)],
        check=True,
        capture_output=True,
    )
    (path,) = folder.iterdir()
    return path


def compiled(wheel: Path) -> list[str]:
    names = zipfile.ZipFile(wheel).namelist()
    return [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".pyo"))]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A new virtual environment with the wheel and its declared dependencies at the pinned versions."""
    folder = tmp_path_factory.mktemp("other_team_environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pins = folder / "pins.txt"
    pins.write_text(
        "".join(
            line
            for line in (ROOT / "requirements.txt").read_text().splitlines(keepends=True)
            if not line.startswith("-e")
        )
    )
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run(
        [*install, "--disable-pip-version-check", "--constraint", str(pins), str(wheel)],
        check=True,
        env=plain_environment(),
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    return Installed(python, packages)


def test_the_wheel_is_named_by_the_version(wheel: Path) -> None:
    assert wheel.name == f"cdk_hyperpod-{PROJECT['project']['version']}-py3-none-any.whl"


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    metadata = f"cdk_hyperpod-{PROJECT['project']['version']}.dist-info"
    assert {name.split("/")[0] for name in names} == {package.name for package in PACKAGES} | {metadata}
    assert compiled(wheel) == []


@pytest.fixture
def tree_with_compiled_files(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    for package in PACKAGES:
        (tree / package).mkdir(parents=True)
        (tree / package / "__init__.py").touch()
    scripts = tree / "lifecycle" / "hyperpod_lifecycle" / "scripts"
    (scripts / "__pycache__").mkdir(parents=True)
    (scripts / "__pycache__" / "module.cpython-311.pyc").write_bytes(b"x")
    (scripts / "loose.pyc").write_bytes(b"x")
    (tree / "README.md").touch()
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def test_compiled_files_stay_out_of_the_wheel(tree_with_compiled_files: Path, tmp_path: Path) -> None:
    """They would change the hash of the uploaded scripts."""
    assert compiled(build_wheel(tree_with_compiled_files, tmp_path / "dist")) == []


def test_compiled_files_would_be_found(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.whl", "w") as archive:
        for name in ("a/__pycache__/b.cpython-311.pyc", "a/b.pyc", "a/b.py"):
            archive.writestr(name, "x")
    assert compiled(tmp_path / "bad.whl") == ["a/__pycache__/b.cpython-311.pyc", "a/b.pyc"]


def test_a_foreign_package_in_the_wheel_is_refused(tree_with_compiled_files: Path, tmp_path: Path) -> None:
    """What ``make lint`` runs on the wheel: a top-level ``constructs`` would overwrite the library."""
    (tree_with_compiled_files / "constructs" / "__init__.py").write_text("x = 1\n")
    settings = tree_with_compiled_files / "pyproject.toml"
    settings.write_text(settings.read_text().replace('"constructs/hyperpod_constructs",', '"constructs",'))
    wheel = build_wheel(tree_with_compiled_files, tmp_path / "dist")
    run = subprocess.run(
        [sys.executable, "-m", "check_wheel_contents", str(wheel)],
        cwd=tree_with_compiled_files,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "W202: Wheel library has undeclared toplevel entry" in run.stdout


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_wheel_holds_every_file_of_a_package(wheel: Path, package: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    shipped = {name: archive.read(name) for name in archive.namelist() if name.startswith(f"{package.name}/")}
    source = source_files(package)
    assert shipped.keys() == source.keys()
    assert [name for name in source if shipped[name] != source[name]] == []
    assert f"{package.name}/py.typed" in shipped


def test_data_and_scripts_reach_the_wheel(wheel: Path) -> None:
    """So that a rename cannot empty the comparison above unseen."""
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("hyperpod_model/catalog/data/") and name.endswith(".json") for name in names)
    assert any(name.startswith("hyperpod_lifecycle/scripts/") and name.endswith(".sh") for name in names)


def test_only_what_is_declared_is_needed(installed: Installed, tmp_path: Path) -> None:
    """Every module imports where nothing but the wheel and its declared dependencies is installed."""
    run = subprocess.run(
        [installed.python, "-c", IMPORT_EVERYTHING, *(package.name for package in PACKAGES)],
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    for line in run.stdout.splitlines():
        assert Path(line).is_relative_to(installed.packages)


def test_commands_answer_help(installed: Installed, tmp_path: Path) -> None:
    for command in PROJECT["project"].get("scripts", {}):
        run = subprocess.run(
            [installed.python.parent / command, "--help"],
            cwd=tmp_path,
            env=plain_environment(),
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        assert command in run.stdout


def test_installed_scripts_keep_bytes_and_run_bit(installed: Installed) -> None:
    source = ROOT / "lifecycle" / "hyperpod_lifecycle" / "scripts"
    copy = installed.packages / "hyperpod_lifecycle" / "scripts"
    files = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts]
    assert files
    for path in files:
        assert (source / path).read_bytes() == (copy / path).read_bytes()
        assert os.access(source / path, os.X_OK) == os.access(copy / path, os.X_OK), path


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the wheel and nothing else, as training images install it."""
    folder = tmp_path_factory.mktemp("training_image")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--disable-pip-version-check", str(wheel)], check=True)
    return python


IMPORT_TRAINING = """
import sys
import hyperpod_lifecycle.training as training
early = [name for name in sys.modules if name.startswith("hyperpod_lifecycle.training.")]
for name in training.__all__:
    getattr(training, name)
own = {"hyperpod_lifecycle", "hyperpod_model", "__main__"}
print(early, sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names - own))
"""


def test_training_code_imports_the_standard_library_alone(bare: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [bare, "-c", IMPORT_TRAINING], cwd=tmp_path, env=plain_environment(), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    early, others = run.stdout.split("] [")
    assert early == "["
    assert {name for name in others.strip("[]\n").split(", ") if "virtualenv" not in name} <= {
        "",
        "'sitecustomize'",
    }


def test_training_code_saves_and_resumes_with_the_wheel_alone(bare: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [bare, ROOT / "docs" / "snippets" / "resume.py"],
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (0, "7 steps were lost\n"), run.stderr


@pytest.fixture(scope="module")
def example_template(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The example of another team, synthesized from the wheel in a folder of its own."""
    folder = tmp_path_factory.mktemp("other_team") / "app"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "cdk.out"))
    return synthesize_example(installed.python, folder, folder / "cdk.out")


def synthesize_example(python: Path, folder: Path, assembly: Path) -> str:
    run = subprocess.run(
        [python, "app.py"],
        cwd=folder,
        env=plain_environment(CDK_OUTDIR=str(assembly)),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return (assembly / "TrainingPlatform.template.json").read_text()


def test_another_team_synthesizes_its_stack_from_the_wheel(example_template: str) -> None:
    kinds = [resource["Type"] for resource in json.loads(example_template)["Resources"].values()]
    assert kinds.count("AWS::EC2::VPC") == 1
    assert kinds.count("AWS::FSx::FileSystem") == 1
    assert "AWS::SageMaker::Cluster" not in kinds


def test_the_wheel_and_the_checkout_synthesize_the_same(example_template: str, tmp_path: Path) -> None:
    """The prefix of the uploaded scripts is a hash of their content: another would update the nodes."""
    from_checkout = synthesize_example(Path(sys.executable), EXAMPLE, tmp_path / "cdk.out")
    assert json.loads(from_checkout) == json.loads(example_template)


def test_another_teams_app_is_type_checked_against_the_wheel(installed: Installed, tmp_path: Path) -> None:
    """By the annotations of the installed packages: without ``py.typed`` each import would be an error."""
    app = shutil.copy(EXAMPLE / "app.py", tmp_path)
    settings = tmp_path / "mypy.ini"  # analysing the CDK as well takes a minute
    settings.write_text("[mypy]\n[mypy-aws_cdk.*,cdk_nag.*,constructs.*,jsii.*]\nfollow_imports = skip\n")
    options = ["--config-file", settings, "--cache-dir", tmp_path / "cache"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--python-executable", installed.python, app],
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
