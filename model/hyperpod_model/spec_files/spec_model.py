"""What every part of a specification has in common."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Field(strict=False)]
"""A list in YAML, a tuple in Python: the items are as strict as everything else."""


class SpecModel(BaseModel):
    """A part of a specification: immutable, without unknown fields and without silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
