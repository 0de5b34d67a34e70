"""Goes on with one rank where two were."""

from __future__ import annotations

from pathlib import Path

import torch
from cases import run

from hyperpod_lifecycle.training import (
    Checkpoints,
    DistributedCheckpoints,
    LocalKey,
    LoopState,
    ResumableBatches,
    SampleOrder,
    TorchCoordinator,
)


def one_goes_on_where_two_were(folder: Path) -> None:
    checkpoints = Checkpoints(
        folder.parent / "library-saved_for_other_ranks" / "checkpoints",
        key=LocalKey(b"k" * 32),
        coordinator=TorchCoordinator(),
    )
    batches = ResumableBatches(SampleOrder(100), samples_a_rank=4, rank=0, ranks=1)
    loop = LoopState(parts={"batches": batches})
    state = {"sharded": torch.zeros(6, 2)}
    loaded = DistributedCheckpoints(checkpoints).load(state, loop)
    assert loaded is not None
    assert torch.equal(state["sharded"], torch.arange(12.0).reshape(6, 2))
    assert loaded.not_restored == ("random",)
    assert (loop.next_step, batches.position) == (5, 30)
    order = SampleOrder(100)
    assert next(iter(batches)) == [order[30], order[31], order[32], order[33]]


if __name__ == "__main__":
    run({"one_goes_on_where_two_were": one_goes_on_where_two_were})
