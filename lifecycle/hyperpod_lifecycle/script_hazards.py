"""What scripts do that works on the first node and fails, or does harm, on a later one.

Public scripts do these things, and users reported what came of it. Most findings are warnings: what a line
means cannot be known for certain without running it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hyperpod_lifecycle.shell_lines import Command, commands_of
from hyperpod_model.catalog.slurm_parameters import PARAMETERS
from hyperpod_model.faults import Fault, Severity

_START = r"(?:^|[;&|({]|\b(?:then|do|else|if|while|until|exec|sudo|time|retry)\b|!)\s*(?:sudo +(?:-\S+ +)*)?"
_DAEMON = re.compile(
    _START
    + r"(?:systemctl\s+(?:-\S+\s+)*(?:restart|stop|try-restart|reload-or-restart|kill)\s[^#;|&]*\bslurmctld\b"
    r"|service\s+slurmctld\s+(?:restart|stop)\b|(?:pkill|killall)\s[^#;|&]*\bslurmctld\b)"
)
_NODE_STATE = re.compile(
    _START + r"scontrol\s+(?:-\S+\s+)*update\s[^#;|&]*\bnode(?:name)?=\S*[^#;|&]*\bstate=", re.I
)
_FETCH = re.compile(_START + r"(?:timeout +\S+ +)?(?P<program>curl|wget)\s(?P<rest>[^#]*)")
_SHELL = r"(?:\S*/)?(?:ba|da|z)?sh"
_TO_SHELL = re.compile(
    # Python with -c or -m reads it as data.
    r"\b(?:curl|wget)\b[^#;]*\|\s*(?:sudo +(?:-\S+ +)*)?"
    rf"(?:{_SHELL}\b|(?:\S*/)?python3?(?:\.\d+)?(?=\s*$|\s*[;|&]|\s+-(?:\s|$)))"
    rf"|(?:\b{_SHELL}\s+(?:-\S+\s+)*|\beval\s+)[\"']?\$\(\s*(?:curl|wget)\b"
    rf"|(?:\b(?:{_SHELL}|source|python3?)\s+(?:-\S+\s+)*|(?:^|[;&|]\s*)\.\s+)<\(\s*(?:curl|wget)\b"
)
_NOT_FETCHED = re.compile(
    r"169\.254\.169\.254|\[fd00:ec2::254\]|localhost|127\.0\.0\.1|latest/(?:api|meta-data)"
)
_ASKS_ONLY = {
    "curl": re.compile(
        r"(?:^|\s)(?:-[a-zA-Z]*X\s*|--request[ =])(?:POST|PUT|PATCH|DELETE|HEAD)\b"
        r"|(?:^|\s)(?:-d|--data\S*|--json|-F|--form|-T|--upload-file|-[a-zA-Z]*I|--head)(?=[\s=]|$)"
        r"|(?:^|\s)(?:-[a-zA-Z]*o\s*|--output[ =])/dev/null"
    ),
    "wget": re.compile(r"(?:^|\s)(?:--spider|--post-\S+|(?:-[a-zA-Z]*O\s*|--output-document[ =])/dev/null)"),
}
"""Sends something, or looks whether there is an answer: nothing is kept."""
_CHECKSUM = re.compile(r"\b(?:sha(?:256|384|512)sum|shasum|gpg\s[^#]*--verify|cosign\s+verify)\b")
_CLONE = re.compile(_START + r"(?:timeout +\S+ +)?git\s+(?:-\S+\s+)*clone\b(?P<rest>[^#;|&]*)")
_BRANCH = re.compile(r"(?:^|\s)(?:-b|--branch)[ =]+[\"']?(?P<name>[^\s\"']+)")
_MOVING_BRANCHES = ("HEAD", "dev", "develop", "development", "latest", "main", "master", "nightly", "trunk")
_CHECKOUT = re.compile(r"\bgit\s[^#]*\b(?:checkout|reset\s+--hard|switch)\b")
_PIP = re.compile(
    _START
    + r"(?:(?:\S*/)?python3?(?:\.\d+)?\s+-m\s+)?(?:\S*/)?pip3?\s+(?:-\S+\s+)*install\s(?P<rest>[^#;|&]*)"
)
_APT = re.compile(
    _START + r"(?:(?:env +)?(?:[A-Za-z_]\w*=\S* +)+)?(?P<program>apt(?:-get)?)\s(?:[^#;&|]*\s)?"
    r"(?:install|update|(?:dist-|full-)?upgrade|remove|purge)\b"
)
_LOCK_TIMEOUT = re.compile(r"DPkg::Lock::Timeout", re.IGNORECASE)
_MOUNT = re.compile(
    _START + r"(?:timeout +\S+ +)?mount\s+(?:[^#;|&]*\s)?(?P<path>/\S+?)/?[\"']?\s*(?:$|[;|&#])"
)
_STATUS = re.compile(
    r"^\s*(?:(?:local|declare|readonly)\s+)?(?:\w+=[\"']?\$\?|(?:if\s+)?(?:\[\[?|\(\(|test)\s[^#]*\$\?)"
)
_ERREXIT_ON = re.compile(r"^\s*set\s+(?:-[a-zA-Z]*e[a-zA-Z]*\b|[^#]*-o\s+errexit\b)")
_ERREXIT_OFF = re.compile(r"^\s*set\s+(?:\+[a-zA-Z]*e[a-zA-Z]*\b|[^#]*\+o\s+errexit\b)")
_PIPEFAIL = re.compile(r"^\s*set\s+[^#]*pipefail\b")
_NOT_SIMPLE = re.compile(
    r"\|\||&&|^\s*(?:if|elif|while|until|then|else|fi|do|done|case|esac|trap|set)\b|[{}]\s*$|\)\s*$|^\s*!|;;"
)
_APPEND = re.compile(
    r"(?:>>|\btee\s+(?:-\S+\s+)*?(?:-[a-z]*a[a-z]*|--append)\s(?:\s*-\S+\s)*)\s*[\"']?"
    r"(?P<path>(?:/|~/|\$\{?HOME\}?/)[^\s\"';|&)]*)"
)
_LOG = re.compile(r"^/(?:var/log|dev|tmp|proc|run)/|\.log$")
_GUARD = re.compile(r"! +-[efs]\b|(?:\[|\btest)\s[^|]*-[efs]\b[^|]*\|\||ensure_")
_LOOK = re.compile(r"\b(?:grep|cmp|diff)\b")
_VARIABLE = re.compile(r"\$\{?\w")
_GUARD_LINES = 4
_REMOVAL = re.compile(
    _START
    + r"rm\s+(?:-\S+\s+)*[\"']?(?P<path>/var/lib/(?:kubelet|containerd|docker))(?:/\*?)?[\"']?(?:\s|$|;)"
)
_FIRST_HOST = re.compile(r"scontrol\s+show\s+hostnames?\b[^#;]*\|\s*head\b")
_ERREXIT_SHEBANG = re.compile(r"#!.*\s-[a-zA-Z]*e")
_SAYS = re.compile(r"\s*(?:echo|printf|log\w*|warn\w*|info|die|fail|error)\b")
_SAID = re.compile(r"\"[^\"$`]*\s[^\"`]*\"|'[^']*\s[^']*'")
_PIP_VALUES = (
    *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "-t", "--target"),
    *(
        "--prefix",
        "--root",
        "--cache-dir",
        "--timeout",
        "--retries",
        "--python",
        "--platform",
        "--progress-bar",
    ),
)
"""Options of pip whose value is a word of its own."""
_COLON = re.compile(r"^\s*(?P<name>[A-Z][A-Za-z0-9]+)\s*:\s+(?P<value>\S.*)$")
_SHORTEST_NAME = 10


_Finding: TypeAlias = tuple[int, str, Severity]


def check_hazards(path: str, text: str) -> list[Fault]:
    """Find what a shell script does that fails or does harm on a later node.

    Args:
        path: The script's name for people.
        text: The script.
    """
    lines = [command._replace(text=_without_words(command.text)) for command in commands_of(text)]
    found = [
        *_check_slurm(lines),
        *_check_fetches(lines, text),
        *_check_packages(lines, text),
        *_check_mounts(lines),
        *_check_status(lines, ends_at_errors=_ERREXIT_SHEBANG.match(text) is not None),
        *_check_second_run(lines),
        *_check_settings(text),
    ]
    return [Fault((path,), message, severity, number) for number, message, severity in sorted(found)]


def _without_words(text: str) -> str:
    """A command without what it tells people, which may name commands."""
    return _SAID.sub('""', text) if _SAYS.match(text) else text


def _check_slurm(lines: Sequence[Command]) -> Iterator[_Finding]:
    has_pipefail = any(_PIPEFAIL.match(line.text) for line in lines)
    for line in lines:
        if _DAEMON.search(line.text):
            yield (
                line.number,
                "stops or restarts slurmctld, and scripts run on every replacement, while jobs wait for "
                "the new node: write scontrol reconfigure, and only while no node is being replaced",
                "warning",
            )
        if _NODE_STATE.search(line.text):
            yield (
                line.number,
                "changes the state of a node, which HyperPod does itself when it replaces one: leave it to "
                "HyperPod, or to an operator",
                "warning",
            )
        if has_pipefail and _FIRST_HOST.search(line.text):
            yield (
                line.number,
                "ends with SIGPIPE on large clusters under pipefail, since head does not read on: write "
                "mapfile -t hosts < <(scontrol show hostnames ...) and take the first",
                "warning",
            )


def _check_fetches(lines: Sequence[Command], text: str) -> Iterator[_Finding]:
    is_checked = _CHECKSUM.search(text) is not None
    checks_out = _CHECKOUT.search(text) is not None
    for line in lines:
        fetch = _FETCH.search(line.text)
        if _TO_SHELL.search(line.text):
            yield (
                line.number,
                "runs what a server answers as root on every node: fetch it once, upload it with the "
                "scripts, and run that",
                "warning",
            )
        elif (
            fetch
            and not is_checked
            and not _NOT_FETCHED.search(fetch["rest"])
            and not _ASKS_ONLY[fetch["program"]].search(fetch["rest"])
            and "--version" not in fetch["rest"]
        ):
            yield (
                line.number,
                f"fetches with {fetch['program']} and compares no checksum, so that a node made later may "
                "get something else: upload it with the scripts, or pin it with sha256sum --check and "
                "--retry",
                "warning",
            )
        clone = _CLONE.search(line.text)
        if clone and not checks_out and not _names_a_version(clone["rest"]):
            yield (
                line.number,
                "clones whatever is the newest then, so that nodes differ: check out a commit, or upload "
                "it with the scripts",
                "warning",
            )
        pip = _PIP.search(line.text)
        if pip and not _is_pinned(pip["rest"]):
            yield (
                line.number,
                "installs the newest versions with pip, so that nodes differ: pin each with ==, or give a "
                "requirements file with --require-hashes",
                "warning",
            )


def _names_a_version(arguments: str) -> bool:
    branch = _BRANCH.search(arguments)
    return branch is not None and branch["name"] not in _MOVING_BRANCHES


def _is_pinned(arguments: str) -> bool:
    words = arguments.split()
    if any(word in ("-r", "--requirement", "-c", "--constraint", "-e", "--no-index") for word in words):
        return True
    packages = [
        word.strip("\"'")
        for before, word in zip(["", *words], words, strict=False)
        if before not in _PIP_VALUES and not word.startswith(("-", "$", ".", "/")) and word not in ("\\",)
    ]
    named = [
        word for word in packages if re.match(r"[A-Za-z]", word) and not word.endswith((".whl", ".tar.gz"))
    ]
    return all("==" in word or "@" in word for word in named)


def _check_packages(lines: Sequence[Command], text: str) -> Iterator[_Finding]:
    if _LOCK_TIMEOUT.search(text):
        return
    for line in lines:
        found = _APT.search(line.text)
        if found:
            yield (
                line.number,
                f"runs {found['program']} without waiting for dpkg's lock, which updates hold after each "
                "boot: add -o DPkg::Lock::Timeout=300",
                "warning",
            )


def _check_mounts(lines: Sequence[Command]) -> Iterator[_Finding]:
    for at, line in enumerate(lines):
        mounted = _MOUNT.search(line.text)
        if not mounted or mounted["path"] == "/":
            continue
        path = re.escape(mounted["path"])
        write = re.compile(rf"(?:\b(?:touch|mkdir)\s[^#;|&]*|\btee\s[^#;|&]*|>\s*)[\"']?{path}/\S")
        for earlier in lines[:at]:
            if write.search(earlier.text):
                yield (
                    earlier.number,
                    f"writes to {mounted['path']} before it is mounted on line {line.number}, so that it "
                    "lands on the root volume and is hidden: mount first, and make sure that it is "
                    "(mountpoint -q)",
                    "warning",
                )


def _check_status(lines: Sequence[Command], *, ends_at_errors: bool) -> Iterator[_Finding]:
    previous: Command | None = None
    for line in lines:
        if _ERREXIT_ON.match(line.text):
            ends_at_errors = True
        elif _ERREXIT_OFF.match(line.text):
            ends_at_errors = False
        elif (
            ends_at_errors
            and previous is not None
            and line.follows
            and _STATUS.match(line.text)
            and not _NOT_SIMPLE.search(previous.text)
        ):
            yield (
                line.number,
                "reads $? after a command at whose failure set -e has ended the script already: write if ! "
                "command; then, or command || status=$?",
                "warning",
            )
        previous = line


def _check_second_run(lines: Sequence[Command]) -> Iterator[_Finding]:
    for at, line in enumerate(lines):
        before = [earlier.text for earlier in lines[max(0, at - _GUARD_LINES) : at + 1]]
        append = _APPEND.search(line.text)
        if append and not _LOG.search(append["path"]) and not _is_guarded(append["path"], before):
            yield (
                line.number,
                f"appends to {append['path']} again each time it runs, as after a software update: look "
                "for the line first (grep -qxF), or write the whole file",
                "warning",
            )
        removal = _REMOVAL.search(line.text)
        if removal:
            yield (
                line.number,
                f"removes {removal['path']}, which a second run takes from running containers: move it "
                "once, and leave it where it is a link or a mount already",
                "warning",
            )


def _is_guarded(path: str, commands: Sequence[str]) -> bool:
    """Whether one of the commands looks at that file, or may do so through a variable."""
    name = path.rpartition("/")[2]
    return any(
        _GUARD.search(text)
        or (_LOOK.search(text) and (name in text.split(">>")[0] or _VARIABLE.search(text)))
        for text in commands
    )


def _check_settings(text: str) -> Iterator[_Finding]:
    """Lines of slurm.conf in here-documents, which no parser has seen before the node."""
    for number, line in enumerate(text.splitlines(), start=1):
        found = _COLON.match(line)
        if found and found["name"] in PARAMETERS and len(found["name"]) >= _SHORTEST_NAME:
            yield (
                number,
                f"separates {found['name']} and its value with ':', at which slurmctld stops; write "
                f"{found['name']}={found['value']}",
                "error",
            )
