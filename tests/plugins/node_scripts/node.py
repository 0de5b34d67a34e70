"""A node: its files under a folder, the bundle as S3 delivers it, and stand-ins for system programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperpod_lifecycle.scripts_folder import scripts_folder
from node_scripts.machine import Scenario

STAND_INS = Path(__file__).parent / "stand_ins"

REAL_PROGRAMS = (
    *("awk", "base64", "basename", "bash", "cat", "chmod", "cksum", "cmp", "comm", "cp", "cut", "date"),
    *("diff", "dirname", "env", "false", "find", "flock", "grep", "head", "id", "install", "ln", "ls"),
    *("mkdir", "mktemp", "mv", "nproc", "od", "paste", "printf", "readlink", "realpath", "rm", "rmdir"),
    *("sed", "seq", "setsid", "sh", "sha256sum", "sort", "stat", "tail", "tar", "tee", "test", "timeout"),
    *("touch", "tr", "true", "uniq", "wc", "xargs"),
)
"""Programs that change nothing but the files they are given. python3, the one of the tests, is there too."""

NEEDED = tuple(name for name in REAL_PROGRAMS if name != "test")


class Node:
    """A node of a scenario.

    Args:
        folder: An empty folder of the test's own.
        scenario: What is on the node before its first script runs.

    Attributes:
        root: Where the node's files begin.
        bundle: The scripts, without executable modes, since S3 keeps none; ``parameters.json`` beside them.
        programs: The whole PATH of the scripts.
    """

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.folder = folder
        self.scenario = scenario
        self.root = folder / "root"
        self.bundle = folder / "bundle"
        self.programs = folder / "programs"
        shutil.copytree(scripts_folder(), self.bundle, ignore=shutil.ignore_patterns("__pycache__"))
        for file in self.bundle.rglob("*"):
            if file.is_file():
                file.chmod(0o644)
        if scenario.parameters is not None:
            self.set_parameters(scenario.parameters)
        for path, content in scenario.files.items():
            self.write(path, content)
        for path, target in scenario.links.items():
            link = self.path(path)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        for path in scenario.folders:
            self.path(path).mkdir(parents=True, exist_ok=True)
        self._link_programs()

    def path(self, path: str) -> Path:
        """A path of the node, such as ``/etc/fstab``, on this machine."""
        return self.root / path.lstrip("/")

    def read(self, path: str) -> str:
        return self.path(path).read_text()

    def write(self, path: str, content: str) -> None:
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        if content.startswith("#!"):
            file.chmod(0o755)

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        text = json.dumps(parameters, indent=2, sort_keys=True) + "\n"
        (self.bundle / "parameters.json").write_text(text)

    def without(self, program: str) -> None:
        """Take a program off the node."""
        (self.programs / program).unlink()

    def replace(self, program: str, script: str) -> None:
        """Put another stand-in in the place of one."""
        self.without(program)
        file = self.programs / program
        file.write_text(script)
        file.chmod(0o755)

    def environment(self, **extra: str) -> dict[str, str]:
        return {
            "PATH": str(self.programs),
            "PROVISION_ROOT": str(self.root),
            "PROVISION_RETRY_ATTEMPTS": "2",
            "PROVISION_RETRY_PAUSE": "0",
            "PROVISION_SHIPPING_SECONDS": "0",
            "STAND_IN_ADDRESSES": f"172.17.0.1 {self.scenario.address}",
            **extra,
        }

    def command(self, script: str | None = None) -> list[str]:
        """How a script of the bundle is started, by default the scenario's entry point."""
        name = self.scenario.entry_point if script is None else script
        return [str(self.programs / "bash"), str(self.bundle / name)]

    def run(self, script: str | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(script),
            env=self.environment(**extra),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def _link_programs(self) -> None:
        self.programs.mkdir()
        for name in REAL_PROGRAMS:
            real = shutil.which(name)
            if real is not None:
                (self.programs / name).symlink_to(real)
        # Not a shim or a wrapper, which would be a script itself.
        (self.programs / "python3").symlink_to(os.path.realpath(sys.executable))
        for stand_in in STAND_INS.iterdir():
            (self.programs / stand_in.name).symlink_to(stand_in)


def last_line(result: subprocess.CompletedProcess[str]) -> str:
    """The last line of a run's log."""
    return result.stdout.splitlines()[-1]
