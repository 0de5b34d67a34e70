"""Which steps end with a save, and how far it must last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SaveSchedule:
    """A save every so many steps, and of these every so many one that outlives the cluster.

    Attributes:
        every_steps: Steps between saves, to memory where there are tiers.
        durable_every_steps: Steps between saves that also go to the durable tier, a multiple of
            ``every_steps``: else a step would be saved to the slow tier alone, and the fast one would not
            have the newest checkpoint. Default each save does.

    Raises:
        ValueError: If a number is out of range, or one is no multiple of the other.
    """

    every_steps: int
    durable_every_steps: int | None = None

    def __post_init__(self) -> None:
        durable = self.every_steps if self.durable_every_steps is None else self.durable_every_steps
        if self.every_steps < 1 or durable < 1:
            raise ValueError(
                f"steps must be 1 or more, got every {self.every_steps} and durable every {durable}"
            )
        if durable % self.every_steps:
            near = durable // self.every_steps * self.every_steps
            allowed = f"{near} or {near + self.every_steps}" if near else f"{self.every_steps}"
            raise ValueError(
                f"durable_every_steps must be a multiple of every_steps ({self.every_steps}), got {durable}; "
                f"such as "
                f"{allowed}"
            )

    def is_due(self, step: int) -> bool:
        """Say whether a step, from 0, ends with a save."""
        return (step + 1) % self.every_steps == 0

    def is_durable(self, step: int) -> bool:
        """Say whether the save of a step goes to the durable tier too."""
        durable = self.every_steps if self.durable_every_steps is None else self.durable_every_steps
        return (step + 1) % durable == 0
