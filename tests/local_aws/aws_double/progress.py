"""States that take their time: what is being made becomes ready a little later, as on AWS."""

from __future__ import annotations

import os
from time import monotonic

CREATION_SECONDS = "DOUBLE_CREATION_SECONDS"
"""Environment variable: how long clusters, file systems, add-ons and nodes take to be ready."""

BACKUP_SECONDS = "DOUBLE_BACKUP_SECONDS"
"""Environment variable: how long a backup takes. Whoever waits for one may pause long between two looks."""

_DEFAULTS = {CREATION_SECONDS: 0.2, BACKUP_SECONDS: 0.0}


def seconds(setting: str) -> float:
    """Return a setting, or its default of well below a second."""
    return float(os.environ.get(setting, _DEFAULTS[setting]))


class Progress:
    """A state that becomes another one by itself.

    Args:
        doing: The state until then, such as ``CREATING``.
        done: The state from then on.
        setting: Which setting says how long it takes.
    """

    def __init__(self, doing: str, done: str, *, setting: str = CREATION_SECONDS) -> None:
        self._doing = doing
        self._done = done
        self._ready_at = monotonic() + seconds(setting)

    @property
    def is_done(self) -> bool:
        """Whether the time is over."""
        return monotonic() >= self._ready_at

    @property
    def state(self) -> str:
        """The state now."""
        return self._done if self.is_done else self._doing
