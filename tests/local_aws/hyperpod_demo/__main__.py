"""``make demo`` and ``make demo-stop``."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cdk_command import ROOT

from aws_double.running import outside_environment
from hyperpod_demo.clusters import EXAMPLES, DemoCluster
from hyperpod_demo.command_line import DemoError, shown
from hyperpod_demo.interrupts import Interrupts
from hyperpod_demo.keeping import stop
from hyperpod_demo.play import WITHOUT_ACCOUNT, Demo
from hyperpod_demo.progress import Progress
from hyperpod_model.faults import InvalidInputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the demo.

    Args:
        arguments: Of the command line. By default those of the process.

    Returns:
        The exit code.
    """
    given = _parser().parse_args(arguments)
    _forget_accounts()
    progress = Progress(sys.stdout)
    with Interrupts() as interrupts:
        try:
            if given.stop:
                progress.tell(
                    "The double is stopped." if stop(given.folder) else "No double was left running."
                )
                return 0
            clusters = _clusters(given.cluster, dict(given.context))
            with _alone(given.folder):
                _empty(given.folder, progress)
                demo = Demo(folder=given.folder, progress=progress, interrupts=interrupts)
                if given.synth_only:
                    demo.synthesize(clusters)
                else:
                    demo.play(clusters, keep=given.keep)
        except InvalidInputError as error:
            for fault in error.faults:
                print(f"error: {fault}", file=sys.stderr)
            if any("-c " in str(fault) for fault in error.faults):
                print("With make, in place of -c: make demo CONTEXT='name=value ...'", file=sys.stderr)
            return 1
        except DemoError as error:
            print(f"\nerror: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nStopped, and the double with it.", file=sys.stderr)
            number = signal.SIGINT if interrupts.number is None else interrupts.number
            return 128 + number
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hyperpod_demo", description="Deploy to a double of AWS")
    parser.add_argument("--cluster", type=Path, help="a cluster of your own instead of the two usual ones")
    parser.add_argument(
        "--context",
        type=_pair,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="context of the app beside the cluster, such as region=us-west-2 for a request",
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "demo", help="emptied at first")
    parser.add_argument("--synth-only", action="store_true", help="synthesize, and deploy nothing")
    parser.add_argument("--keep", action="store_true", help="leave the double running")
    parser.add_argument("--stop", action="store_true", help="stop a double that was left running")
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        message = f"must be NAME=VALUE, got {text!r}; with make: make demo CONTEXT='name=value ...'"
        raise argparse.ArgumentTypeError(message)
    return name, value


def _forget_accounts() -> None:
    """Leave nothing in the environment that leads boto3 or the CLI to a real account."""
    for name in os.environ.keys() - outside_environment().keys():
        del os.environ[name]
    os.environ |= WITHOUT_ACCOUNT
    # It brought this program its modules; the app that the CLI runs has its own.
    os.environ.pop("PYTHONPATH", None)


def _clusters(file: Path | None, context: dict[str, str]) -> list[DemoCluster]:
    files = EXAMPLES if file is None else {"cluster": file}
    return [DemoCluster.load(folder, one, context) for folder, one in files.items()]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no second demo empty the folder of one that runs."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DemoError(f"another demo uses {shown(folder)}; wait for it, or stop it") from None
        yield


def _empty(folder: Path, progress: Progress) -> None:
    if stop(folder):
        progress.tell("Stopped the double that an earlier demo left running.\n")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


if __name__ == "__main__":
    sys.exit(main())
