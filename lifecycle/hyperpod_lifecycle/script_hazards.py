"""What scripts do that works on the first node and fails, or does harm, on a later one.

Public scripts do these things, and users reported what came of it. Most findings are warnings: what a line
means cannot be known for certain without running it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

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
_TO_SHELL = re.compile(r"\b(?:curl|wget)\b[^#;]*\|\s*(?:sudo +(?:-\S+ +)*)?(?:ba|da|z)?sh\b")
_NOT_FETCHED = re.compile(
    r"169\.254\.169\.254|\[fd00:ec2::254\]|localhost|127\.0\.0\.1|latest/(?:api|meta-data)"
)
_CHECKSUM = re.compile(r"\b(?:sha(?:256|384|512)sum|shasum|gpg\s[^#]*--verify|cosign\s+verify)\b")
_CLONE = re.compile(_START + r"(?:timeout +\S+ +)?git\s+(?:-\S+\s+)*clone\b(?P<rest>[^#;|&]*)")
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
_APPEND = re.compile(r">>\s*[\"']?(?P<path>(?:/|~/|\$\{?HOME\}?/)[^\s\"';|&)]*)")
_LOG = re.compile(r"^/(?:var/log|dev|tmp|proc|run)/|\.log$")
_GUARD = re.compile(r"\bgrep\b|\bcmp\b|\bdiff\b|! +-[efs]\b|ensure_")
_GUARD_LINES = 4
_REMOVAL = re.compile(
    _START
    + r"rm\s+(?:-\S+\s+)*[\"']?(?P<path>/var/lib/(?:kubelet|containerd|docker))(?:/\*?)?[\"']?(?:\s|$|;)"
)
_FIRST_HOST = re.compile(r"scontrol\s+show\s+hostnames?\b[^#;]*\|\s*head\b")
_COLON = re.compile(r"^\s*(?P<name>[A-Z][A-Za-z0-9]+)\s*:\s+(?P<value>\S.*)$")
_SHORTEST_NAME = 10


_Finding: TypeAlias = tuple[int, str, Severity]


class _Line(NamedTuple):
    number: int
    text: str


def check_hazards(path: str, code: Sequence[tuple[int, str]], *, text: str) -> list[Fault]:
    """Find what a shell script does that fails or does harm on a later node.

    Args:
        path: The script's name for people.
        code: Its lines of code with their numbers, without here-documents.
        text: All of it.
    """
    lines = [_Line(number, line) for number, line in code if not line.lstrip().startswith("#")]
    found = [
        *_check_slurm(lines),
        *_check_fetches(lines, text),
        *_check_packages(lines, text),
        *_check_mounts(lines),
        *_check_status(lines),
        *_check_second_run(lines),
        *_check_settings(text),
    ]
    return [Fault((path,), message, severity, number) for number, message, severity in sorted(found)]


def _check_slurm(lines: Sequence[_Line]) -> Iterator[_Finding]:
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


def _check_fetches(lines: Sequence[_Line], text: str) -> Iterator[_Finding]:
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
        if clone and not checks_out and not re.search(r"(?:^|\s)(?:-b|--branch)\b", clone["rest"]):
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


def _is_pinned(arguments: str) -> bool:
    words = arguments.split()
    if any(word in ("-r", "--requirement", "-c", "--constraint", "-e", "--no-index") for word in words):
        return True
    packages = [
        word.strip("\"'")
        for word in words
        if not word.startswith(("-", "$", ".", "/")) and word not in ("\\",)
    ]
    named = [
        word for word in packages if re.match(r"[A-Za-z]", word) and not word.endswith((".whl", ".tar.gz"))
    ]
    return all("==" in word or "@" in word for word in named)


def _check_packages(lines: Sequence[_Line], text: str) -> Iterator[_Finding]:
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


def _check_mounts(lines: Sequence[_Line]) -> Iterator[_Finding]:
    for at, line in enumerate(lines):
        mounted = _MOUNT.search(line.text)
        if not mounted or mounted["path"] == "/":
            continue
        path = re.escape(mounted["path"])
        write = re.compile(rf"(?:\btouch\s[^#;|&]*|\btee\s[^#;|&]*|>\s*)[\"']?{path}/\S")
        for earlier in lines[:at]:
            if write.search(earlier.text):
                yield (
                    earlier.number,
                    f"writes to {mounted['path']} before it is mounted on line {line.number}, so that it "
                    "lands on the root volume and is hidden: mount first, and make sure that it is "
                    "(mountpoint -q)",
                    "warning",
                )


def _check_status(lines: Sequence[_Line]) -> Iterator[_Finding]:
    ends_at_errors = False
    previous: _Line | None = None
    for line in lines:
        if _ERREXIT_ON.match(line.text):
            ends_at_errors = True
        elif _ERREXIT_OFF.match(line.text):
            ends_at_errors = False
        elif (
            ends_at_errors
            and previous is not None
            and previous.number == line.number - 1
            and _STATUS.match(line.text)
            and not _NOT_SIMPLE.search(previous.text)
        ):
            yield (
                line.number,
                "reads $? after a command at whose failure set -e has ended the script already: write if ! "
                "command; then, or command || status=$?",
                "warning",
            )
        if line.text.strip():
            previous = line


def _check_second_run(lines: Sequence[_Line]) -> Iterator[_Finding]:
    for at, line in enumerate(lines):
        before = [earlier.text for earlier in lines[max(0, at - _GUARD_LINES) : at + 1]]
        append = _APPEND.search(line.text)
        if append and not _LOG.search(append["path"]) and not any(_GUARD.search(text) for text in before):
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
