"""The parts of the resume library one by one, without PyTorch: a loop that is interrupted, and goes on."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hyperpod_lifecycle.training import (
    Checkpoints,
    CrashLoopGuard,
    LocalKey,
    LoopState,
    ResumableBatches,
    SampleOrder,
    StopSignal,
)


def train(folder: Path, key: LocalKey, *, until: int) -> list[int]:
    """Train until a step, and return the samples that were used."""
    guard = CrashLoopGuard(folder / "recovery", job="llama")
    guard.start()
    batches = ResumableBatches(SampleOrder(100, seed=1), samples_a_rank=2, rank=0, ranks=1)
    loop = LoopState(parts={"batches": batches})
    checkpoints = Checkpoints(folder / "checkpoints", key=key, run="llama")

    newest = checkpoints.latest_complete()
    if newest is not None:
        with checkpoints.verified(newest) as verified, verified.open("rank-0.json") as stream:
            loop.load(newest.metadata["loop"], stream.read())

    seen: list[int] = []
    with StopSignal() as stop:
        for step, numbers in zip(range(loop.next_step, until), batches, strict=False):
            seen += numbers  # the step
            loop.next_step = step + 1
            batches.used()
            if stop.requested or step % 10 == 9:
                with checkpoints.begin(step) as writer:
                    (writer.directory / "rank-0.json").write_bytes(loop.of_rank())
                    writer.commit({"loop": loop.shared()})
                guard.progressed(step)
            if stop.requested:
                guard.interrupted()
                break
    return seen


with TemporaryDirectory() as name:
    key = LocalKey.generate(Path(name, "signing-key"))
    first = train(Path(name), key, until=17)  # ends after step 16: the last checkpoint is of step 9
    second = train(Path(name), key, until=30)
    order = SampleOrder(100, seed=1)
    assert first[:20] + second == [order[place] for place in range(60)]
    print(f"{len(first) // 2 - 10} steps were lost")
