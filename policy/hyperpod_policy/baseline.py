"""The template that a stack was deployed from, as users have it in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_policy.assembly import read_stack
from hyperpod_policy.documents import Document

_BODY: Final = "TemplateBody"


def read_baseline(path: Path | str, *, region: str | None = None, account: str | None = None) -> Document:
    """Read the template of a deployed stack.

    Args:
        path: A template in JSON: one of an earlier cloud assembly, whose nested stacks are read as well, or
            what ``aws cloudformation get-template`` prints.
        region: Region of the stack. By default unknown.
        account: Account id of the stack. By default unknown.

    Raises:
        InvalidInputError: If there is no such file, or it is no template.
    """
    file = Path(path)
    try:
        body = json.loads(file.read_bytes())
    except OSError as error:
        raise _refusal(file, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _refusal(file, f"is no JSON: {error}") from error
    printed = isinstance(body, Mapping) and _BODY in body
    if printed:
        body = _unwrapped(file, body[_BODY])
    if not isinstance(body, Mapping) or not isinstance(body.get("Resources"), Mapping):
        raise _refusal(file, "has no Resources, got " + type(body).__name__)
    if printed:
        return Document(body=body, file=str(file), region=region, account=account)
    return read_stack(file, region=region, account=account)


def _unwrapped(file: Path, body: Any) -> Any:
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except ValueError as error:
        raise _refusal(file, f"has a {_BODY} that is no JSON: {error}") from error


def _refusal(file: Path, problem: str) -> InvalidInputError:
    return InvalidInputError(
        [
            Fault(
                ("baseline",),
                f"{file} {problem}; name the template of the deployed stack, from an earlier cdk.out or from "
                "aws cloudformation get-template",
            )
        ]
    )
