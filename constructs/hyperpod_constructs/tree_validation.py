"""Rules that look at the finished construct tree."""

from __future__ import annotations

from collections.abc import Callable

import jsii
from constructs import IConstruct, IValidation


@jsii.implements(IValidation)
class _Validation:
    def __init__(self, find_errors: Callable[[], list[str]]) -> None:
        self._find_errors = find_errors

    def validate(self) -> list[str]:
        return self._find_errors()


def validate_at_synth(construct: IConstruct, find_errors: Callable[[], list[str]]) -> None:
    """Run a rule at synthesis, when every construct of the app exists and references are resolved.

    Args:
        construct: The construct whose path precedes each error.
        find_errors: Returns one text an error; synthesis fails if there is any.
    """
    construct.node.add_validation(_Validation(find_errors))
