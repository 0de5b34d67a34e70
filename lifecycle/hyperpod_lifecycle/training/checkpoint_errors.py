"""What can go wrong with checkpoints, by what a caller does about it."""

from __future__ import annotations


class CheckpointError(Exception):
    """Anything that this package says about a checkpoint."""


class RefusedCheckpointError(CheckpointError):
    """A checkpoint does not verify, so nothing of it may be loaded; an older one may.

    Attributes:
        reason: One of the reasons of :class:`~hyperpod_lifecycle.training.checkpoint_events.CheckpointEvent`.
    """

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)

    def __reduce__(self) -> tuple[type[RefusedCheckpointError], tuple[str, str]]:
        """Keep both arguments: PyTorch sends what one rank raises to all ranks, by pickle."""
        return type(self), (self.reason, str(self))


class CheckpointGoneError(CheckpointError):
    """A checkpoint was removed between finding and loading it; ask for the newest again."""


class NothingVerifiesError(CheckpointError):
    """There are checkpoints and none of them verifies: starting over would throw the work away unasked."""


class SaveError(CheckpointError):
    """A save failed on some rank, on every rank alike; the checkpoints before it are untouched."""


class SigningKeyError(CheckpointError):
    """The key cannot be used: unreadable, open to others, denied, disabled, or KMS does not answer."""
