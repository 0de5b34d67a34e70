"""Values of a request that are no text: a key it does not carry, and a caller that nobody listed."""

from __future__ import annotations

from typing import Final

from hyperpod_policy.values import Unresolved


class _Absent:
    def __repr__(self) -> str:
        return "absent"


class _Somebody(Unresolved):
    __slots__ = ("_words",)

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words


ABSENT: Final = _Absent()
"""A condition key that a request does not carry."""

SOMEBODY: Final = _Somebody("a principal that nobody listed")
"""The ARN of a principal that no statement names: only a pattern that names nobody matches it."""

ANOTHER_ACCOUNT: Final = _Somebody("the id of another account")
"""The id of an account that no statement names."""

SOMEBODYS_ID: Final = _Somebody("the id of a principal that nobody listed")
"""What ``aws:userid`` is for it: its unique id, a colon, and the name of the session."""
