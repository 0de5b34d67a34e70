"""The command of a job: what starts the processes, and what keeps them from stopping well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from hyperpod_model.catalog.jobs import KUBEFLOW_VARIABLES, OPERATORS, SHELLS
from hyperpod_model.checks.jobs.defaults import Job, most_nodes
from hyperpod_model.checks.reading import absent, at, given, is_unknown, items, text
from hyperpod_model.faults import Fault, FaultPath

_PATH: FaultPath = ("command",)
_REFERENCE = re.compile(r"\$[({]?(\w+)[)}]?")
_PYTHON = re.compile(r"python[\d.]*")
_SIZE_OPTION = re.compile(r"--(nnodes|nproc[-_]per[-_]node|rdzv[-_](backend|endpoint|id))(?:=|$)")


def check_launch(job: Job) -> list[Fault]:
    """Check what the pods run.

    Args:
        job: The job.
    """
    faults = []
    if is_unknown(at(job, "command")):
        return []
    command = items(job, "command")
    if not command and absent(job, "script"):
        faults.append(Fault(("script",), "is required: the training script in the image, or command"))
    if command and given(job, "script"):
        faults.append(Fault(_PATH, "excludes script; keep one of the two"))
    if command and items(job, "script_args"):
        faults.append(Fault(("script_args",), "are those of script; put them into command"))
    script = text(job, "script")
    if script is not None and (not script.strip() or script != script.strip()):
        faults.append(Fault(("script",), f"must be the path of a file in the image, got {script!r}"))
    elif script is not None and " " in script:
        faults.append(
            Fault(("script",), f"must be a path alone, got {script!r}; put the rest in script_args")
        )
    words = [word for word in command if isinstance(word, str)]
    if not words or len(words) < len(command):
        return faults
    return [*faults, *_check_shell(words), *_check_program(job, words), *_check_options(job, words)]


def _check_shell(words: Sequence[str]) -> list[Fault]:
    if len(words) == 1 and " " in words[0]:
        message = (
            f"is run as it is and by no shell, so that {words[0]!r} is taken for a program; make "
            "each word an item"
        )
        return [Fault((*_PATH, 0), message)]
    if PurePosixPath(words[0]).name not in SHELLS:
        return []
    last = words[-1].strip().splitlines()
    if "-c" in words and any(re.match(r"\s*exec\s", part) for part in re.split(r"&&|;|\n", "\n".join(last))):
        return []
    return [
        Fault(
            _PATH,
            f"leaves {words[0]!r} in charge, which does not hand SIGTERM on, so that no checkpoint is saved "
            "when the pod stops; begin the last command with exec, or name the program itself",
        )
    ]


def _check_program(job: Job, words: Sequence[str]) -> list[Fault]:
    text_of_all = " ".join(words)
    operator = at(job, "operator")
    wanted = OPERATORS["hyperpod"].launcher
    if operator == "hyperpod" and wanted not in text_of_all:
        message = f"must start {wanted}, the agent that the operator talks to, got {words[0]!r}"
        return [Fault(_PATH, f"{message}; or change operator to 'kubeflow'")]
    if operator == "kubeflow" and wanted in text_of_all:
        return [
            Fault(
                _PATH,
                f"starts {wanted}, which waits for the HyperPod operator; change operator, or use torchrun",
            )
        ]
    return _check_launcher(job, words)


def _check_launcher(job: Job, words: Sequence[str]) -> list[Fault]:
    if at(job, "operator") != "kubeflow" or at(job, "rendezvous") != "c10d":
        return []
    nodes = most_nodes(job)
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    is_bare = _PYTHON.fullmatch(PurePosixPath(words[0]).name) is not None and script.endswith(".py")
    launcher = OPERATORS["kubeflow"].launcher
    if not is_bare or "-m" in words[: words.index(script)] or nodes is None or nodes < 2:
        return []
    if any(launcher in word for word in words):
        return []
    return [
        Fault(
            _PATH,
            f"starts one process in each of {nodes} pods, and none learns of the others: the operator says "
            f"where to meet in variables that {launcher} reads; replace {words[0]!r} by {launcher!r}, or "
            "give script in place of command",
            "warning",
        )
    ]


def _check_options(job: Job, words: Sequence[str]) -> list[Fault]:
    if at(job, "operator") != "kubeflow" or at(job, "rendezvous") != "c10d":
        return []
    faults = []
    for index, word in enumerate(words):
        unset = [name for name in _REFERENCE.findall(word) if name in KUBEFLOW_VARIABLES[:2]]
        option = _SIZE_OPTION.match(word)
        if unset:
            faults.append(
                Fault(
                    (*_PATH, index),
                    f"needs {unset[0]}, which the operator sets only in jobs with a master, so that the job "
                    "fails at start; leave the option out, since the operator says where to meet",
                )
            )
        elif option is not None:
            faults.append(
                Fault(
                    (*_PATH, index),
                    f"wins over what the operator says by environment, so that --{option[1]} holds for good; "
                    "leave it out",
                    "warning" if absent(job, "elastic") else "error",
                )
            )
    return faults
