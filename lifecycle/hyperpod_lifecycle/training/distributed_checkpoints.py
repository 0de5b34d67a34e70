"""Sharded checkpoints by ``torch.distributed.checkpoint``, verified before anything of them is unpickled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hyperpod_lifecycle.training.agreement import on_every_rank
from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError
from hyperpod_lifecycle.training.checkpoints import Checkpoint, Checkpoints
from hyperpod_lifecycle.training.loop_state import LoopState
from hyperpod_lifecycle.training.saves_in_flight import SaveReport, SavesInFlight
from hyperpod_lifecycle.training.torch_failures import load_failures, save_failures
from hyperpod_lifecycle.training.verified_checkpoint import VerifiedCheckpoint
from hyperpod_model.catalog.recovery import TierName

_LOOP = "loop"


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What was loaded.

    Attributes:
        step: Step of the checkpoint: the last that was done.
        tier: Where it came from.
        not_restored: What of the loop's state could not be restored; empty with as many ranks as saved it.
    """

    step: int
    tier: TierName
    not_restored: tuple[str, ...]


class DistributedCheckpoints:
    """Saves and loads the state of all ranks, each its own shards, together with the loop's state.

    All methods are collective: every rank calls them, in the same order.

    A save in the background stages the state in memory first, so training may change it as soon as
    :meth:`save` returns. Only one is in flight: the next waits for it and raises what it failed with. Its
    collectives run on the coordinator's own group, so give ``checkpoints`` a coordinator that nothing else
    uses.

    Args:
        checkpoints: Where to.
        asynchronous: Whether training goes on while a save is written. Default it does.
        tier: What ``checkpoints`` are kept on, for records. Default ``s3`` for a location that begins with
            ``s3://``, else ``disk``.
        on_saved: Called on each rank with what each complete save cost. Default nothing.
        process_group: Group of CPUs for the collectives of PyTorch's part. Default that of the coordinator;
            without ``torch.distributed`` none.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        *,
        asynchronous: bool = True,
        tier: TierName | None = None,
        on_saved: Callable[[SaveReport], None] | None = None,
        process_group: Any = None,
    ) -> None:
        self.checkpoints = checkpoints
        self._asynchronous = asynchronous
        found: TierName = "s3" if checkpoints.location.startswith("s3://") else "disk"
        self._tier: TierName = found if tier is None else tier
        coordinator = checkpoints._coordinator
        self._rank = coordinator.rank
        self._world_size = coordinator.world_size
        self._group = getattr(coordinator, "group", None) if process_group is None else process_group
        self._saves = SavesInFlight(asynchronous=asynchronous, on_saved=on_saved, warns=self._rank == 0)

    def save(self, step: int, state: dict[str, Any], loop: LoopState, *, durable: bool = False) -> None:
        """Save a step.

        Args:
            step: The last step that is done.
            state: What ``torch.distributed.checkpoint`` saves, such as from its ``get_state_dict``.
            loop: The loop's state, after this step.
            durable: For tiered checkpoints; here every save is.

        Raises:
            SaveError: If the save before failed, or this one; then on every rank.
        """
        del durable
        self._saves.run(step, lambda: self._begin(step, state, loop), tiers=(self._tier,))

    def wait(self) -> None:
        """Wait for the save that is in flight.

        Raises:
            SaveError: If it failed.
        """
        self._saves.wait()

    def close(self) -> None:
        """Wait for the save that is in flight, and end the thread."""
        self._saves.close()

    def load(
        self, state: dict[str, Any], loop: LoopState, *, check_files: bool = True, start_over: bool = False
    ) -> Loaded | None:
        """Load the newest checkpoint that verifies into a state of the same shape.

        What does not verify is passed over, and becomes an event of ``checkpoints``. If another number of
        ranks saved, tensors are put together anew; random numbers cannot be.

        Args:
            state: What to fill: tensors in place, other values by name.
            loop: What to fill, last of all.
            check_files: Whether all files are verified before anything is loaded, divided among the ranks.
                Off, damage is found while loading, and the search begins again with all files verified.
            start_over: As for :meth:`Checkpoints.latest_complete`.

        Returns:
            What was loaded; None if there is nothing.

        Raises:
            NothingVerifiesError: If there are checkpoints and none verifies.
            CheckpointError: If the only one was removed while it was loaded.
        """
        self.wait()
        found = self.checkpoints.latest_complete(check_files=check_files, start_over=start_over)
        if found is None:
            return None
        try:
            return self._load(found, state, loop)
        except CheckpointError:
            # Damaged since it was checked, or not checked before: this finds and refuses it.
            # Not start_over: part of the state may be loaded, and is none to begin with.
            again = self.checkpoints.latest_complete(check_files=True)
            if again is None or again.manifest == found.manifest:
                raise
        return self._load(again, state, loop)

    def _begin(self, step: int, state: dict[str, Any], loop: LoopState) -> Callable[[], Checkpoint]:
        import torch.distributed.checkpoint as dcp

        shared, own = loop.shared(), loop.of_rank()
        writer = self.checkpoints.begin(step)
        try:
            # Files are brought to storage by the commit, which is what makes them count.
            target = dcp.FileSystemWriter(writer.directory, sync_files=False)
            _write_own(writer.directory / _name_of(self._rank), own)
            if self._asynchronous and self._group is not None:
                pending: Any = dcp.async_save(state, storage_writer=target, process_group=self._group)
            else:
                pending = None
                with save_failures(step):
                    dcp.save(
                        state, storage_writer=target, process_group=self._group, no_dist=self._group is None
                    )
        except BaseException:
            writer.abort()
            raise

        def finish() -> Checkpoint:
            try:
                if pending is not None:
                    with save_failures(step):
                        pending.result()
                return writer.commit({_LOOP: shared})
            except BaseException:
                writer.abort()
                raise

        return finish

    def _load(self, found: Checkpoint, state: dict[str, Any], loop: LoopState) -> Loaded:
        import torch.distributed.checkpoint as dcp

        with ExitStack() as stack:
            opened: list[tuple[VerifiedCheckpoint, bytes | None]] = []

            def open_own() -> None:
                verified = stack.enter_context(self.checkpoints.verified(found))
                opened.append((verified, self._own_of(verified)))

            # One rank alone may find it gone, or its own file damaged: then all look for another.
            on_every_rank(self.checkpoints._coordinator, open_own, failure=CheckpointError)
            ((verified, own),) = opened
            with load_failures(found.step):
                dcp.load(
                    state,
                    storage_reader=_verified_reader(verified),
                    process_group=self._group,
                    no_dist=self._group is None,
                )
            missing = loop.load(verified.metadata[_LOOP], own)
        return Loaded(step=found.step, tier=self._tier, not_restored=missing)

    def _own_of(self, verified: VerifiedCheckpoint) -> bytes | None:
        """Read what this rank saved for itself; None if another number of ranks saved."""
        if _LOOP not in verified.metadata or _name_of(0) not in verified.names:
            raise CheckpointError(
                f"the checkpoint of step {verified.step} holds no state of a loop: DistributedCheckpoints "
                "did not save it; load it with what did, or move it away"
            )
        if verified.world_size != self._world_size:
            return None
        with verified.open(_name_of(self._rank)) as stream:
            return stream.read()


def _name_of(rank: int) -> str:
    return f"loop/rank-{rank:06d}.json"


def _write_own(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)


def _verified_reader(verified: VerifiedCheckpoint) -> Any:
    """Return a reader of PyTorch's format whose every byte comes out of a verified checkpoint."""
    from torch.distributed.checkpoint import FileSystemReader

    class VerifiedFiles:
        """Stands where the reader expects a file system: opens names of the manifest, and nothing else."""

        @contextmanager
        def create_stream(self, path: Any, mode: str) -> Iterator[BinaryIO]:
            if mode != "rb":
                raise ValueError(f"checkpoints are opened for reading only, got mode {mode!r}")
            with verified.open(str(path)) as stream:
                yield stream

        def concat_path(self, path: Any, suffix: str) -> str:
            del path
            return suffix

    reader = FileSystemReader(".")
    reader.fs = VerifiedFiles()
    return reader
