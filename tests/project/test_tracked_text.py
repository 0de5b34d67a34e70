"""What no file of the project may say: addresses of package registries and paths of one machine."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Written in pieces so that this file does not find itself.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("debian", "org"),
        ("ubuntu", "com"),
    )
]
MACHINE_PATHS = ["/" + name + "/" for name in ("work", "root")] + ["/home/" + "runner", "/opt/" + "pypi"]
WORDS = ["sub" + "agent"]
FORBIDDEN = re.compile(
    "|".join(
        [
            *(re.escape(host) for host in REGISTRY_HOSTS),
            *(rf"(?<![\w.~-]){re.escape(path)}" for path in MACHINE_PATHS),
            *WORDS,
        ]
    ),
    re.IGNORECASE,
)


def files_of(tree: Path) -> list[Path]:
    """Files that are tracked, or would be by ``git add``."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [tree / name for name in sorted(listed.split("\0")) if name and (tree / name).is_file()]


def forbidden_text(tree: Path) -> list[str]:
    faults = []
    for path in files_of(tree):
        name = path.relative_to(tree).as_posix()
        if FORBIDDEN.search(name):
            faults.append(f"{name}: the name itself")
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if match := FORBIDDEN.search(line):
                faults.append(f"{name}:{number}: {match[0]}")
    return faults


@pytest.mark.needs_system("git")
def test_no_file_names_a_registry_or_a_machine() -> None:
    assert files_of(ROOT)
    assert forbidden_text(ROOT) == []


@pytest.mark.needs_system("git")
@pytest.mark.parametrize("text", [*REGISTRY_HOSTS, *MACHINE_PATHS, *WORDS])
def test_forbidden_text_is_found(tmp_path: Path, text: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "tracked.md").write_text(f"fine\nsee {text}x\n")
    subprocess.run(["git", "add", "tracked.md"], cwd=tmp_path, check=True)
    (tmp_path / "untracked.md").write_text(f"({text.upper()})\n")
    faults = forbidden_text(tmp_path)
    assert [fault.rpartition(":")[0] for fault in faults] == ["tracked.md:2", "untracked.md:1"]


@pytest.mark.needs_system("git")
def test_innocent_text_passes(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.md").write_text(
        "homework/ net" + "work/ .../group-root/x arn:aws:iam::111122223333:root\n"
    )
    assert forbidden_text(tmp_path) == []


def test_requirements_are_exact_pins() -> None:
    lines = [
        line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")
    ]
    assert lines.pop() == "-e ."
    wrong = [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)]
    assert wrong == []


def test_the_lock_pins_the_cdk_and_names_no_host() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    wanted = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    for name, version in wanted.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), f"{name} is not pinned"
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert all("resolved" not in package for package in lock["packages"].values())
