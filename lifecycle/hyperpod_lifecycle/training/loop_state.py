"""What a loop must find again beside weights and optimizer: step, schedule, random numbers, data position."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from hyperpod_lifecycle.training.plain_values import from_json, to_json
from hyperpod_lifecycle.training.random_state import random_state, restore_random_state

_VERSION = 1


class Stateful(Protocol):
    """A part of the loop that knows its own state: a learning-rate scheduler, a scaler, a data position."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, of plain values only."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> Any:
        """Take a state over."""


class LoopState:
    """The loop's own state, the part that is the same on all ranks and the part that each rank has alone.

    The shared part goes into the checkpoint's signed manifest, the rank's part (its random number generators
    and ``rank_parts``) into a file of its own. Both are JSON: reading them runs no code.

    Args:
        parts: By name, what is the same on all ranks: schedulers, scalers, :class:`ResumableBatches`. Default
            none.
        rank_parts: By name, what each rank has for itself. Default none.
        keep_random: Whether random number generators are saved. Default they are.

    Attributes:
        next_step: The step that comes next; equals the number of steps done.
    """

    def __init__(
        self,
        *,
        parts: Mapping[str, Stateful] | None = None,
        rank_parts: Mapping[str, Stateful] | None = None,
        keep_random: bool = True,
    ) -> None:
        self.next_step = 0
        self._parts: dict[str, Stateful] = {} if parts is None else dict(parts)
        self._rank_parts: dict[str, Stateful] = {} if rank_parts is None else dict(rank_parts)
        self._keep_random = keep_random
        self._saved_random: Any = None

    def shared(self) -> dict[str, Any]:
        """Return the part of all ranks as JSON, for the checkpoint's metadata.

        Raises:
            TypeError: If a part's state is not made of plain values.
        """
        return {
            "version": _VERSION,
            "next_step": self.next_step,
            "parts": _states(self._parts),
        }

    def of_rank(self) -> bytes:
        """Return the part of this rank alone, as the content of a file.

        Raises:
            TypeError: If a part's state is not made of plain values.
        """
        state: dict[str, Any] = {"version": _VERSION, "parts": _states(self._rank_parts)}
        if self._keep_random:
            state["random"] = to_json(random_state(), what="the state of random numbers")
        return json.dumps(state, separators=(",", ":")).encode()

    def load(self, shared: Mapping[str, Any], of_rank: bytes | None) -> tuple[str, ...]:
        """Take over what a checkpoint holds.

        Drawing random numbers after it moves them on: call it last, or :meth:`restore_random` right before
        the next step.

        Args:
            shared: What :meth:`shared` returned when it was saved.
            of_rank: What :meth:`of_rank` returned on the same rank; None if no such rank saved, because the
                job has another number of ranks now.

        Returns:
            What could not be restored: ``random`` and names of rank parts without a file of this rank,
            ``torch_cuda`` without a GPU, ``numpy`` where it is not imported.

        Raises:
            ValueError: If it is of another version, or lacks a part that this loop has: going on would begin
                that part anew unseen.
        """
        _check_version(shared)
        _load_states(self._parts, shared["parts"])
        self.next_step = shared["next_step"]
        if of_rank is None:
            return (*(("random",) if self._keep_random else ()), *sorted(self._rank_parts))
        own = json.loads(of_rank)
        _check_version(own)
        _load_states(self._rank_parts, own["parts"])
        if self._keep_random and "random" in own:
            self._saved_random = own["random"]
            return restore_random_state(from_json(own["random"]))
        return ("random",) if self._keep_random else ()

    def restore_random(self) -> None:
        """Put random numbers back once more where the checkpoint had them, right before its next step.

        What prepares the first step may draw some: an iterator of a ``DataLoader`` draws one as it is made.
        Nothing happens without a checkpoint, and only the first call after :meth:`load` counts.
        :meth:`TrainingRun.steps_left` makes it.
        """
        if self._saved_random is not None:
            restore_random_state(from_json(self._saved_random))
            self._saved_random = None


def _states(parts: Mapping[str, Stateful]) -> dict[str, Any]:
    return {name: to_json(part.state_dict(), what=f"the state of {name}") for name, part in parts.items()}


def _load_states(parts: Mapping[str, Stateful], saved: Mapping[str, Any]) -> None:
    missing = parts.keys() - saved.keys()
    if missing:
        raise ValueError(
            f"the checkpoint has no state of {', '.join(sorted(missing))}, only of "
            f"{', '.join(sorted(saved)) or 'nothing'}; name parts as they were when it was saved, or leave "
            f"new ones out"
        )
    for name, part in parts.items():
        part.load_state_dict(from_json(saved[name]))


def _check_version(state: Mapping[str, Any]) -> None:
    if state.get("version") != _VERSION:
        raise ValueError(
            f"the state of the loop has version {state.get('version')!r}, and this library reads {_VERSION}; "
            f"resume "
            "with the library that saved it"
        )
