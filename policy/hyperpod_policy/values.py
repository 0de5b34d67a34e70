"""Values of a template that deployment alone can tell, compared by what they refer to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_model.faults import UNKNOWN

MAX_TEXT: Final = 1_000_000
"""Characters, and values among them, of the longest text that is put together."""

MAX_VALUES: Final = 20_000
"""Values within one that others refer to."""

MAX_LEVELS: Final = 100
"""Levels of nesting in a value that others refer to."""


class Unresolved:
    """A value that exists only at deployment, and what is known about it.

    Two are equal if they certainly stand for the same value; two that differ may still turn out to be the
    same (see `same`).
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reference(Unresolved):
    """An attribute of a resource of the template; ``Ref`` for what its ``Ref`` returns.

    Attributes that equal the ``Ref`` (a security group's ``GroupId``) are written as ``Ref``, so that both
    spellings compare equal.
    """

    resource: str
    attribute: str

    def __str__(self) -> str:
        name = self.resource.rpartition("/")[2]
        return name if self.attribute == "Ref" else f"{name}.{self.attribute}"


@dataclass(frozen=True, slots=True)
class Parameter(Unresolved):
    """A parameter without a value that the template could tell.

    Attributes:
        name: Its name, with the nested stacks around it.
        many: Whether its type is a list.
    """

    name: str
    many: bool = False

    def __str__(self) -> str:
        return f"parameter {self.name.rpartition('/')[2]}"


@dataclass(frozen=True, slots=True)
class Pseudo(Unresolved):
    """A pseudo-parameter such as ``AWS::Region``."""

    name: str

    def __str__(self) -> str:
        return f"${{{self.name}}}"


@dataclass(frozen=True, slots=True)
class Imported(Unresolved):
    """An export of a stack that is not under review."""

    name: Hashable

    def __str__(self) -> str:
        return f"import {self.name}"


@dataclass(frozen=True, slots=True)
class Dynamic(Unresolved):
    """A dynamic reference, ``{{resolve:...}}``."""

    text: str

    def __str__(self) -> str:
        return f"{{{{{self.text}}}}}"


@dataclass(frozen=True, slots=True)
class Expression(Unresolved):
    """An intrinsic function whose arguments deployment alone can tell."""

    function: str
    arguments: Hashable

    def __str__(self) -> str:
        return f"{self.function}(...)"


@dataclass(frozen=True, slots=True)
class Text(Unresolved):
    """A string of literal and unresolved parts, in order."""

    parts: tuple[str | Unresolved, ...]

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else f"<{part}>" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Anything(Unresolved):
    """Any value of a kind at all, such as any key of an object in a bucket."""

    kind: str

    def __str__(self) -> str:
        return f"any {self.kind}"


# Tuples made once: a union is made anew each time that somebody asks for it.
_TEXTS: Final = (str, Unresolved)
_NO_LISTS: Final = (str, Text, Reference, Imported, Dynamic, Pseudo)
_NAMES: Final = (Reference, str)
_COLLECTIONS: Final = (dict, list, Mapping)


class _NoValue:
    def __repr__(self) -> str:
        return "AWS::NoValue"


NO_VALUE: Final = _NoValue()
"""What ``AWS::NoValue`` resolves to; the property or element that holds it does not exist."""


