"""What a job's specification says about its checkpoints, as rendered jobs set it in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from hyperpod_lifecycle.training.save_schedule import SaveSchedule

PATH = "CHECKPOINT_PATH"
S3_URI = "CHECKPOINT_S3_URI"
S3_INTERVAL_STEPS = "CHECKPOINT_S3_INTERVAL_STEPS"
MEMORY_INTERVAL_STEPS = "CHECKPOINT_MEMORY_INTERVAL_STEPS"
JOB_NAME = "TRAINING_JOB_NAME"


@dataclass(frozen=True, kw_only=True)
class CheckpointVariables:
    """The variables that charts and batch files set for training code.

    Attributes:
        path: Folder that all nodes share; None without one.
        s3_uri: Where checkpoints go that outlive the cluster; None without one.
        s3_interval_steps: Steps between those; None without them.
        memory_interval_steps: Steps between checkpoints in the nodes' memory; None without managed tiered
            checkpointing.
        job_name: Name of the job, also in the memory tier; None where it is not said.
    """

    path: str | None = None
    s3_uri: str | None = None
    s3_interval_steps: int | None = None
    memory_interval_steps: int | None = None
    job_name: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read them.

        Args:
            environment: Default that of this process.

        Raises:
            ValueError: If an interval is not a whole number of 1 or more.
        """
        said = os.environ if environment is None else environment
        return cls(
            path=said.get(PATH),
            s3_uri=said.get(S3_URI),
            s3_interval_steps=_interval(said, S3_INTERVAL_STEPS),
            memory_interval_steps=_interval(said, MEMORY_INTERVAL_STEPS),
            job_name=said.get(JOB_NAME),
        )

    def tiered_schedule(self) -> SaveSchedule:
        """Return when to save where, with managed tiered checkpointing.

        Raises:
            ValueError: If an interval is not said, or that of S3 is no multiple of that of memory.
        """
        for name, value in (
            (MEMORY_INTERVAL_STEPS, self.memory_interval_steps),
            (S3_INTERVAL_STEPS, self.s3_interval_steps),
        ):
            if value is None:
                raise ValueError(f"{name} is not set; the job's tiered_checkpointing and checkpoint say it")
        assert self.memory_interval_steps is not None
        return SaveSchedule(
            every_steps=self.memory_interval_steps, durable_every_steps=self.s3_interval_steps
        )


def _interval(said: Mapping[str, str], name: str) -> int | None:
    text = said.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{name} must be a whole number of steps, 1 or more, got {text!r}")
    return int(text)
