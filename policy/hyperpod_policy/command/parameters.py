"""Values of template parameters that the command line gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.command_line.parser import UsageError
from hyperpod_policy.documents import Document

_LISTED: Final = 8
_SINGLE: Final = ("String", "Number")
"""Types whose value is one of ``AllowedValues`` as a whole, and not each of its parts."""


def refuse_wrong_parameters(given: Iterable[tuple[str, str]], documents: Sequence[Document]) -> None:
    """Refuse parameters that no template has, and values that none of them allows.

    Args:
        given: Names and values.
        documents: The templates.

    Raises:
        UsageError: For the first that is wrong.
    """
    sections = [document.body.get("Parameters") for document in documents]
    declared = [section for section in sections if isinstance(section, Mapping)]
    for name, value in given:
        found = [section[name] for section in declared if name in section]
        if not found:
            listing = ", ".join(sorted({name for section in declared for name in section})) or "none"
            raise UsageError(f"--parameter {name}: no template has it; parameters: {listing}")
        allowed = [_allowed(declaration) for declaration in found]
        if all(choices is not None and value not in choices for choices in allowed):
            choices = list(dict.fromkeys(choice for each in allowed for choice in each or ()))
            more = f" and {len(choices) - _LISTED} more" if len(choices) > _LISTED else ""
            listing = f"{', '.join(choices[:_LISTED])}{more}"
            raise UsageError(
                f"--parameter {name}: got {value!r}, which its template refuses; allowed: {listing}"
            )


def _allowed(declaration: Any) -> list[str] | None:
    """Return the values that a declaration allows, as CloudFormation compares them, or nothing for any."""
    if not isinstance(declaration, Mapping) or declaration.get("Type") not in _SINGLE:
        return None
    choices = declaration.get("AllowedValues")
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        return None
    return [str(choice).lower() if isinstance(choice, bool) else str(choice) for choice in choices]
