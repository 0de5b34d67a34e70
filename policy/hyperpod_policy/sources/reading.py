"""One file of a folder, read and decoded: work that several processes can share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from hyperpod_policy.sources.decoding import Decoded, decoded
from hyperpod_policy.sources.templates import unwrapped
from hyperpod_policy.sources.text import decoded_text, read_bytes
from hyperpod_policy.sources.unusable import UnusableInputError

_MARK_OF_TEMPLATE: Final = "AWS::"


class Read(NamedTuple):
    """What a file holds.

    Attributes:
        values: Its values; none if it cannot be read.
        refusal: Why it cannot be read.
        is_template: Whether what cannot be read looks like a template.
    """

    values: tuple[Decoded, ...] = ()
    refusal: UnusableInputError | None = None
    is_template: bool = False


Apply: TypeAlias = Callable[[Callable[[Path], Read], Sequence[Path]], Iterable[Read]]
"""Applies a function to many files, in their order, as ``map`` does; perhaps in other processes."""


def read(file: Path) -> Read:
    """Read and decode a file that may be a template or manifests."""
    name = str(file)
    text = ""
    try:
        text = decoded_text(read_bytes(file), file=name)
        return Read(tuple(unwrapped(value, file=name) for value in decoded(text, file=name)))
    except UnusableInputError as error:
        return Read(refusal=error, is_template=_MARK_OF_TEMPLATE in text)
