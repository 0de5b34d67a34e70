"""The template that a stack was deployed from, as users have it in a file."""

from __future__ import annotations

from pathlib import Path

from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_policy.documents import Document
from hyperpod_policy.sources.templates import TemplateReader
from hyperpod_policy.sources.unusable import UnusableInputError


def read_baseline(path: Path | str, *, region: str | None = None, account: str | None = None) -> Document:
    """Read the template of a deployed stack.

    Args:
        path: A template in JSON or YAML: one of an earlier cloud assembly, whose nested stacks are read as
            well, or what ``aws cloudformation get-template`` prints.
        region: Region of the stack. By default unknown.
        account: Account id of the stack. By default unknown.

    Raises:
        InvalidInputError: If there is no such file, or it is no template.
    """
    try:
        document = TemplateReader(region=region, account=account).read(Path(path))
    except UnusableInputError as error:
        raise _refusal(str(error)) from error
    if "Resources" not in document.body:
        raise _refusal(f"{path}: has no Resources")
    return document


def _refusal(problem: str) -> InvalidInputError:
    return InvalidInputError(
        [
            Fault(
                ("baseline",),
                f"{problem}; name the template of the deployed stack, from an earlier cdk.out or from "
                "aws cloudformation get-template",
            )
        ]
    )
