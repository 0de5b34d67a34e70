"""How a container starts its training processes: launcher, options, and who gets the signals."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Literal, TypeAlias

from hyperpod_policy.manifests.containers import Container

Launcher: TypeAlias = Literal["torchrun", "hyperpodrun"]

_LAUNCHERS: Final[Mapping[str, Launcher]] = {"torchrun": "torchrun", "hyperpodrun": "hyperpodrun"}
_MODULES: Final[Mapping[str, Launcher]] = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "hyperpod_elastic_agent.run": "hyperpodrun",
}
_PYTHON: Final = re.compile(r"python(3(\.\d+)?)?")
_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_FORWARDERS: Final = frozenset({"tini", "dumb-init", "catatonit", "nvidia_entrypoint.sh"})
_SWITCHES: Final = frozenset({"standalone", "no_python", "module", "m", "run_path", "inprocess_restart"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "&", "(", ")", ";;", "|&"})
_SCRIPT: Final = ".sh"
_CONTINUED: Final = re.compile(r"\\\r?\n")
_PREFIXES: Final = frozenset({"exec", "env", "time", "nice", "numactl", "stdbuf", "command"})


@dataclass(frozen=True, slots=True)
class Launch:
    """How a container starts.

    Attributes:
        launcher: ``torchrun`` or ``hyperpodrun``; ``None`` if neither is seen.
        options: Options of the launcher without dashes, ``_`` for ``-``, each with its value.
        is_shell: Whether a shell reads the command.
        replaces_shell: Whether the shell makes way for the launcher, so that signals reach it.
        is_readable: Whether all of it is at hand: neither left to the image nor in a script.
        alone: Whether the launcher is all that the shell runs.
    """

    launcher: Launcher | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    is_shell: bool = False
    replaces_shell: bool = False
    is_readable: bool = True
    alone: bool = False

    @property
    def reaches_launcher(self) -> bool:
        """Whether a signal to the container's first process reaches the launcher."""
        return not self.is_shell or self.replaces_shell


def launch_of(container: Container) -> Launch:
    """Read how a container starts."""
    if not container.words:
        return Launch(is_readable=False)
    words = _without_forwarder(container.words)
    if words and PurePosixPath(words[0]).name in _SHELLS:
        return _in_shell(words)
    launcher, options = _parsed(words)
    is_script = bool(words) and words[0].endswith(_SCRIPT)
    return Launch(launcher, options, is_readable=bool(container.command and words) and not is_script)


def _without_forwarder(words: Sequence[str]) -> Sequence[str]:
    if words and PurePosixPath(words[0]).name in _FORWARDERS:
        rest = list(words[1:])
        while rest and rest[0].startswith("-"):
            rest = rest[1:]
        return rest
    return words


def _in_shell(words: Sequence[str]) -> Launch:
    for position, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word):
            script = words[position + 1] if position + 1 < len(words) else ""
            return _of_script(script)
        if not word.startswith("-"):
            break
    return Launch(is_shell=True, is_readable=False)


def _of_script(script: str) -> Launch:
    try:
        commands = list(_commands(script))
    except ValueError:
        return Launch(is_shell=True, is_readable=False)
    for position, (words, ends_with) in enumerate(commands):
        launcher, options = _parsed(words)
        if launcher is not None:
            return Launch(
                launcher,
                options,
                is_shell=True,
                replaces_shell="exec" in _prefix(words) and ends_with not in ("|", "|&", "&"),
                alone=len(commands) == 1 and not ends_with,
            )
        if "exec" in _prefix(words) and position == len(commands) - 1:
            return Launch(is_shell=True, replaces_shell=True, is_readable=False)
    return Launch(is_shell=True, is_readable=False)


def _commands(script: str) -> Iterator[tuple[list[str], str]]:
    """Yield each command of a script with what ends it.

    Raises:
        ValueError: If a quotation is left open.
    """
    for line in _CONTINUED.sub(" ", script).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        found: list[str] = []
        for token in lexer:
            if token in _SEPARATORS:
                if found:
                    yield found, token
                found = []
            else:
                found.append(token)
        if found:
            yield found, ""


def _prefix(words: Sequence[str]) -> list[str]:
    found = []
    for word in words:
        if word not in _PREFIXES and not _ASSIGNMENT.fullmatch(word) and not word.startswith("-"):
            break
        found.append(word)
    return found


def _parsed(words: Sequence[str]) -> tuple[Launcher | None, dict[str, str]]:
    start = len(_prefix(words))
    rest = words[start:]
    if not rest:
        return None, {}
    name = PurePosixPath(rest[0]).name
    if name in _LAUNCHERS:
        return _LAUNCHERS[name], _options(rest[1:])
    if _PYTHON.fullmatch(name):
        for position, word in enumerate(rest[1:], 1):
            if word == "-m" and position + 1 < len(rest) and rest[position + 1] in _MODULES:
                return _MODULES[rest[position + 1]], _options(rest[position + 2 :])
            if not word.startswith("-"):
                break
    return None, {}


def _options(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(words) and words[position].startswith("-"):
        name, equals, value = words[position].lstrip("-").partition("=")
        name = name.replace("-", "_")
        position += 1
        if not equals and name not in _SWITCHES and position < len(words):
            value = words[position]
            position += 1
        found[name] = value
    return found
