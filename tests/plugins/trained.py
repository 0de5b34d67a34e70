"""What tests of training say about pods that train."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from killed_training.nodes import LIBRARY
from operator_double import Machine, Pod
from training_environment import PROGRAMS, TINY_TRAINING

DDP_IMAGE = Path(__file__).parents[2] / "examples" / "images" / "ddp"
_MOST_SECONDS = 180.0


def machine(
    work: Path,
    *,
    image: Path = DDP_IMAGE,
    programs: Sequence[Path] = (PROGRAMS,),
    environment: dict[str, str] | None = None,
) -> Machine:
    """Return a machine for pods of the example jobs.

    Args:
        work: Folder for all that they write.
        image: Folder that is ``/workspace`` of the image. Default that of the DDP example.
        programs: Folders of programs. Default those of the training environment.
        environment: Variables of the image. Default none.
    """
    claims = {name: work / f"claim-{name}" for name in ("fsx", "dataset")}
    for folder in claims.values():
        folder.mkdir(exist_ok=True)
    return Machine(
        programs=programs,
        image={"/workspace": image},
        claims=claims,
        work=work,
        environment=_with_library({} if environment is None else environment),
    )


def _with_library(environment: dict[str, str]) -> dict[str, str]:
    """Where the image has this project's wheel, the tests have its source."""
    folders = [environment.get("PYTHONPATH"), LIBRARY]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def image_with(work: Path, script: str | None) -> Path:
    """Return an image's folder whose script is the tiny stand-in for training code.

    Args:
        work: Where to make it.
        script: Path of the script in the container, below ``/workspace``.
    """
    assert script is not None
    folder = work / "image"
    folder.mkdir()
    shutil.copyfile(TINY_TRAINING, folder / Path(script).relative_to("/workspace"))
    return folder


def speaking(pods: Sequence[Pod], pattern: str, *, after: str = "") -> Pod:
    """Wait for a line of rank 0, which may be in any pod, and return its pod.

    Args:
        pods: Pods of one job.
        pattern: Regular expression of the line.
        after: Regular expression of an earlier line, from whose last match on the line is looked for.
    """
    end = time.monotonic() + _MOST_SECONDS
    while True:
        ended = {pod.name: pod.code for pod in pods if pod.code is not None}
        for pod in pods:
            log = pod.log
            begin = max((match.end() for match in re.finditer(after, log)), default=0) if after else 0
            if re.search(pattern, log[begin:]):
                return pod
        logs = "\n".join(f"== {pod.name}\n{pod.log}" for pod in pods)
        assert not ended, f"{ended} ended before {pattern!r}:\n{logs}"
        assert time.monotonic() < end, f"no {pattern!r} yet:\n{logs}"
        time.sleep(0.05)


def saved_steps(pods: Sequence[Pod]) -> list[int]:
    """Return the steps that pods say they saved, in the order in which they say it.

    Args:
        pods: Pods of one job.
    """
    logs = "".join(pod.log for pod in pods)
    return [int(step) for step in re.findall(r"^(?:\[\w+\]:)?saved step (\d+)$", logs, re.MULTILINE)]
