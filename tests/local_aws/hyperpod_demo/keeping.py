"""A double that stays when the demo is over, until its file of settings goes.

No process has to be found to stop it: ``make demo-stop`` removes the file, and so does ``make clean``.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cdk_command import ROOT

from aws_double import LIMITS
from aws_double.running import running
from hyperpod_demo.command_line import DemoError, shown
from hyperpod_demo.interrupts import Interrupts

SETTINGS: Final = "double.env"
"""File of settings, for a shell to read."""

_LOCK = "double.lock"
_LOG = "keeper.log"
_LOOK_SECONDS = 0.3
_STOP_SECONDS = 20.0
_FORGET = """\
# What names another account, region, profile or proxy must not mix with the double's.
for name in $(env | grep -E -i '^((aws|cdk)_[a-z0-9_]*|[a-z0-9_]*_proxy)=' | cut -d = -f 1); do
    unset "$name"
done
"""


def settings_file(settings: Mapping[str, str]) -> str:
    """Return what a shell reads to use a double.

    Args:
        settings: Environment variables by which clients use it.
    """
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{ROOT / 'node_modules' / '.bin'}"
    exports = [f"export {name}={shlex.quote(value)}" for name, value in sorted(settings.items())]
    return "\n".join(
        [
            "# A double of AWS on this machine, not AWS. It does not show:",
            *(f"# - {limit}" for limit in LIMITS),
            "# It ends when this file is removed.",
            _FORGET,
            *exports,
            f'export PATH={shlex.quote(path)}{os.pathsep}"$PATH"',
            "",
        ]
    )


@contextmanager
def kept(*, folder: Path, region: str, interrupts: Interrupts) -> Iterator[str]:
    """Start a double that stays, unless it is interrupted before the end of the block.

    Args:
        folder: For its settings, its log and the CDK CLI's cache.
        region: Region of its settings.
        interrupts: What may stop it.

    Yields:
        Its address.

    Raises:
        DemoError: If it does not start.
    """
    log = folder / _LOG
    keeper: subprocess.Popen[str] | None = None
    try:
        with log.open("wb") as file, interrupts.held():
            keeper = subprocess.Popen(
                [sys.executable, "-m", "hyperpod_demo.keeping", str(folder), region],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                # It outlives the terminal.
                start_new_session=True,
            )
        assert keeper.stdout is not None
        endpoint = keeper.stdout.readline().strip()
        if not endpoint:
            raise DemoError(f"the double of AWS did not start:\n{log.read_text()}")
        yield endpoint
    except KeyboardInterrupt:
        if keeper is not None:
            keeper.terminate()
            keeper.wait()
        raise


def stop(folder: Path) -> bool:
    """Stop a double that was left running.

    Args:
        folder: Where its settings are.

    Returns:
        Whether there was one; its file alone, after a crash of the machine, is none.

    Raises:
        DemoError: If it does not end.
    """
    settings = folder / SETTINGS
    if not settings.exists():
        return False
    settings.unlink()
    until = time.monotonic() + _STOP_SECONDS
    ran = False
    with (folder / _LOCK).open("a") as file:
        while not _lock(file.fileno()):
            ran = True
            if time.monotonic() > until:
                raise DemoError(f"the double of {shown(folder)} does not end; see {shown(folder / _LOG)}")
            time.sleep(_LOOK_SECONDS)
    return ran


def keep(folder: Path, region: str) -> None:
    """Run a double until its file of settings goes.

    Args:
        folder: For that file, its log and the CDK CLI's cache.
        region: Region of its settings.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings = folder / SETTINGS
    with (folder / _LOCK).open("a") as file:
        if not _lock(file.fileno()):
            raise SystemExit(f"another double holds {folder / _LOCK}")
        with running(folder=folder, region=region) as double:
            settings.write_text(settings_file(double.settings))
            try:
                print(double.endpoint, flush=True)
                while settings.exists():
                    time.sleep(_LOOK_SECONDS)
            finally:
                settings.unlink(missing_ok=True)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2])
