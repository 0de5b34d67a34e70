"""What the app of this repository is asked for by context, ``-c name=value`` on the CDK CLI."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from hyperpod_model.faults import Fault, InvalidInputError

CONTEXT_KEYS: Final = ("cluster", "strict", "region", "availability_zone_id", "baseline", "account")
"""Keys that the app reads; its docstring says what each means."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z_-]*")
_CLUSTER_FILE = re.compile(r".*\.(ya?ml|json)")
_ZONE_ID = re.compile(r"[a-z]{2,5}\d-az\d")
_ACCOUNT = re.compile(r"\d{12}", re.ASCII)
_LIKENESS: Final = 0.8
_OTHER_NAMES: Final = {"aws_account": "account", "aws_region": "region"}


class AppContext(NamedTuple):
    """Context of the app, as text; None for what is not said."""

    cluster: str | None
    strict: bool
    region: str | None
    availability_zone_id: str | None
    baseline: str | None
    account: str | None


def app_context(given: Mapping[str, Any], *, of_all_apps: Collection[str] = ()) -> AppContext:
    """Read the context of the app.

    Keys of others, such as feature flags and what the CDK looked up, are left alone. A key that looks like
    one of the app's is refused: the CLI takes any, and a misspelt one would deploy the default cluster.

    Args:
        given: All context of the app.
        of_all_apps: Keys that are meant for whatever app runs, which are not judged. By default none.

    Raises:
        InvalidInputError: With each key that is misspelt, and each value that cannot be.
    """
    faults = [*_misspelt(given, of_all_apps), *_impossible(given)]
    if faults:
        raise InvalidInputError(faults)
    said = {name: None if given.get(name) is None else str(given[name]) for name in CONTEXT_KEYS}
    return AppContext(
        cluster=said["cluster"],
        strict=_lowered(given.get("strict")) == "true",
        region=said["region"],
        availability_zone_id=said["availability_zone_id"],
        baseline=said["baseline"],
        account=said["account"],
    )


def context_of_all_apps(home: Path) -> frozenset[str]:
    """Keys in ``~/.cdk.json``, which the CDK CLI hands to every app.

    Args:
        home: The user's folder.
    """
    file = home / ".cdk.json"
    if not file.is_file():
        return frozenset()
    content = json.loads(file.read_text(encoding="utf-8"))
    context = content.get("context") if isinstance(content, Mapping) else None
    return frozenset(context) if isinstance(context, Mapping) else frozenset()


def _misspelt(given: Mapping[str, Any], of_all_apps: Collection[str]) -> Iterator[Fault]:
    for name, value in given.items():
        if name in CONTEXT_KEYS or name in of_all_apps or _PLAIN.fullmatch(name) is None:
            continue
        meant = _meant(name, value)
        if meant is not None:
            yield Fault(
                (f"-c {name}",),
                f"is no context of this app; did you mean -c {meant}={value}? It takes "
                f"{', '.join(CONTEXT_KEYS)}",
            )


def _meant(name: str, value: Any) -> str | None:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace("-", "_")
    if snake in _OTHER_NAMES:
        return _OTHER_NAMES[snake]
    # Slips spare the first letter; what differs there, such as count of account, is mostly another word.
    alike = [key for key in CONTEXT_KEYS if key[0] == snake[0]]
    close = difflib.get_close_matches(snake, alike, n=1, cutoff=_LIKENESS)
    if close:
        return close[0]
    if isinstance(value, str) and _CLUSTER_FILE.fullmatch(value):
        return "cluster"
    if isinstance(value, str) and _ZONE_ID.fullmatch(value):
        return "availability_zone_id"
    return None


def _impossible(given: Mapping[str, Any]) -> Iterator[Fault]:
    strict, account = given.get("strict"), given.get("account")
    if strict is not None and _lowered(strict) not in ("true", "false"):
        yield Fault(("-c strict",), f"must be true or false, got {strict!r}")
    if account is not None and _ACCOUNT.fullmatch(str(account)) is None:
        yield Fault(("-c account",), f"must be the 12 digits of an AWS account, got {account!r}")


def _lowered(value: Any) -> str:
    return str(value).lower()
