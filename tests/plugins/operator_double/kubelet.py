"""Runs the container of a pod as a process, and ends it as a node's kubelet does."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from operator_double.variables import environment_of, expand

_MARKER = "OPERATOR_DOUBLE_POD"
_LOOPBACK = {"GLOO_SOCKET_IFNAME": "lo", "PET_LOCAL_ADDR": "127.0.0.1"}
_MOST_SECONDS = 180.0

Template = Mapping[str, Any]


class Ended(NamedTuple):
    """How a pod ended.

    Attributes:
        code: Exit code of its first process, negative for a signal.
        seconds: From SIGTERM to its end.
        killed: Whether the grace period was over before.
    """

    code: int
    seconds: float
    killed: bool


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where pods run.

    Attributes:
        programs: Folders that programs are found in, before those of the system.
        image: Folders of the image, by their paths in the container.
        claims: Folders of persistent volumes, by name of the claim.
        work: Folder for logs and what pods write elsewhere.
        environment: Variables of the image.
    """

    programs: Sequence[Path]
    image: Mapping[str, Path]
    claims: Mapping[str, Path]
    work: Path
    environment: Mapping[str, str] = field(default_factory=dict)


class Pod:
    """A pod with one container.

    Leaving it as a context kills what is left of it.

    Args:
        name: Its name.
        template: Its template, with what the operator adds to it.
        machine: Where it runs.
    """

    def __init__(self, name: str, template: Template, machine: Machine) -> None:
        (container,) = template["spec"]["containers"]
        self.name = name
        self.grace_seconds: int = template["spec"].get("terminationGracePeriodSeconds", 30)
        self._marker = f"{name}.{uuid.uuid4()}"
        folders = {**machine.image, **_mounted(template["spec"], container, machine)}
        environment = environment_of(container.get("env", ()))
        words = [*container.get("command", ()), *container.get("args", ())]
        self.command = [_local(expand(word, environment), folders) for word in words]
        self.environment = {
            "PATH": os.pathsep.join([*map(str, machine.programs), os.defpath]),
            "HOME": str(machine.work),
            "TMPDIR": str(machine.work),
            "OMP_NUM_THREADS": "1",
            **_LOOPBACK,
            **machine.environment,
            **{key: _local(value, folders) for key, value in environment.items()},
            _MARKER: self._marker,
        }
        self._log = machine.work / f"{self._marker}.log"
        with self._log.open("wb") as log:
            # A session of its own, as a container has: nothing but this pod gets its signals.
            self._process = subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=machine.work,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()

    @property
    def log(self) -> str:
        """All that it has written."""
        return self._log.read_text(errors="replace")

    @property
    def code(self) -> int | None:
        """Exit code of its first process, None while that runs."""
        return self._process.poll()

    def wait(self, seconds: float = _MOST_SECONDS) -> int:
        """Wait for its end.

        Args:
            seconds: Most seconds.

        Returns:
            The exit code.
        """
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} runs after {seconds} seconds:\n{self.log}") from None

    def wait_for(self, pattern: str, *, seconds: float = _MOST_SECONDS) -> re.Match[str]:
        """Wait until its log has a line.

        Args:
            pattern: Regular expression.
            seconds: Most seconds.

        Raises:
            AssertionError: If it ended before, or the time is over.
        """
        end = time.monotonic() + seconds
        while (found := re.search(pattern, self.log)) is None:
            ended = self.code
            if ended is not None and re.search(pattern, self.log) is None:
                raise AssertionError(f"{self.name} ended with {ended} before {pattern!r}:\n{self.log}")
            assert time.monotonic() < end, f"{self.name} has no {pattern!r} yet:\n{self.log}"
            time.sleep(0.05)
        return found

    def processes(self, word: str) -> list[int]:
        """Return the ids of its processes, but for its first one, that have a word in their command.

        Args:
            word: Such as the name of a script.
        """
        return [
            process
            for process in _processes(self._marker)
            if process != self._process.pid and word in _command(process)
        ]

    def signal_end(self) -> None:
        """Send SIGTERM to its first process, and to no other: that is all a kubelet does."""
        if self.code is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill all its processes, as happens when the first one of a container is gone."""
        while processes := list(_processes(self._marker)):
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)
        self._process.wait()


def terminate(pods: Iterable[Pod]) -> list[Ended]:
    """End pods at once, each within its own grace period.

    Args:
        pods: The pods.
    """
    ending = list(pods)
    began = time.monotonic()
    for pod in ending:
        pod.signal_end()
    return [_ended(pod, began) for pod in ending]


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _ended(pod: Pod, began: float) -> Ended:
    try:
        code = pod._process.wait(max(0.0, began + pod.grace_seconds - time.monotonic()))
        killed = False
    except subprocess.TimeoutExpired:
        killed = True
    seconds = time.monotonic() - began
    pod.kill()
    return Ended(pod._process.returncode if killed else code, seconds, killed)


def _mounted(spec: Template, container: Template, machine: Machine) -> dict[str, Path]:
    claims = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"]
        for volume in spec.get("volumes", ())
        if "persistentVolumeClaim" in volume
    }
    return {
        mount["mountPath"]: machine.claims[claims[mount["name"]]]
        for mount in container.get("volumeMounts", ())
        if mount["name"] in claims
    }


def _local(text: str, folders: Mapping[str, Path]) -> str:
    for path, folder in folders.items():
        text = re.sub(rf"(?<![^\s=:,]){re.escape(path)}(?=[/\s:,]|$)", str(folder), text)
    return text


def _processes(marker: str) -> Iterator[int]:
    wanted = f"{_MARKER}={marker}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found = wanted in (entry / "environ").read_bytes().split(b"\0")
            except OSError:  # ended meanwhile, or another user's
                continue
            if found:
                yield int(entry.name)


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(errors="replace")
    except OSError:  # ended meanwhile
        return ""
