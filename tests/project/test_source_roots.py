"""Each source root holds one import package and is none itself.

A root ``constructs/`` that were a package would shadow the library ``constructs`` that aws-cdk-lib imports.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import constructs
import pytest

ROOT = Path(__file__).parents[2]
ROOTS = ("model", "policy", "charts", "lifecycle", "constructs")


def faults_of_source_roots(tree: Path) -> list[str]:
    faults = []
    owners: dict[str, str] = {}
    for root in ROOTS:
        folder = tree / root
        if not folder.is_dir():
            continue
        if (folder / "__init__.py").exists():
            faults.append(f"{root}/__init__.py exists, so {root}/ shadows any installed package of that name")
        packages = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
        if packages != [f"hyperpod_{root}"]:
            faults.append(f"{root}/ holds the packages {packages}, expected exactly hyperpod_{root}")
        faults += [f"{root}/{path.name} lies outside the package" for path in sorted(folder.glob("*.py"))]
        for package in packages:
            if package in owners:
                faults.append(f"{package} lies in {owners[package]}/ and in {root}/")
            owners[package] = root
    return faults


def faults_of_build_settings(tree: Path) -> list[str]:
    """Every package must reach the wheel, the type checker and the check of the wheel's contents."""
    settings = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]
    there = {f"{root}/hyperpod_{root}" for root in ROOTS if (tree / root).is_dir()}
    names = {Path(package).name for package in there}
    said = {
        "hatch wheel packages": (set(settings["hatch"]["build"]["targets"]["wheel"]["packages"]), there),
        "mypy packages": (set(settings["mypy"]["packages"]), names),
        "mypy_path": (set(settings["mypy"]["mypy_path"]), {str(Path(package).parent) for package in there}),
        "check-wheel-contents toplevel": (set(settings["check-wheel-contents"]["toplevel"]), names),
    }
    return [
        f"{setting}: got {sorted(got)}, expected {sorted(want)}"
        for setting, (got, want) in said.items()
        if got != want
    ]


def test_each_source_root_holds_one_package() -> None:
    assert faults_of_source_roots(ROOT) == []


def test_build_settings_name_every_package() -> None:
    assert faults_of_build_settings(ROOT) == []


def test_the_constructs_library_is_the_installed_one() -> None:
    assert constructs.__file__ is not None
    assert Path(constructs.__file__).is_relative_to(sysconfig.get_path("purelib"))


def test_the_constructs_library_is_the_installed_one_for_a_script_in_the_root(tmp_path: Path) -> None:
    """``python app.py`` puts the root first on the path, which pytest's import mode does not."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import constructs; print(constructs.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout.strip()
    assert Path(found).is_relative_to(sysconfig.get_path("purelib"))


@pytest.fixture
def good_tree(tmp_path: Path) -> Path:
    for root in ROOTS:
        (tmp_path / root / f"hyperpod_{root}").mkdir(parents=True)
        (tmp_path / root / f"hyperpod_{root}" / "__init__.py").touch()
    return tmp_path


def test_a_good_tree_passes(good_tree: Path) -> None:
    assert faults_of_source_roots(good_tree) == []


def test_a_root_that_is_a_package_fails(good_tree: Path) -> None:
    (good_tree / "constructs" / "__init__.py").touch()
    assert any("constructs/__init__.py exists" in fault for fault in faults_of_source_roots(good_tree))


def test_a_second_package_in_a_root_fails(good_tree: Path) -> None:
    (good_tree / "policy" / "hyperpod_model").mkdir()
    (good_tree / "policy" / "hyperpod_model" / "__init__.py").touch()
    faults = faults_of_source_roots(good_tree)
    assert any("policy/ holds the packages" in fault for fault in faults)
    assert any("hyperpod_model lies in model/ and in policy/" in fault for fault in faults)


def test_a_loose_module_in_a_root_fails(good_tree: Path) -> None:
    (good_tree / "model" / "loose.py").touch()
    assert faults_of_source_roots(good_tree) == ["model/loose.py lies outside the package"]


def test_a_package_the_build_forgets_fails(good_tree: Path) -> None:
    settings = (ROOT / "pyproject.toml").read_text().replace("charts", "forgotten")
    (good_tree / "pyproject.toml").write_text(settings)
    assert [fault.split(":")[0] for fault in faults_of_build_settings(good_tree)] == [
        "hatch wheel packages",
        "mypy packages",
        "mypy_path",
        "check-wheel-contents toplevel",
    ]


def test_a_shadowing_package_breaks_the_library(tmp_path: Path) -> None:
    """Why the guard exists: the failure it prevents is real."""
    (tmp_path / "constructs").mkdir()
    (tmp_path / "constructs" / "__init__.py").touch()
    (tmp_path / "app.py").write_text("import aws_cdk\n")
    run = subprocess.run([sys.executable, "app.py"], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 1
    assert "No module named 'constructs._jsii'" in run.stderr
