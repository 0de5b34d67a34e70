"""Finds NaN and infinity before they are trained on, and says where they came from."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from typing import Any, Final

NOT_FINITE_PATTERN: Final = "HYPERPOD_NOT_FINITE"

_log = logging.getLogger("hyperpod_lifecycle.training")


class NotFiniteError(ArithmeticError):
    """Training gives NaN or infinity, so its state must not be saved.

    Attributes:
        step: The step.
        where: What is not finite.
    """

    def __init__(self, step: int, where: str, value: str) -> None:
        self.step = step
        self.where = where
        super().__init__(
            f"step {step}: {where} is {value}; training ends before this is saved, and resumes at the "
            f"checkpoint "
            "before; if it comes back at the same step, look at the batch, the learning rate and the loss "
            "scale"
        )


class FiniteChecks:
    """Ends training when its loss is not finite for some steps in a row.

    A restart repeats the step, from the last checkpoint; a cause that stays comes back, and
    :class:`~hyperpod_lifecycle.training.crash_loop.CrashLoopGuard` ends that. Call it on every rank, with a
    loss that is the same on all of them (reduced), or with each rank's own: then the first rank that finds
    something ends the job.

    Args:
        most_in_a_row: Steps in a row that may be without a finite loss. Default none: with automatic loss
            scaling, where single steps are skipped, allow some.
        on_finding: Called with step, place and value, beside the line in the log. Default nothing.

    Raises:
        ValueError: If the number is negative.
    """

    def __init__(
        self, *, most_in_a_row: int = 0, on_finding: Callable[[int, str, str], None] | None = None
    ) -> None:
        if most_in_a_row < 0:
            raise ValueError(f"most_in_a_row must be 0 or more, got {most_in_a_row}")
        self._most = most_in_a_row
        self._on_finding = on_finding
        self._in_a_row = 0

    def check_loss(self, step: int, loss: float) -> bool:
        """Look at a step's loss, before the optimizer's step.

        Args:
            step: The step.
            loss: Its loss; a tensor of one number is waited for.

        Returns:
            Whether it is finite.

        Raises:
            NotFiniteError: If it is not, for more steps in a row than allowed.
        """
        value = float(loss)
        if math.isfinite(value):
            self._in_a_row = 0
            return True
        self._in_a_row += 1
        self._found(step, "loss", repr(value))
        if self._in_a_row > self._most:
            raise NotFiniteError(step, "loss", repr(value))
        return False

    def check_tensors(self, step: int, tensors: Iterable[tuple[str, Any]]) -> None:
        """Look at tensors, such as ``model.named_parameters()`` before a save: what is saved must be finite.

        Args:
            step: The step.
            tensors: With their names.

        Raises:
            NotFiniteError: If one holds a number that is not finite; the first is named.
        """
        import torch

        for name, tensor in tensors:
            if not bool(torch.isfinite(tensor.detach()).all()):
                self._found(step, name, "not finite")
                raise NotFiniteError(step, name, "not finite")

    def watch(self, model: Any, *, step: Callable[[], int], every_steps: int = 1) -> Callable[[], None]:
        """Look at what each module of a model gives, to name the first that is not finite.

        It waits for the device after each module, so it is for finding a cause, or for every so many steps.

        Args:
            model: A ``torch.nn.Module``.
            step: Tells the step.
            every_steps: Steps of which one is looked at. Default each.

        Returns:
            A function that ends it.
        """
        handles = [
            module.register_forward_hook(self._hook(name or type(module).__name__, step, every_steps))
            for name, module in model.named_modules()
        ]

        def end() -> None:
            for handle in handles:
                handle.remove()

        return end

    def _hook(
        self, name: str, step: Callable[[], int], every_steps: int
    ) -> Callable[[Any, tuple[Any, ...], Any], None]:
        def look(module: Any, inputs: tuple[Any, ...], output: Any) -> None:
            del module, inputs
            now = step()
            if now % every_steps == 0:
                self.check_tensors(now, _tensors_of(f"output of {name}", output))

        return look

    def _found(self, step: int, where: str, value: str) -> None:
        _log.error("%s step=%d where=%r value=%s", NOT_FINITE_PATTERN, step, where, value)
        if self._on_finding is not None:
            self._on_finding(step, where, value)


def _tensors_of(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    import torch

    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tensors_of(f"{name}[{key!r}]", item)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _tensors_of(f"{name}[{index}]", item)