def frozen(value: Any) -> Hashable:
    """Return the value as something hashable, equal for equal values."""
    if isinstance(value, Mapping):
        return tuple((key, frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    hashable: Hashable = value
    return hashable


def is_bomb(value: Any) -> bool:
    """Tell whether a value is too large or too deep to work with, what stands in it twice counted twice.

    Files within limits can say such values all the same: what refers twice to what refers twice to others.
    """
    waiting = [(value, 0)]
    count = 0
    while waiting:
        current, depth = waiting.pop()
        inner: Iterable[Any] = ()
        if isinstance(current, Mapping):
            inner = current.values()
        elif isinstance(current, list | tuple):
            inner = current
        elif isinstance(current, Text):
            inner = current.parts
        elif isinstance(current, Expression):
            inner = (current.arguments,)
        waiting += ((item, depth + 1) for item in inner)
        count += 1
        if count + len(waiting) > MAX_VALUES or depth > MAX_LEVELS:
            return True
    return False


def single(value: Any) -> Any:
    """Return a value where one belongs; a list or mapping there is malformed, and becomes an `Expression`."""
    if not isinstance(value, _TEXTS) and isinstance(value, _COLLECTIONS):
        return Expression("malformed", frozen(value))
    return value


def concatenated(parts: Iterable[Any]) -> Any:
    """Join scalars and unresolved values into a string, a `Text`, or the only unresolved part itself.

    Text beyond `MAX_TEXT` becomes an `Expression` that equals no other: text doubled many times over must not
    exhaust memory.
    """
    joined: list[str | Unresolved] = []
    literal: list[str] = []
    size = 0
    for part in parts:
        for piece in part.parts if isinstance(part, Text) else (part,):
            if not isinstance(piece, _TEXTS):
                piece = scalar_text(piece)
            if isinstance(piece, str):
                size += len(piece)
                literal.append(piece)
                continue
            size += 1
            if any(literal):
                joined.append("".join(literal))
            literal.clear()
            joined.append(piece)
        if size > MAX_TEXT:
            return Expression("text", object())
    if any(literal):
        joined.append("".join(literal))
    if not joined:
        return ""
    if len(joined) == 1:
        return joined[0]
    return Text(tuple(joined))


def scalar_text(value: Any) -> str | Unresolved:
    """Write a scalar as CloudFormation does; a list or mapping has no text and becomes an `Expression`."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return Expression("text", frozen(value))


def resolved(value: Any) -> bool:
    """Tell whether the value and all it holds are known."""
    if isinstance(value, Unresolved):
        return False
    if isinstance(value, Mapping):
        return all(resolved(item) for item in value.values())
    if isinstance(value, list):
        return all(resolved(item) for item in value)
    return True


def same(one: Any, other: Any) -> bool | None:
    """Compare two values: ``True`` or ``False`` if certain, ``None`` if only deployment can tell."""
    if one == other:
        return True
    if not isinstance(one, Unresolved) and not isinstance(other, Unresolved):
        if isinstance(one, _COLLECTIONS) or isinstance(other, _COLLECTIONS):
            return None if not (resolved(one) and resolved(other)) else False
        return scalar_text(one) == scalar_text(other)
    if {type(one), type(other)} == {Imported, Reference}:
        return False  # a stack cannot import what it makes itself
    if isinstance(one, _NAMES) and isinstance(other, _NAMES) and one_attribute(one) == one_attribute(other):
        return False
    return None


def resources_in(value: Any) -> Iterator[str]:
    """Yield the keys of the resources that a resolved value refers to."""
    if isinstance(value, Reference):
        yield value.resource
        return
    inner: Iterable[Any] = ()
    if isinstance(value, Text):
        inner = value.parts
    elif isinstance(value, Expression):
        inner = (value.arguments,)
    elif isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    for item in inner:
        yield from resources_in(item)


def one_attribute(value: Reference | str) -> str:
    """Return which attribute a value is, taking a literal for a ``Ref``: an id that exists already.

    The security group that EKS makes for a cluster is no resource of a template, so it counts as one more id.
    """
    if not isinstance(value, Reference) or value.attribute == "ClusterSecurityGroupId":
        return "Ref"
    return value.attribute


def elements(value: Any) -> tuple[list[Any], bool]:
    """Return the elements of a list and whether these are all of them.

    A single value counts as a list of one, as CloudFormation and IAM read it. So does an unresolved value
    that is no list; the others may turn out to have any length.
    """
    if value is None:
        return [], True
    if isinstance(value, list):
        return value, True
    if isinstance(value, _NO_LISTS) or not isinstance(value, Unresolved):
        return [value], True
    if isinstance(value, Parameter) and not value.many:
        return [value], True
    return [], False


def truth(value: Any) -> bool | None:
    """Read a boolean as CloudFormation does, text included; ``None`` if unresolved or no boolean."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return None


def integer(value: Any) -> int | None:
    """Read an integer as CloudFormation does, text included; ``None`` if unresolved or no integer."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return None


def request_terms(value: Any) -> Any:
    """Return the value with every unresolved part as ``hyperpod_model.faults.UNKNOWN``, as checks take it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Unresolved):
        return UNKNOWN
    if isinstance(value, (dict, Mapping)):
        return {key: request_terms(item) for key, item in value.items()}
    if isinstance(value, list):
        return [request_terms(item) for item in value]
    return value
