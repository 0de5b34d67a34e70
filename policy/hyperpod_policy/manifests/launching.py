"""How a container starts its training processes: launcher, options, and who gets the signals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Literal, TypeAlias

from hyperpod_model.faults import FaultPath
from hyperpod_model.launcher_options import LauncherOptions, options_of, script_commands
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
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SCRIPT: Final = ".sh"
_PREFIXES: Final = frozenset({"exec", "env", "time", "nice", "numactl", "stdbuf", "command"})
_KEYWORDS: Final = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "!"})
_WRAPPERS: Final = frozenset(
    {
        *("timeout", "nsys", "ncu", "taskset", "chrt", "ionice", "setpriv", "gosu", "su-exec", "strace"),
        *("conda", "mamba", "micromamba", "uv", "poetry", "pipenv", "ddtrace-run"),
    }
)
"""Programs that start another one, and have words of their own before it."""

_OPTION_WITH_NAME: Final = re.compile(r"[-+][a-zA-Z]*[oO]|--(rcfile|init-file)")
"""An option of a shell that takes the next word."""


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
        says_all_options: Whether it has no other options: a variable among them may hold some.
    """

    launcher: Launcher | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    is_shell: bool = False
    replaces_shell: bool = False
    is_readable: bool = True
    alone: bool = False
    says_all_options: bool = True

    @property
    def reaches_launcher(self) -> bool:
        """Whether a signal to the container's first process reaches the launcher."""
        return not self.is_shell or self.replaces_shell


def launch_of(container: Container) -> Launch:
    """Read how a container starts."""
    if not container.words:
        return Launch(is_readable=False)
    words = _without_forwarder(container.words)
    started = words[len(_prefix(words)) :]
    if started and PurePosixPath(started[0]).name in _SHELLS:
        return _in_shell(started)
    launcher, options = _parsed(words)
    is_script = bool(words) and words[0].endswith(_SCRIPT)
    return Launch(
        launcher,
        options.values,
        is_readable=bool(container.command and words) and not is_script,
        says_all_options=options.is_all,
    )


def _without_forwarder(words: Sequence[str]) -> Sequence[str]:
    if words and PurePosixPath(words[0]).name in _FORWARDERS:
        rest = list(words[1:])
        while rest and rest[0].startswith("-"):
            rest = rest[1:]
        return rest
    return words


def _in_shell(words: Sequence[str]) -> Launch:
    position = 1
    while position < len(words) and words[position].startswith(("-", "+")):
        if re.fullmatch(r"-[a-z]*c", words[position]):
            script = words[position + 1] if position + 1 < len(words) else ""
            return _of_script(script)
        position += 2 if _OPTION_WITH_NAME.fullmatch(words[position]) else 1
    return Launch(is_shell=True, is_readable=False)


def _of_script(script: str) -> Launch:
    try:
        commands = list(script_commands(script))
    except ValueError:
        return Launch(is_shell=True, is_readable=False)
    for position, (words, ends_with) in enumerate(commands):
        launcher, options = _parsed(words)
        if launcher is not None:
            return Launch(
                launcher,
                options.values,
                is_shell=True,
                replaces_shell="exec" in _prefix(words) and ends_with not in ("|", "|&", "&"),
                alone=len(commands) == 1 and not ends_with,
                says_all_options=options.is_all,
            )
        if "exec" in _prefix(words) and position == len(commands) - 1:
            return Launch(is_shell=True, replaces_shell=True, is_readable=False)
    return Launch(is_shell=True, is_readable=False)


def _prefix(words: Sequence[str]) -> list[str]:
    found = []
    for word in words:
        is_one = word in _KEYWORDS or PurePosixPath(word).name in _PREFIXES
        if not is_one and not _ASSIGNMENT.fullmatch(word) and not word.startswith("-"):
            break
        found.append(word)
    return found


def _parsed(words: Sequence[str]) -> tuple[Launcher | None, LauncherOptions]:
    start = len(_prefix(words))
    rest = words[start:]
    if not rest:
        return None, LauncherOptions({})
    name = PurePosixPath(rest[0]).name
    if name in _LAUNCHERS:
        return _LAUNCHERS[name], options_of(rest[1:])
    if _PYTHON.fullmatch(name):
        for position, word in enumerate(rest[1:], 1):
            if word == "-m" and position + 1 < len(rest) and rest[position + 1] in _MODULES:
                return _MODULES[rest[position + 1]], options_of(rest[position + 2 :])
            if not word.startswith("-"):
                break
    elif name in _WRAPPERS or _takes_a_value(words[:start]):
        for position, word in enumerate(rest):
            if PurePosixPath(word).name in _LAUNCHERS:
                return _parsed(rest[position:])
    return None, LauncherOptions({})


def _takes_a_value(prefix: Sequence[str]) -> bool:
    """Whether the last word before is an option, so that what follows may be its value."""
    return bool(prefix) and prefix[-1].startswith("-") and "=" not in prefix[-1]


def commands_of(container: Container) -> Iterator[list[tuple[FaultPath, str]]]:
    """Yield the words of each command that a container runs, each word with the path of its text.

    Those of a script in the command are told apart by line and separator, as far as its quotes are closed.
    """
    said = [
        ((*container.path, member, position), text)
        for member, texts in (("command", container.command), ("args", container.args))
        for position, text in enumerate(texts)
    ]
    if not launch_of(container).is_shell:
        yield said
        return
    for path, text in said:
        try:
            commands = [words for words, _ in script_commands(text)]
        except ValueError:
            commands = [text.split()]
        yield from ([(path, word) for word in words] for words in commands)
