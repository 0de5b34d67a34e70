"""A Slurm controller and its nodes."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import pytest

from local_slurm.place import PORTS_A_PLACE, Place

_HERE = Path(__file__).parent
_SYSTEM_PROGRAMS = "/usr/sbin:/sbin"
_COMMAND_SECONDS = 60
_START_SECONDS = 60
_FIRST_NODE = 3
_NOISE = re.compile(r"[mM][pP][iI]|differs from hardware|CPU frequency|state file")

_Value = TypeVar("_Value")


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_PROGRAMS}")


_MISSING = [name for name in ("slurmctld", "slurmd", "munged", "sbatch", "srun") if _program(name) is None]
needs_slurm = pytest.mark.skipif(
    sys.platform != "linux" or bool(_MISSING),
    reason=f"needs Linux and {', '.join(_MISSING)}: on Debian, apt-get install slurm-wlm munge",
)


class LocalSlurm:
    """A cluster whose nodes are named as those of HyperPod are: ``ip-10-1-2-3`` and on.

    Runs as any user. Nothing of it outlives the test process, however that ends, but its folder in ``/tmp``.

    Attributes:
        nodes: Names of the nodes.
        user: Who everything runs as.
        folder: Where all of it is; short, since it holds Unix sockets.
        environment: Of commands that speak to it.

    Args:
        nodes: How many.
        gpus: Generic resources a node. With any, Slurm refuses to change an allocation, as on every GPU node
            of HyperPod. Default none.
        parameters: Further lines of ``slurm.conf``.
    """

    def __init__(self, *, nodes: int, gpus: int = 0, parameters: Sequence[str] = ()) -> None:
        assert 1 <= nodes < PORTS_A_PLACE
        self.nodes = [f"ip-10-1-2-{number}" for number in range(_FIRST_NODE, _FIRST_NODE + nodes)]
        self.user = getpass.getuser() if os.geteuid() else "root"
        self._gpus = gpus
        self._parameters = parameters
        self._place = Place()
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self._configuration = self.folder / "slurm.conf"
        self._machines: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))},
            "SLURM_CONF": str(self._configuration),
        }

    def __enter__(self) -> LocalSlurm:
        try:
            self._write_configuration()
            self._start_munge()
            self._start("slurmctld", _program("slurmctld"), "-D", "-c", "-f", str(self._configuration))
            for node in self.nodes:
                self.start_node(node)
            self.wait_for_idle(*self.nodes)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all of its processes and remove its folder."""
        # All at once: each takes a moment.
        for machine in self._machines.values():
            assert machine.stdin is not None
            machine.stdin.close()
        for machine in self._machines.values():
            machine.wait()
        self._machines.clear()
        self._place.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def address_of(self, node: str) -> str:
        """Address of a node, as ``scontrol show node`` tells it."""
        return self._place.address(int(node.rpartition("-")[2]))

    def run(
        self, *command: str, environment: Mapping[str, str] | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that speaks to the cluster; commands of Slurm hang where the controller is away.

        Args:
            command: Program and arguments.
            environment: Further variables. Default none.
            check: Whether to fail the test where the command fails. Default True.
        """
        done = subprocess.run(
            command,
            env={**self.environment, **({} if environment is None else environment)},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(
                f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}\n{self.logs()}"
            )
        return done

    def submit(
        self, *arguments: str, environment: Mapping[str, str] | None = None, through: Sequence[str] = ()
    ) -> str:
        """Submit a batch file, and return the job's id.

        Args:
            arguments: Of ``sbatch``.
            environment: Further variables of the one who submits. Default none.
            through: Command that runs ``sbatch``, such as ``salloc`` with options. Default none.
        """
        done = self.run(*through, "sbatch", "--parsable", *arguments, environment=environment)
        return done.stdout.strip()

    def show(self, kind: str, name: str) -> dict[str, str]:
        """Fields of a job, step or node, as ``scontrol`` shows them.

        Args:
            kind: ``job``, ``step`` or ``node``.
            name: Which.
        """
        text = self.run("scontrol", "--oneliner", "show", kind, name).stdout
        return dict(re.findall(r"(?:^| )([A-Za-z][\w:/-]*)=(\S*)", text))

    def states_of(self, node: str) -> set[str]:
        """State of a node and its flags, such as ``IDLE`` and ``FAIL``.

        Args:
            node: Its name.
        """
        return set(self.show("node", node)["State"].rstrip("*").split("+"))

    def nodes_of(self, job: str) -> list[str]:
        """Nodes that a job has now.

        Args:
            job: Its id.
        """
        return list(self.hostnames(self.show("job", job)["NodeList"]))

    def hostnames(self, listed: str) -> tuple[str, ...]:
        """Names that a list such as ``ip-10-1-2-[3-4]`` stands for.

        Args:
            listed: The list.
        """
        return tuple(self.run("scontrol", "show", "hostnames", listed).stdout.split())

    def wait_until(self, what: str, ask: Callable[[], _Value | None], *, seconds: float = 60) -> _Value:
        """Wait until there is an answer that is not None, False or empty, and return it.

        Args:
            what: What is waited for, in words.
            ask: Asks for it.
            seconds: Most time. Default 60.
        """
        end = time.monotonic() + seconds
        while not (answer := ask()):
            if time.monotonic() >= end:
                raise AssertionError(f"no {what} within {seconds} s\n{self.logs()}")
            time.sleep(0.1)
        return answer

    def wait_for_state(self, job: str, *states: str, seconds: float = 60) -> str:
        """Wait until a job is in one of some states, and return which.

        Args:
            job: Its id.
            states: Such as ``RUNNING`` and ``COMPLETED``.
            seconds: Most time. Default 60.
        """

        def state() -> str | None:
            found = self.show("job", job)["JobState"]
            return found if found in states else None

        return self.wait_until(f"{' or '.join(states)} of job {job}", state, seconds=seconds)

    def wait_for_idle(self, *nodes: str) -> None:
        """Wait until nodes take work.

        Args:
            nodes: Their names.
        """

        def all_idle() -> bool:
            said = self.run(
                "sinfo", "--noheader", "--Node", "--format=%T", f"--nodes={','.join(nodes)}", check=False
            )
            return said.returncode == 0 and set(said.stdout.split()) == {"idle"}

        self.wait_until(f"idle nodes {', '.join(nodes)}", all_idle, seconds=_START_SECONDS)

    def kill_node(self, node: str) -> None:
        """Cut the power of a node: its daemon, its job steps and their processes end without a word.

        Args:
            node: Its name.
        """
        machine = self._machines.pop(node)
        assert machine.stdin is not None
        machine.stdin.close()
        machine.wait()

    def start_node(self, node: str) -> None:
        """Start a node, also one that was killed: Slurm takes it for a new machine under the same name.

        Args:
            node: Its name.
        """
        assert node not in self._machines
        self._start(node, _program("slurmd"), "-D", "-N", node, "-f", str(self._configuration))

    def mend(self) -> None:
        """Start all nodes that are not there, and have Slurm give work to all."""
        for node in self.nodes:
            if node not in self._machines:
                self.start_node(node)
            if self.states_of(node) & {"DOWN", "DRAIN", "FAIL"}:
                self.run("scontrol", "update", f"nodename={node}", "state=resume")
        self.wait_for_idle(*self.nodes)

    def logs(self) -> str:
        """Ends of all logs, for a test that fails."""
        told = []
        for file in sorted((self.folder / "log").glob("*.log")):
            lines = file.read_text(errors="replace").splitlines()
            told += [f"== {file.name}", *[line for line in lines if _NOISE.search(line) is None][-8:]]
        return "\n".join(told)

    def _start(self, name: str, program: str | None, *arguments: str) -> None:
        assert program is not None
        with (self.folder / "log" / f"{name}.out").open("ab") as output:
            self._machines[name] = subprocess.Popen(
                [sys.executable, "-I", "-S", _HERE / "machine_stand_in.py", program, *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                env=self.environment,
            )

    def _start_munge(self) -> None:
        run = self.folder / "run"
        key = run / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        socket = run / "munge"
        self._start(
            "munged",
            _program("munged"),
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={socket}",
            f"--pid-file={run / 'munged.pid'}",
            f"--log-file={self.folder / 'log' / 'munged.log'}",
            f"--seed-file={run / 'munged.seed'}",
            "--num-threads=2",
        )
        self.wait_until("socket of munged", socket.exists, seconds=_START_SECONDS)

    def _write_configuration(self) -> None:
        folder = self.folder
        folders = [folder / name for name in ("run", "log", "state")]
        for path in (*folders, *(folder / "spool" / node for node in self.nodes)):
            path.mkdir(parents=True)
        controller, *ports = self._place.ports
        resource = f" Gres=gpu:{self._gpus}" if self._gpus else ""
        nodes = [
            f"NodeName={node} NodeHostname=localhost NodeAddr={self.address_of(node)} Port={port} CPUs=4"
            f" RealMemory=1000{resource}"
            for node, port in zip(self.nodes, ports, strict=False)
        ]
        lines = [
            f"ClusterName=c{controller}",
            f"SlurmctldHost=localhost({self._place.address(1)})",
            f"SlurmctldPort={controller}",
            f"SlurmUser={self.user}",
            f"SlurmdUser={self.user}",
            "AuthType=auth/munge",
            "CredType=cred/munge",
            # A requeued job waits until credentials have expired: 120 seconds by default.
            f"AuthInfo=socket={folder / 'run' / 'munge'},cred_expire=5",
            f"StateSaveLocation={folder / 'state'}",
            f"SlurmdSpoolDir={folder / 'spool' / '%n'}",
            f"SlurmctldPidFile={folder / 'run' / 'slurmctld.pid'}",
            f"SlurmdPidFile={folder / 'run' / '%n.pid'}",
            f"SlurmctldLogFile={folder / 'log' / 'slurmctld.log'}",
            f"SlurmdLogFile={folder / 'log' / '%n.log'}",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "MailProg=/bin/true",
            "MpiDefault=none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "SlurmdParameters=config_overrides",
            "SchedulerParameters=permit_job_expansion,sched_min_interval=0,batch_sched_delay=0,bf_interval=1",
            "ReturnToService=2",
            "SlurmdTimeout=60",
            "KillWait=10",
            *(["GresTypes=gpu"] if self._gpus else []),
            *self._parameters,
            *nodes,
            "PartitionName=dev Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        ]
        self._configuration.write_text("\n".join(lines) + "\n")
        if self._gpus:
            devices = folder / "run"
            for number in range(self._gpus):
                (devices / f"gpu{number}").touch()
            self._configuration.with_name("gres.conf").write_text(
                f"NodeName={','.join(self.nodes)} Name=gpu File={devices}/gpu[0-{self._gpus - 1}]\n"
            )
