"""What every part of a specification has in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Field(strict=False)]
"""A list in YAML, a tuple in Python: the items are as strict as everything else."""


class SpecModel(BaseModel):
    """A part of a specification: immutable, without unknown fields and without silent conversion.

    Attributes:
        names_elsewhere: What users of other tools write for fields, with the field that they mean. None where
            there is no such field, and none that is written alike is meant.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    names_elsewhere: ClassVar[Mapping[str, str | None]] = MappingProxyType({})
