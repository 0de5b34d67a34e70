"""What PyTorch's distributed checkpoints raise, as errors of this package.

PyTorch gathers what ranks raise into a ``CheckpointException`` on all ranks, which is no ``Exception`` but a
``BaseException``: nothing that catches errors catches it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError, RefusedCheckpointError, SaveError

_MOST_RANKS_TOLD = 5


@contextmanager
def save_failures(step: int) -> Iterator[None]:
    """Turn what PyTorch raises while saving into a :class:`SaveError`."""
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        yield
    except CheckpointException as error:
        raise SaveError(f"could not save step {step}: {_words(error.failures)}") from error


@contextmanager
def load_failures(step: int) -> Iterator[None]:
    """Turn what PyTorch raises while loading into an error, the same on all ranks.

    It is a :class:`RefusedCheckpointError` if any rank refused a file.
    """
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        yield
    except CheckpointException as error:
        words = f"could not load step {step}: {_words(error.failures)}"
        for failure in error.failures.values():
            if isinstance(failure[0], RefusedCheckpointError):
                raise RefusedCheckpointError(failure[0].reason, words) from error
        raise CheckpointError(words) from error


def _words(failures: dict[int, tuple[BaseException, object]]) -> str:
    told = [
        f"rank {rank}: {type(failure[0]).__name__}: {failure[0]}"
        for rank, failure in sorted(failures.items())
    ]
    more = len(told) - _MOST_RANKS_TOLD
    return "; ".join(told[:_MOST_RANKS_TOLD]) + (f"; and {more} more" if more > 0 else "")
