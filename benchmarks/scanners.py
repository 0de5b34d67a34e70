"""Other tools that read a template, as commands to measure `hyperpod-review` against."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PACKAGES = ("checkov==3.3.30", "cloudformation-validate==1.14.0")

# It ships a library only. Of its engines this one starts soonest; the templates' findings are the same.
_VALIDATE = """\
import sys
from cloudformation_validate import CelEngine

report = CelEngine().validate_template(sys.argv[1])
for found in report.diagnostics:
    print(found.severity.name, found.rule_id, found.message)
"""


def commands(environment: Path) -> tuple[Mapping[str, list[str]], list[str]]:
    """Return the command of each tool, a template's file to be added, and why tools are left out.

    Args:
        environment: Virtual environment of the tools that are not in this project's own, made if need be.
    """
    own = Path(sys.executable).parent
    found = {"cfn-lint": [str(own / "cfn-lint"), "--format", "json"]}
    problem = _installed(environment)
    if problem is not None:
        return found, [f"{package.partition('==')[0]}: {problem}" for package in PACKAGES]
    python = environment / "bin" / "python"
    found["cloudformation-validate"] = [str(python), "-c", _VALIDATE]
    found["checkov"] = [
        str(environment / "bin" / "checkov"),
        *("--framework", "cloudformation", "--skip-download", "--quiet", "--compact", "--output", "json"),
        "--file",
    ]
    return found, []


def _installed(environment: Path) -> str | None:
    """Install the packages if need be; say why that is not possible."""
    ready = environment / ".ready"
    wanted = "\n".join(PACKAGES)
    if ready.is_file() and ready.read_text() == wanted:
        return None
    for command in (
        [sys.executable, "-m", "venv", str(environment)],
        [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES],
    ):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
            return lines[-1] if lines else f"{command[0]} ended with {run.returncode}"
    ready.write_text(wanted)
    return None
