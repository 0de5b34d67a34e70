"""Ids in a request that stand for something to be made, such as an example's ``sg-0abc...``."""

from __future__ import annotations

import re
from typing import Literal

from hyperpod_model.catalog.names import NameRule

IdKind = Literal["legal", "placeholder", "mistyped"]

# An id cut short or of another kind is a slip: to make something new in its place would hide it.
_LOOKS_REAL = re.compile(r"[a-z]+-[0-9a-f]{8,}")
_LOOKS_LIKE_ARN = re.compile(r"arn:[a-z-]+:[a-z]+:[a-z0-9-]*:\d{10,}:[\w+=,.@/:-]+")


def looks_like_an_arn(value: str) -> bool:
    """Tell whether a text names something real: an ARN without gaps, whose account may be mistyped.

    Args:
        value: The text, such as ``arn:aws:iam::11112222333:role/nodes``. One with an elided or invented part
            (``...``, ``<account>``, ``123``) is a placeholder.
    """
    return _LOOKS_LIKE_ARN.fullmatch(value) is not None and "..." not in value


def id_kind(value: str, rule: NameRule) -> IdKind:
    """Tell whether an id names something that exists, something to be made, or is a slip.

    Args:
        value: The id.
        rule: What a legal id looks like.
    """
    if rule.matches(value):
        return "legal"
    return "mistyped" if _LOOKS_REAL.fullmatch(value) else "placeholder"
