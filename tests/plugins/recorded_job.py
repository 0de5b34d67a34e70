"""Records of a job, as the resume library writes them, without any training."""

from __future__ import annotations

from pathlib import Path

from hyperpod_lifecycle.training.documents import FolderDocuments
from hyperpod_lifecycle.training.recovery_records import RecoveryClock, RunRecords
from hyperpod_model.catalog.recovery import TierName

STEP = 6.0


class _Unsynced(FolderDocuments):
    """Waits for no disk: the tests write many heartbeats, and none has to outlive a crash."""

    def write(self, name: str, content: bytes) -> None:
        Path(self.location).mkdir(parents=True, exist_ok=True)
        (Path(self.location) / name).write_bytes(content)


class Job:
    """A job of steps of 6 seconds that writes its records, without any training."""

    def __init__(self, place: Path, *, begins: float = 1_800_000_000.0) -> None:
        self.now = begins
        self.records = RunRecords(_Unsynced(place), job="llama", clock=lambda: self.now)
        self.clock = RecoveryClock(
            self.records, ranks=2, heartbeat_seconds=0, progress_seconds=0, process_started=begins
        )
        self.clock.initialized()

    def train(
        self, begin: int, end: int, *, tier: TierName = "none", saves: dict[int, list[str]] | None = None
    ):
        self.clock.loaded(begin, tier)
        self.clock.data_ready()
        for step in range(begin, end):
            self.now += STEP
            self.clock.step_done(step)
            if saves and step in saves:
                self.records.write(
                    "save", step=step, stall_seconds=0.0, seconds=1.0, asynchronous=True, tiers=saves[step],
                    ranks=2,
                )  # fmt: skip
