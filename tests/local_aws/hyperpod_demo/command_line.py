"""Runs the CDK CLI as a step: everything it says goes into a log, and how far it is onto the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from cdk_command import ROOT, CdkCommand, kill

from hyperpod_demo.interrupts import Interrupts
from hyperpod_demo.progress import Step

_LINES_SHOWN = 25
_RESOURCES = re.compile(r"^\S+ \|\s*(\d+)/(\d+) \|")
_STAGES = (
    (re.compile(r": start: (?:Building|Publishing) "), "publishing assets"),
    (re.compile(r": creating CloudFormation changeset"), "creating the change set"),
)


class DemoError(Exception):
    """What went wrong, in words for whoever runs the demo."""


class CommandLine:
    """The CDK CLI.

    Args:
        cdk: Starts it.
        interrupts: What may stop it.
    """

    def __init__(self, cdk: CdkCommand, interrupts: Interrupts) -> None:
        self._cdk = cdk
        self._interrupts = interrupts

    def run(
        self,
        *arguments: str,
        log: Path,
        step: Step | None = None,
        stage: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Run a command to its end; it ends with everything that it started when this is interrupted.

        Args:
            arguments: Of the CLI.
            log: Where its output goes.
            step: The step that this is, to tell how far it is. By default nothing is told.
            stage: Reads from a line of output how far the step is, if it says so.

        Raises:
            DemoError: If the command fails, with the end of its log.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as clean_up, log.open("w", encoding="utf-8") as file:
            with self._interrupts.held():
                process = self._cdk.start(*arguments)
                clean_up.callback(lambda: kill(process) if process.poll() is None else None)
            assert process.stdout is not None
            for line in process.stdout:
                file.write(line)
                file.flush()
                reached = stage(line)
                if reached is not None and step is not None:
                    step.at = reached
            code = process.wait()
        if code != 0:
            raise DemoError(
                f"'cdk {arguments[0]}' ended with code {code}. The end of what it said, all of which is in "
                f"{shown(log)}:\n\n" + "\n".join(last_lines(log))
            )


def deployment_stage(line: str) -> str | None:
    """Return how far a deployment is, if a line of the CLI's output tells."""
    found = _RESOURCES.search(line)
    if found is not None:
        # The CLI counts the stack itself among its resources.
        number = int(found[2]) - 1
        return f"{min(int(found[1]), number)} of {number} resources"
    return next((stage for pattern, stage in _STAGES if pattern.search(line)), None)


def last_lines(log: Path) -> Iterator[str]:
    """Return the end of a log, indented."""
    for line in log.read_text(encoding="utf-8").splitlines()[-_LINES_SHOWN:]:
        yield f"    {line}"


def shown(path: Path) -> str:
    """Return a path as one types it in the repository's folder."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
