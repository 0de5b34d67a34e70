"""Whether the HyperPod operator's log monitoring sees what a job prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hyperpod_model.catalog.jobs import (
    MONITORED_OUTPUT_OPTION,
    OPERATORS,
    OUTPUT_OPTIONS,
    OUTPUT_VALUE,
    OUTPUT_VARIABLES,
)
from hyperpod_model.launcher_options import LauncherOptions, assigned_variables, find_options

MONITORED_OUTPUT_FLAG: Final = "=".join(MONITORED_OUTPUT_OPTION)
"""``--tee=0:1``: standard output of each node's first process, into a file and on."""

_LAUNCHER: Final = OPERATORS["hyperpod"].launcher
_LOG_FOLDER: Final = "log_dir"
_LOG_CLASS: Final = "logs_specs"
_NOWHERE: Final = "/dev/null"
_STANDARD_OUTPUT: Final = 1
_TEXT_AT_FIRST: Final = re.compile(r"(\(\?[aiLmsux]+\)|\((\?:)?)*[\w '\"<>=:,/-]")


def begins_with_text(pattern: str) -> bool:
    """Tell whether a regular expression begins with text as it is, without ``.*`` or ``^`` before it.

    Args:
        pattern: The expression.
    """
    return _TEXT_AT_FIRST.match(pattern) is not None


def command_keeps_output(words: Sequence[str], environment: Mapping[str, str | None]) -> bool | None:
    """Tell whether a command has its launcher write the file that log monitoring reads.

    Args:
        words: Program and arguments of the container.
        environment: Its environment variables, ``None`` for a value that is elsewhere.

    Returns:
        ``None`` if that cannot be told: where no launcher is seen, or a variable may hold its options.
    """
    options = find_options(words, launcher=_LAUNCHER)
    return None if options is None else keeps_output(options, {**environment, **assigned_variables(words)})


def keeps_output(options: LauncherOptions, environment: Mapping[str, str | None]) -> bool | None:
    """Tell whether a launcher writes the file that log monitoring reads.

    The file is that of the first process of a node, with standard output. torch writes it if ``--tee`` or
    ``--redirects``, or else ``PET_TEE`` or ``PET_REDIRECTS``, say so, unless ``--log-dir`` is ``/dev/null``.

    Args:
        options: Options of the launcher. What it takes for an abbreviation is one here as well.
        environment: Environment variables, ``None`` for a value that is elsewhere.

    Returns:
        ``None`` if that cannot be told.
    """
    if _last(options, _is_log_folder) == _NOWHERE:
        return False
    if _last(options, lambda name: name == _LOG_CLASS) not in (None, "default"):
        return None
    kept = [_says_output(_value(options, environment, option)) for option in OUTPUT_OPTIONS]
    if True in kept:
        return True
    return None if None in kept or not options.is_all else False


def _value(options: LauncherOptions, environment: Mapping[str, str | None], option: str) -> str | None:
    said = _last(options, lambda name: _is_option(name, option))
    return environment.get(OUTPUT_VARIABLES[option], "0") if said is None else said


def _is_option(name: str, option: str) -> bool:
    return name == OUTPUT_OPTIONS[option] or (option.startswith(name) and len(name) > 1)


def _is_log_folder(name: str) -> bool:
    return _LOG_FOLDER.startswith(name) and len(name) > len("log_")


def _last(options: LauncherOptions, wanted: Callable[[str], bool]) -> str | None:
    return next((value for name, value in reversed(list(options.values.items())) if wanted(name)), None)


def _says_output(value: str | None) -> bool | None:
    if value is None or "$" in value:
        return None
    if not OUTPUT_VALUE.matches(value):
        return False
    pairs = dict(part.split(":") for part in value.split(",")) if ":" in value else {"0": value}
    return bool(int(pairs.get("0", "0")) & _STANDARD_OUTPUT)
