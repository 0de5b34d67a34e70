"""Runs the double in a process of its own for as long as a block of code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from aws_double import ACCOUNT
from aws_double.session import Session

_ADDRESS = re.compile(r"http://[\d.]+:\d+")
_STOP_SECONDS = 10
_NO_PROXY = "127.0.0.1,localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A double that runs.

    Attributes:
        endpoint: Its address.
        region: Region that the environment names.
        settings: Environment variables by which the CDK CLI, the AWS CLI and boto3 use it, as the account's
            root.
        environment: The same in the environment of this process, without what would lead elsewhere.
        log: What the server says.
        pid: The server's process.
    """

    endpoint: str
    region: str
    settings: Mapping[str, str]
    environment: Mapping[str, str]
    log: Path
    pid: int

    def session(self, region: str | None = None) -> Session:
        """Return the view of the account's root.

        Args:
            region: By default the environment's.
        """
        return Session(endpoint=self.endpoint, region=self.region if region is None else region)


@contextmanager
def running(
    *, folder: Path, region: str = "us-west-2", port: int = 0, pace: float = 0.0
) -> Iterator[Running]:
    """Start the double, wait until it answers, and stop it at the end.

    Args:
        folder: For its log and the CDK CLI's cache.
        region: Region of the environment; the double answers in all.
        port: Port to listen on; 0 for a free one.
        pace: Seconds to wait before each resource of a stack.

    Raises:
        RuntimeError: If it does not start; with its log.
    """
    log = folder / "aws_double.log"
    command = [
        sys.executable,
        "-m",
        "aws_double",
        "--port",
        str(port),
        "--pace",
        str(pace),
        "--stops-with-input",
    ]
    with log.open("wb") as file:
        # It also ends when this process does, however that happens, for its input ends then.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env=outside_environment() | {"PYTHONPATH": os.pathsep.join(_paths())},
        )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline().decode()
        address = _ADDRESS.search(ready)
        if address is None:
            raise RuntimeError(f"the double of AWS did not start:\n{ready}{log.read_text()}")
        settings = environment_for(address[0], region=region, folder=folder)
        yield Running(
            endpoint=address[0],
            region=region,
            settings=settings,
            environment=MappingProxyType(outside_environment() | dict(settings)),
            log=log,
            pid=process.pid,
        )
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _paths() -> list[str]:
    """Return where the server looks for modules: this package first, then wherever this process does."""
    inherited = os.environ.get("PYTHONPATH", "")
    return [str(Path(__file__).parents[1]), *(path for path in inherited.split(os.pathsep) if path)]


def environment_for(endpoint: str, *, region: str, folder: Path) -> Mapping[str, str]:
    """Return the environment variables by which clients use a double as the account's root.

    Args:
        endpoint: Address of the double.
        region: Region of the clients.
        folder: For the CDK CLI's cache, which must not mix with that of a real account.
    """
    return MappingProxyType(
        {
            "AWS_ACCESS_KEY_ID": "root",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_DEFAULT_REGION": region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_REGION": region,
            "AWS_SECRET_ACCESS_KEY": "unchecked",
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DEFAULT_ACCOUNT": ACCOUNT,
            "CDK_DEFAULT_REGION": region,
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_HOME": str(folder / "cdk"),
            "NO_PROXY": _NO_PROXY,
            "no_proxy": _NO_PROXY,
        }
    )


def outside_environment() -> dict[str, str]:
    """Return the environment of this process without what names an account, a region or a proxy."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "CDK_")) and not name.upper().endswith("_PROXY")
    }
