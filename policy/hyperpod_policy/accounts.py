"""Which account a principal belongs to, as far as a template tells."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

from hyperpod_policy.iam.evaluation import account_of
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.variables import has_variables
from hyperpod_policy.template import Resource
from hyperpod_policy.values import Imported, Pseudo, Reference, Text, Unresolved

Belonging: TypeAlias = Literal["own", "other", "unknown"]

_ARN: Final = re.compile(r"arn:[^:]*:(?:iam|sts):[^:]*:(?P<account>[^:]*):.*", re.DOTALL)
_MARK: Final = "\0"


def belonging(principal: Any, holder: Resource) -> Belonging:
    """Tell whether a principal belongs to the account that a resource is deployed to.

    What the template makes is its own, and so is what other stacks of the account export. A wildcard for the
    account admits others.

    Args:
        principal: ARN or account id, as resolved.
        holder: A resource of the template.
    """
    if isinstance(principal, Reference | Imported):
        return "own"
    account = _account_in(principal)
    if isinstance(account, Pseudo | Imported):
        return "own"
    if account is None or isinstance(account, Unresolved):
        return "unknown"
    if wildcard(account) or has_variables((account,)):
        return "other"
    own = holder.document.account
    if own is None:
        return "unknown"
    return "own" if account == own else "other"


def _account_in(principal: Any) -> Any:
    """Return the account in an ARN or id, which may be unresolved; ``None`` if there is none to see."""
    whole = account_of(principal)
    if whole is not None:
        return whole
    parts = principal.parts if isinstance(principal, Text) else (principal,)
    text = "".join(part if isinstance(part, str) else _MARK for part in parts)
    match = _ARN.fullmatch(text)
    if match is None:
        return text if text.strip("*") == "" and text else None
    account = match["account"]
    if account == _MARK:
        unresolved = [part for part in parts if not isinstance(part, str)]
        return unresolved[text[: match.start("account")].count(_MARK)]
    return None if _MARK in account else account
