"""One fact, with its source, its date and the doubt about it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Generic, NamedTuple, NoReturn, TypeVar

T = TypeVar("T")


class UncertainFactError(LookupError):
    """A fact in doubt was read as if it were certain.

    Attributes:
        name: The fact.
        doubt: Why it is uncertain.
    """

    def __init__(self, name: str, doubt: str) -> None:
        self.name = name
        self.doubt = doubt
        super().__init__(
            f"{name} is uncertain: {doubt}; read it with assuming(because=...) to state why it may be relied "
            f"on, or with if_certain(default) to use a value of your own"
        )


class UnknownNameError(LookupError):
    """A name that the catalog does not list.

    Attributes:
        kind: What was looked up, such as ``instance type``.
        name: What was asked for.
        suggestions: Listed names that look alike, best first.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        listed = tuple(known)
        self.kind = kind
        self.name = name
        self.suggestions = tuple(get_close_matches(name, listed, n=3))
        hint = (
            f"did you mean {' or '.join(self.suggestions)}"
            if self.suggestions
            else f"{len(listed)} are listed"
        )
        super().__init__(f"unknown {kind} '{name}'; {hint}")


class Claim(NamedTuple, Generic[T]):
    """What one source says, where sources disagree.

    Attributes:
        value: The value it states.
        source: The source.
        checked_on: When the source was read or published, as ISO 8601 date or month.
    """

    value: T
    source: str
    checked_on: str


class Fact(Generic[T]):
    """A value that knows where it is from and whether it may be relied on.

    Args:
        name: What the fact is about, such as ``EFA interfaces of ml.p5.48xlarge``.
        value: The value; for a fact in doubt the one to use by whoever accepts the doubt.
        source: Where it was read.
        checked_on: When it was read, as ISO 8601 date or month.
        doubt: Why it must not be relied on silently. Certain if None.
        claims: What each source says, where sources disagree.
    """

    __slots__ = ("_value", "checked_on", "claims", "doubt", "name", "source")

    name: str
    source: str
    checked_on: str
    doubt: str | None
    claims: tuple[Claim[T], ...]
    _value: T

    def __init__(
        self,
        name: str,
        value: T,
        *,
        source: str,
        checked_on: str,
        doubt: str | None = None,
        claims: Iterable[Claim[T]] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "name", name)
        put(self, "_value", value)
        put(self, "source", source)
        put(self, "checked_on", checked_on)
        put(self, "doubt", doubt)
        put(self, "claims", tuple(claims))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a fact cannot be changed, got an assignment to {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a fact cannot be changed, got a deletion of {name}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fact):
            return NotImplemented
        return all(getattr(self, slot) == getattr(other, slot) for slot in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.name, self.source, self.checked_on, self.doubt))

    def __repr__(self) -> str:
        return (
            f"Fact({self.name}: {self._value!r}, {'certain' if self.certain else f'uncertain: {self.doubt}'})"
        )

    @property
    def certain(self) -> bool:
        """Whether the value may be relied on."""
        return self.doubt is None

    @property
    def value(self) -> T:
        """The value of a certain fact.

        Raises:
            UncertainFactError: If the fact is in doubt.
        """
        if self.doubt is not None:
            raise UncertainFactError(self.name, self.doubt)
        return self._value

    def assuming(self, *, because: str) -> T:
        """Read the value in spite of any doubt.

        Args:
            because: Why it may be relied on here, for whoever reads the call.

        Raises:
            ValueError: If no reason is given.
        """
        if not because.strip():
            raise ValueError(
                f"assuming {self.name} needs a reason, got an empty one; say why it may be relied on"
            )
        return self._value

    def if_certain(self, default: T) -> T:
        """Read the value, or a default of the caller's own where the fact is in doubt.

        Args:
            default: Returned if the fact is uncertain.
        """
        return self._value if self.doubt is None else default
