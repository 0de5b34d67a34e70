"""What of the library needs PyTorch, by two ranks."""

from __future__ import annotations

import os
import pickle
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from cases import run
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

from hyperpod_lifecycle.training import (
    CheckpointError,
    CheckpointEvent,
    CheckpointGoneError,
    Checkpoints,
    CrashLoopGuard,
    DistributedCheckpoints,
    FiniteChecks,
    LocalKey,
    LoopState,
    NotFiniteError,
    NothingVerifiesError,
    RefusedCheckpointError,
    ResumableBatches,
    RunRecords,
    SampleOrder,
    SaveError,
    SaveSchedule,
    StopSignal,
    TorchCoordinator,
    TrainingRun,
    read_records,
)
from hyperpod_lifecycle.training.directory_store import DirectoryStore

KEY = LocalKey(b"k" * 32)


def raises(kind: type[BaseException], work: Callable[[], Any], words: str) -> None:
    raised: BaseException | None = None
    try:
        work()
    except kind as error:
        raised = error
    assert raised is not None, f"no {kind.__name__}"
    assert words in str(raised), f"{words!r} is not in {raised!r}"


def saver(folder: Path, **options: Any) -> tuple[DistributedCheckpoints, list[CheckpointEvent]]:
    events: list[CheckpointEvent] = []
    checkpoints = Checkpoints(
        folder / "checkpoints", key=KEY, coordinator=TorchCoordinator(), on_event=events.append
    )
    return DistributedCheckpoints(checkpoints, **options), events


def ended(step: int) -> LoopState:
    loop = LoopState()
    loop.next_step = step + 1
    return loop


def coordinator_agrees(folder: Path) -> None:
    coordinator = TorchCoordinator(timeout_seconds=60)
    own = {"rank": coordinator.rank, "words": ["é", None, 1.5] * (coordinator.rank + 1)}
    gathered = coordinator.gather(own)
    if coordinator.rank == 0:
        assert gathered is not None
        assert [one["rank"] for one in gathered] == [0, 1]
        assert len(gathered[1]["words"]) == 6
    else:
        assert gathered is None
    assert coordinator.broadcast(own)["rank"] == 0
    assert coordinator.any(coordinator.rank == 1)
    assert not coordinator.any(False)
    coordinator.barrier()


def generators_go_on(folder: Path) -> None:
    rank = dist.get_rank()
    torch.manual_seed(rank)
    random.seed(rank)
    numpy.random.seed(rank)
    numpy.random.standard_normal()  # leaves a second one in store
    loop = LoopState()
    shared, own = loop.shared(), loop.of_rank()

    def draw() -> list[float]:
        return [
            torch.rand(1).item(),
            random.random(),
            float(numpy.random.standard_normal()),
            float(numpy.random.random()),
        ]

    drawn = draw()
    draw()
    assert LoopState().load(shared, own) == ()
    assert draw() == drawn


def state_goes_round(folder: Path, *, asynchronous: bool) -> None:
    rank = dist.get_rank()
    mesh = init_device_mesh("cpu", (2,))
    whole = torch.arange(12.0).reshape(6, 2)
    reports: list[Any] = []
    to, _ = saver(folder, asynchronous=asynchronous, on_saved=reports.append)
    state: dict[str, Any] = {
        "sharded": distribute_tensor(whole, mesh, [Shard(0)]),
        "same": torch.ones(3),
        "nested": {"number": 3, "text": "a"},
    }
    batches = ResumableBatches(SampleOrder(10), samples_a_rank=1, rank=rank, ranks=2)
    batches.used(4)
    loop = LoopState(parts={"batches": batches})
    loop.next_step = 4
    to.save(3, state, loop)
    # What is in flight is what was there when it was saved.
    state["same"].zero_()
    batches.used()
    to.close()
    assert [report.step for report in reports] == [3]
    assert reports[0].asynchronous == asynchronous

    again, _ = saver(folder)
    empty: dict[str, Any] = {
        "sharded": distribute_tensor(torch.zeros(6, 2), mesh, [Shard(0)]),
        "same": torch.zeros(3),
        "nested": {"number": 0, "text": ""},
    }
    place = ResumableBatches(SampleOrder(10), samples_a_rank=1, rank=rank, ranks=2)
    found = LoopState(parts={"batches": place})
    loaded = again.load(empty, found)
    again.close()
    assert loaded is not None
    assert (loaded.step, loaded.tier, loaded.not_restored) == (3, "disk", ())
    assert torch.equal(empty["sharded"].full_tensor(), whole)
    assert torch.equal(empty["same"], torch.ones(3))
    assert empty["nested"] == {"number": 3, "text": "a"}
    assert (found.next_step, place.position) == (4, 8)


