"""Matching of IAM patterns (``*`` and ``?``) against values that may be unresolved in part."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, TypeAlias

from hyperpod_policy.values import Anything, Imported, Pseudo, Reference, Text, Unresolved

_Token: TypeAlias = "str | Unresolved"

_MANY: Final = "*"
_ONE: Final = "?"
_ESCAPE: Final = re.compile(r"\$\{([*?$])\}")
"""How a policy writes a wildcard that is meant literally."""


@lru_cache(maxsize=16384)
def every(pattern: Any, subject: Any, *, ignore_case: bool = False) -> bool | None:
    """Tell whether a pattern matches the subject, whatever an `Anything` in the subject stands for.

    Returns:
        ``True`` or ``False`` if certain, ``None`` if it depends on what only deployment can tell.
    """
    if (
        isinstance(pattern, str)
        and isinstance(subject, str)
        and not subject.startswith("arn:")
        and "${" not in pattern
    ):
        return _expression(pattern, ignore_case).fullmatch(subject) is not None
    wanted, given = _tokens(pattern, ignore_case), _tokens(subject, ignore_case)
    if _matches(wanted, given, False, False):
        return True
    return None if _matches(wanted, given, False, True) else False


@lru_cache(maxsize=16384)
def some(pattern: Any, subject: Any, *, ignore_case: bool = False) -> bool | None:
    """Tell whether a pattern matches at least one of the values that the subject stands for."""
    wanted, given = _tokens(pattern, ignore_case), _tokens(subject, ignore_case)
    if _matches(wanted, given, True, False):
        return True
    return None if _matches(wanted, given, True, True) else False


def equal(one: Any, other: Any, *, ignore_case: bool = False) -> bool | None:
    """Compare without wildcards, as ``StringEquals`` does."""
    wanted = _tokens(one, ignore_case, literal=True)
    given = _tokens(other, ignore_case)
    if _matches(wanted, given, False, False):
        return True
    return None if _matches(wanted, given, True, True) else False


def wildcard(pattern: Any) -> bool:
    """Tell whether a pattern has a wildcard in its literal parts."""
    parts = pattern.parts if isinstance(pattern, Text) else (pattern,)
    return any(isinstance(part, str) and (_MANY in part or _ONE in part) for part in parts)


def admits_any_principal(pattern: Any) -> bool:
    """Tell whether a pattern for ``aws:PrincipalArn`` matches principals whatever their name is."""
    if not wildcard(pattern):
        return False
    parts = pattern.parts if isinstance(pattern, Text) else (pattern,)
    text = "".join(part if isinstance(part, str) else "x" for part in parts)
    name = text.split(":", 5)[5] if text.count(":") >= 5 else text
    kind, slash, rest = name.partition("/")
    if not slash:
        return _MANY in kind
    return rest.lstrip("?*/") == ""


def admits_any_id(pattern: Any) -> bool:
    """Tell whether a pattern for ``aws:userid`` matches ids whatever the unique id before the colon is."""
    first = pattern.parts[0] if isinstance(pattern, Text) else pattern
    if not isinstance(first, str):
        return False
    unique_id = first.partition(":")[0]
    return _MANY in unique_id and unique_id.strip("*?") in ("", "A", "AR", "ARO", "AROA", "AI", "AID", "AIDA")


class _Literal(str):
    """A character that is itself although it looks like a wildcard."""

    __slots__ = ()


@lru_cache(maxsize=4096)
def _expression(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    text = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(text, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


@lru_cache(maxsize=4096)
def _text_tokens(text: str, literal: bool) -> tuple[_Token, ...]:
    tokens: list[_Token] = []
    for number, piece in enumerate(_ESCAPE.split(text)):
        if number % 2:
            tokens.append(_Literal(piece))
        elif literal:
            tokens.extend(_Literal(char) if char in (_MANY, _ONE) else char for char in piece)
        else:
            tokens.extend(piece)
    return tuple(tokens)


def _tokens(value: Any, ignore_case: bool, *, literal: bool = False) -> tuple[_Token, ...]:
    """Return characters and unresolved parts, without the partition of an ARN: a template lives in one."""
    parts = value.parts if isinstance(value, Text) else (value,)
    tokens: list[_Token] = []
    for part in parts:
        if isinstance(part, Unresolved):
            tokens.append(part)
        else:
            text = str(part)
            tokens.extend(_text_tokens(text.lower() if ignore_case else text, literal))
    if tokens[:4] == ["a", "r", "n", ":"]:
        for position in range(4, len(tokens)):
            if tokens[position] == ":":
                partition = tokens[4:position]
                if all(isinstance(token, str) for token in partition) or (
                    len(partition) == 1 and isinstance(partition[0], Pseudo)
                ):
                    del tokens[4:position]
                break
    return tuple(tokens)


def _matches(pattern: tuple[_Token, ...], subject: tuple[_Token, ...], anything: bool, unknown: bool) -> bool:
    """Match tokens.

    Args:
        pattern: Tokens in which ``*`` and ``?`` are wildcards.
        subject: Tokens to match.
        anything: Whether an `Anything` in the subject may be what the pattern wants.
        unknown: Whether other unresolved tokens may.
    """
    if pattern == (_MANY,):
        return True
    start = _common_start(pattern, subject)
    if start is None:
        return False
    pattern, subject = pattern[start:], subject[start:]
    if not pattern and not subject:
        return True

    def free(token: _Token) -> bool:
        if isinstance(token, Anything):
            return anything
        return unknown and isinstance(token, Unresolved) and not _is_own_name(token)

    rows = len(subject) + 1
    # reach[j]: the pattern so far matches the first j tokens of the subject
    reach = [False] * rows
    reach[0] = True
    for j, token in enumerate(subject):
        if not (reach[j] and free(token)):
            break
        reach[j + 1] = True
    for wanted in pattern:
        many = wanted == _MANY and not isinstance(wanted, _Literal)
        one = wanted == _ONE and not isinstance(wanted, _Literal)
        flexible = many or (unknown and isinstance(wanted, Unresolved) and not _is_own_name(wanted))
        row = [False] * rows
        for j in range(rows):
            if flexible:
                row[j] = reach[j] or (j > 0 and row[j - 1] and _may_hold(wanted, subject[j - 1]))
                continue
            if j == 0:
                continue
            token = subject[j - 1]
            if free(token):
                # the free part stands for nothing, for this token, or for this token and more
                row[j] = row[j - 1] or (_may_hold(token, wanted) and (reach[j - 1] or reach[j]))
            elif reach[j - 1] and (wanted == token or (one and isinstance(token, str))):
                row[j] = True
        reach = row
    return reach[-1]


def _common_start(pattern: tuple[_Token, ...], subject: tuple[_Token, ...]) -> int | None:
    """Return how many plain characters both begin with; ``None`` if the next ones differ."""
    for position, (wanted, token) in enumerate(zip(pattern, subject, strict=False)):
        if not isinstance(wanted, str) or not isinstance(token, str):
            return position
        if wanted in (_MANY, _ONE) and not isinstance(wanted, _Literal):
            return position
        if wanted != token:
            return None
    return min(len(pattern), len(subject))


def _is_own_name(token: Unresolved) -> bool:
    """Whether it is the name, ARN or id of a resource of the template, which equals nothing but itself."""
    return isinstance(token, Reference) and token.attribute in ("Ref", "Arn", "RoleId")


def _may_hold(token: _Token, part: _Token) -> bool:
    """Whether a part may be in what a token stands for.

    An account id or region has no separators, and a stack cannot import what it makes itself.
    """
    if isinstance(token, Pseudo):
        return part not in (":", "/")
    return not (isinstance(token, Imported) and isinstance(part, Reference))
