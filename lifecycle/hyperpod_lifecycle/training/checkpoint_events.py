"""What happens to checkpoints and somebody may have to know."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

EventKind: TypeAlias = Literal[
    "saved",
    "already_saved",
    "refused",
    "set_aside",
    "removed",
    "kept",
    "stale_removed",
    "stale_kept",
    "retention_failed",
    "unsigned",
]

RefusalReason: TypeAlias = Literal[
    "no_manifest",
    "malformed",
    "too_large",
    "signature",
    "version",
    "run",
    "step",
    "missing_file",
    "size",
    "digest",
    "not_a_file",
    "unreadable",
]

UNSIGNED_WORDS = "used without a signing key: whoever can write them runs code on these nodes"
_WARNINGS = frozenset({"refused", "set_aside", "retention_failed", "unsigned", "stale_kept"})
_log = logging.getLogger("hyperpod_lifecycle.training")


@dataclass(frozen=True, kw_only=True)
class CheckpointEvent:
    """Something that happened to a checkpoint, told on rank 0.

    Attributes:
        kind: ``saved``; ``already_saved`` (the step was complete before, and was kept); ``refused`` (does not
            verify: never loaded, never counted, never deleted); ``set_aside`` (a refused one made room for a
            new save of the same step); ``removed`` and ``kept`` by retention; ``stale_removed`` and
            ``stale_kept`` (what an interrupted save left); ``retention_failed``; ``unsigned`` (checkpoints
            are used without a key).
        location: Where the checkpoints are.
        step: Training step; None where the event is about no single one.
        reason: Of ``refused`` and ``kept``: a word to count by.
        message: In words, lower case.
    """

    kind: EventKind
    location: str
    step: int | None = None
    reason: str | None = None
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return asdict(self)


def log_event(event: CheckpointEvent) -> None:
    """Write an event to the logger ``hyperpod_lifecycle.training``: what happens by default."""
    level = logging.WARNING if event.kind in _WARNINGS else logging.INFO
    step = "" if event.step is None else f" step {event.step}"
    _log.log(level, "checkpoint%s %s: %s", step, event.kind.replace("_", " "), event.message)