def two_saves(folder: Path) -> None:
    to, _ = saver(folder, asynchronous=False)
    for step in (1, 2):
        to.save(step, {"weights": torch.full((64,), float(step))}, ended(step))
    to.close()


def loads(folder: Path, *, check_files: bool = True) -> tuple[float, int | None, list[CheckpointEvent]]:
    again, events = saver(folder)
    state = {"weights": torch.zeros(64)}
    loaded = again.load(state, LoopState(), check_files=check_files)
    again.close()
    return state["weights"][0].item(), None if loaded is None else loaded.step, events


def on_rank_zero(work: Callable[[], Any]) -> None:
    if dist.get_rank() == 0:
        work()
    dist.barrier()


def damage_is_passed_over(folder: Path, *, check_files: bool) -> None:
    two_saves(folder)
    (path,) = (folder / "checkpoints" / f"step-{2:012d}").glob("__0_0.distcp")

    def flip() -> None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.chmod(0o644)
        path.write_bytes(content)

    on_rank_zero(flip)
    value, step, events = loads(folder, check_files=check_files)
    assert (value, step) == (1.0, 1)
    if dist.get_rank() == 0:
        assert ("refused", 2) in [(event.kind, event.step) for event in events]


class Hostile:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.marker),))


def hostile_metadata_never_runs(folder: Path) -> None:
    two_saves(folder)
    path = folder / "checkpoints" / f"step-{2:012d}" / ".metadata"

    def replace() -> None:
        path.chmod(0o644)
        path.write_bytes(pickle.dumps(Hostile(folder / "ran")))

    on_rank_zero(replace)
    for check_files in (False, True):
        value, step, _ = loads(folder, check_files=check_files)
        assert (value, step) == (1.0, 1)
    assert not (folder / "ran").exists()
    dist.barrier()
    # The case can fail: PyTorch's own reader runs it.
    if dist.get_rank() == 0:
        reader = dcp.FileSystemReader(path.parent)
        raises(
            BaseException,
            lambda: dcp.load({"weights": torch.zeros(64)}, storage_reader=reader, no_dist=True),
            "",
        )
        assert (folder / "ran").exists()
    dist.barrier()


def damage_that_one_rank_meets_is_met_by_all(folder: Path) -> None:
    """The file of one rank alone: the others must not go on to train."""
    two_saves(folder)
    path = folder / "checkpoints" / f"step-{2:012d}" / "loop" / "rank-000001.json"

    def damage() -> None:
        path.chmod(0o644)
        path.write_bytes(b"?" + path.read_bytes()[1:])

    on_rank_zero(damage)
    value, step, _ = loads(folder, check_files=False)
    assert (value, step) == (1.0, 1)
    dist.barrier()


def what_one_rank_finds_gone_is_gone_for_all(folder: Path) -> None:
    """In S3 another job may remove a checkpoint after rank 0 opened it, and before rank 1 did."""
    two_saves(folder)
    real = DirectoryStore.reading

    def reading(self: DirectoryStore, step: int) -> Any:
        if step == 2 and dist.get_rank() == 1:
            DirectoryStore.reading = real  # type: ignore[method-assign]
            (folder / "checkpoints" / f"step-{2:012d}").rename(folder / "gone")
            raise CheckpointGoneError("step 2 was removed")
        return real(self, step)

    DirectoryStore.reading = reading  # type: ignore[method-assign,assignment]
    try:
        value, step, _ = loads(folder, check_files=True)
    finally:
        DirectoryStore.reading = real  # type: ignore[method-assign]
    assert (value, step) == (1.0, 1)
    dist.barrier()


