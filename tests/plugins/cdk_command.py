"""Runs the real CDK CLI against a double of AWS, as a user would."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"
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
    """The CDK CLI, talking to one double.

    Times of all commands are kept in ``timings``, by a name for people.
    """

    def __init__(self, *, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment) | {"NO_COLOR": "1", "CI": "true"}
        self.timings: dict[str, float] = {}

    def run(self, *arguments: str, name: str | None = None) -> Ran:
        """Run a command to its end, whatever that is."""
        started = time.monotonic()
        ended = subprocess.run(
            self.command(*arguments),
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        took = time.monotonic() - started
        self.timings[arguments[0] if name is None else name] = took
        return Ran(ended.stdout, ended.returncode, took)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def command(self, *arguments: str) -> list[str]:
        return [str(CDK), "--no-notices", *arguments]

    def bootstrap(self, account: str, region: str) -> Ran:
        return self.run("bootstrap", f"aws://{account}/{region}")

    def deploy(
        self, assembly: Path, *arguments: str, stack: str = "HyperPodStack", name: str = "deploy"
    ) -> Ran:
        return self.run(
            "deploy", stack, "--app", str(assembly), "--require-approval", "never", *arguments, name=name
        )

    def destroy(self, assembly: Path, *, stack: str = "HyperPodStack", name: str = "destroy") -> Ran:
        return self.run("destroy", stack, "--app", str(assembly), "--force", name=name)
