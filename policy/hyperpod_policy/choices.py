"""What a template leaves open: parameters with several allowed values, and conditions nobody can decide yet.

One review looks at several *worlds*. In a world every such choice has one value, so that a rule sees plain
values and resources that exist together or not at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing a template leaves open.

    Attributes:
        key: What it is, equal wherever the same thing is asked.
        label: How to call it to a user, such as ``parameter Environment``.
        options: The values it can take, the default first.
    """

    key: Hashable
    label: str
    options: tuple[Any, ...]


@dataclass(slots=True)
class World:
    """One value for each choice; choices not decided take their first option.

    Attributes:
        decided: Choices that depart from their first option, by key.
        asked: Choices that a review of this world came across.
    """

    decided: dict[Hashable, Any] = field(default_factory=dict)
    asked: dict[Hashable, Choice] = field(default_factory=dict)

    def choose(self, key: Hashable, label: str, options: Sequence[Any]) -> Any:
        """Return the value of a choice in this world, and remember that it was asked."""
        choice = self.asked.get(key)
        if choice is None:
            choice = self.asked[key] = Choice(key, label, tuple(options))
        return self.decided.get(key, choice.options[0])

    def __str__(self) -> str:
        return " and ".join(
            f"{self.asked[key].label} is {str(value).lower() if isinstance(value, bool) else value}"
            for key, value in self.decided.items()
            if key in self.asked
        )

    def neighbours(self) -> Iterator[World]:
        """Yield the worlds that differ from this one in one choice that it left at its first option."""
        for key, choice in self.asked.items():
            if key not in self.decided:
                for option in choice.options[1:]:
                    yield World({**self.decided, key: option})