def part_of_a_checkpoint_is_no_beginning(folder: Path) -> None:
    """All are removed while the newest is loaded: nothing may train on what was loaded of it until then."""
    two_saves(folder)
    read = dcp.FileSystemReader.read_data

    def removed_half_way(self: Any, plan: Any, planner: Any) -> Any:
        read(self, plan, planner).wait()
        dist.barrier()
        if dist.get_rank() == 0:
            (folder / "checkpoints").rename(folder / "gone")
        dist.barrier()
        raise RefusedCheckpointError("missing_file", "it is gone")

    dcp.FileSystemReader.read_data = removed_half_way  # type: ignore[method-assign]
    try:
        raises(CheckpointError, lambda: loads(folder), "it is gone")
    finally:
        dcp.FileSystemReader.read_data = read  # type: ignore[method-assign]
    dist.barrier()


def what_others_saved_is_told_from_ours(folder: Path) -> None:
    checkpoints = Checkpoints(folder / "checkpoints", key=KEY, coordinator=TorchCoordinator())
    with checkpoints.begin(3) as writer:
        (writer.directory / f"{dist.get_rank()}.pt").write_bytes(b"x")
        writer.commit({})
    raises(CheckpointError, lambda: loads(folder), "DistributedCheckpoints did not save it")
    dist.barrier()


def nothing_verifies_is_no_beginning(folder: Path) -> None:
    two_saves(folder)

    def forge() -> None:
        for path in (folder / "checkpoints").glob("step-*/MANIFEST"):
            path.chmod(0o644)
            path.write_bytes(path.read_bytes().replace(b"a", b"b"))

    on_rank_zero(forge)
    raises(NothingVerifiesError, lambda: loads(folder), "none of the 2 checkpoints")


def a_failure_of_one_rank_is_one_of_all(folder: Path, *, asynchronous: bool) -> None:
    to, _ = saver(folder, asynchronous=asynchronous)
    write = dcp.FileSystemWriter.write_data

    def full(self: Any, plan: Any, planner: Any) -> Any:
        if dist.get_rank() == 1:
            raise OSError(28, "No space left on device")
        return write(self, plan, planner)

    def save_and_wait() -> None:
        to.save(1, {"weights": torch.ones(4)}, ended(1))
        to.wait()

    dcp.FileSystemWriter.write_data = full  # type: ignore[method-assign]
    try:
        raises(SaveError, save_and_wait, "No space left on device")
    finally:
        dcp.FileSystemWriter.write_data = write  # type: ignore[method-assign]
    dist.barrier()
    assert not list((folder / "checkpoints").glob("step-*"))
    to.save(2, {"weights": torch.ones(4)}, ended(2))
    to.close()
    assert [path.name for path in (folder / "checkpoints").glob("step-*")] == [f"step-{2:012d}"]


def training_ends_on_request(folder: Path) -> None:
    """One rank is told to end: all end after the same step, and training goes on there."""
    coordinator = TorchCoordinator()
    rank = dist.get_rank()

    def train(steps: int, tell_at: int | None) -> tuple[list[int], int]:
        loop, done, weights = LoopState(), [], torch.zeros(2)
        guard = CrashLoopGuard(folder / "recovery", job="ends", first_pause_seconds=0)
        if rank == 0:
            guard.start()
        with (
            StopSignal(grace_seconds=100) as stop,
            TrainingRun(
                steps=steps,
                schedule=SaveSchedule(every_steps=1000),
                coordinator=coordinator,
                stop=stop,
                loop=loop,
                guard=guard,
                records=RunRecords(folder / "recovery", job="ends"),
                heartbeat_seconds=0,
            ) as training,
        ):
            to, _ = saver(folder, on_saved=training.on_saved)
            training.resume(to, {"weights": weights})
            for step in training.steps_left(to, lambda: {"weights": weights}):
                weights.add_(1)
                done.append(step)
                if step == tell_at and rank == 1:
                    os.kill(os.getpid(), signal.SIGTERM)
            to.close()
            assert weights[0] == (done[-1] + 1 if done else loop.next_step)
        return done, training.exit_code

    assert train(8, 4) == ([0, 1, 2, 3, 4], 143)
    # At the last step there is nothing to interrupt.
    assert train(8, 7) == ([5, 6, 7], 0)
    assert train(8, None) == ([], 0)
    dist.barrier()
    if rank == 0:
        lines = list(read_records(folder / "recovery"))
        assert [line["reason"] for line in lines if line["kind"] == "end"] == ["interrupted", "done", "done"]
        assert [line["step"] for line in lines if line["kind"] == "save"] == [4, 7]
        recoveries = [line for line in lines if line["kind"] == "recovery"]
        assert [(line["steps_lost"], line["resumed_step"]) for line in recoveries][-1] == (0, 5)
    dist.barrier()


def what_is_not_finite_is_named(folder: Path) -> None:
    seen = []
    checks = FiniteChecks(on_finding=lambda *what: seen.append(what))
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    end = checks.watch(model, step=lambda: 3)
    model(torch.ones(1, 2))
    with torch.no_grad():
        model[2].weight[0, 0] = float("nan")
    raises(NotFiniteError, lambda: model(torch.ones(1, 2)), "step 3: output of 2 is not finite")
    end()
    model(torch.ones(1, 2))
    checks.check_tensors(4, {"a": torch.ones(2), "b": torch.tensor([1, 2])}.items())
    raises(
        NotFiniteError, lambda: checks.check_tensors(4, model.named_parameters()), "2.weight is not finite"
    )
    assert [what[1] for what in seen] == ["output of 2", "2.weight"]
    raises(NotFiniteError, lambda: FiniteChecks().check_loss(5, torch.tensor(float("inf"))), "loss is inf")  # type: ignore[arg-type]


def saved_for_other_ranks(folder: Path) -> None:
    mesh = init_device_mesh("cpu", (2,))
    batches = ResumableBatches(SampleOrder(100), samples_a_rank=3, rank=dist.get_rank(), ranks=2)
    batches.used(5)
    loop = LoopState(parts={"batches": batches})
    loop.next_step = 5
    to, _ = saver(folder)
    whole = torch.arange(12.0).reshape(6, 2)
    to.save(4, {"sharded": distribute_tensor(whole, mesh, [Shard(0)])}, loop)
    to.close()


if __name__ == "__main__":
    run(
        {
            "coordinator_agrees": coordinator_agrees,
            "generators_go_on": generators_go_on,
            "state_goes_round": lambda folder: state_goes_round(folder, asynchronous=False),
            "state_goes_round_in_the_background": lambda folder: state_goes_round(folder, asynchronous=True),
            "damage_is_passed_over": lambda folder: damage_is_passed_over(folder, check_files=True),
            "damage_found_while_loading_is_too": lambda folder: damage_is_passed_over(
                folder, check_files=False
            ),
            "hostile_metadata_never_runs": hostile_metadata_never_runs,
            "damage_that_one_rank_meets_is_met_by_all": damage_that_one_rank_meets_is_met_by_all,
            "what_one_rank_finds_gone_is_gone_for_all": what_one_rank_finds_gone_is_gone_for_all,
            "part_of_a_checkpoint_is_no_beginning": part_of_a_checkpoint_is_no_beginning,
            "what_others_saved_is_told_from_ours": what_others_saved_is_told_from_ours,
            "nothing_verifies_is_no_beginning": nothing_verifies_is_no_beginning,
            "a_failure_of_one_rank_is_one_of_all": lambda folder: a_failure_of_one_rank_is_one_of_all(
                folder, asynchronous=False
            ),
            "a_failure_in_the_background_is_one_of_all": lambda folder: a_failure_of_one_rank_is_one_of_all(
                folder, asynchronous=True
            ),
            "training_ends_on_request": training_ends_on_request,
            "what_is_not_finite_is_named": what_is_not_finite_is_named,
            "saved_for_other_ranks": saved_for_other_ranks,
        }
    )
