"""What makes a folder of lifecycle scripts fail on a node, found before it is uploaded."""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from hyperpod_lifecycle.content_hash import ScriptFile, has_executable_mode, read_folder
from hyperpod_lifecycle.script_hazards import check_hazards
from hyperpod_lifecycle.shell_lines import CONTINUATION, commands_of, lines_of_code
from hyperpod_lifecycle.slurm_configuration.fragments import check_slurm_fragment
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import check_provisioning_parameters
from hyperpod_model.catalog.names import LIFECYCLE_SCRIPT
from hyperpod_model.catalog.slurm_parameters import INCLUDED_FILE
from hyperpod_model.faults import Fault

PROVISIONING_PARAMETERS = "provisioning_parameters.json"
"""Configures Slurm from the scripts. Beside the service's own Slurm configuration an update rolls back."""

_SLURM_CONF = "slurm.conf"
_SHOWN_CHOICES = 5
_SHELLS = re.compile(rb"^#! *\S*/(?:env +(?:-S +)?)?(?:ba|da|k|z)?sh\b")
_BASH = re.compile(rb"^#! *\S*/(?:env +(?:-S +)?)?bash\b")
_BROKEN_CONTINUATION = re.compile(r"(?<!\\)(?:\\\\)*\\[ \t]+(#.*)?$")
_COMMAND_START = r"(?:^|[;&|(]|\b(?:then|do|else|if|while|until|exec|sudo|time)\b|!)\s*"

_APT = re.compile(
    _COMMAND_START
    + r"(?:sudo +)?(?:(?:env +)?(?:[A-Za-z_]\w*=\S* +)+)?(?P<apt>apt(?:-get)?)\s(?:[^#;&|]*\s)?"
    + r"(?:install|update|(?:dist-|full-)?upgrade)\b"
)


def check_folder(
    folder: Path, *, entry_point: str, service_configures_slurm: bool, bash: str | None
) -> list[Fault]:
    """Find everything wrong with a folder of scripts.

    Args:
        folder: The folder to be uploaded.
        entry_point: File in it that the service runs.
        service_configures_slurm: Whether node types and partitions are given to the service, which then
            refuses ``provisioning_parameters.json`` beside them.
        bash: Program that parses the scripts with ``-n``. None leaves that out.

    Returns:
        Faults with the file as path and its line. Warnings are legal and probably not meant.
    """
    if not folder.is_dir():
        message = f"must be an existing folder of scripts, got '{folder}'; name one that is there"
        return [Fault(("folder",), message)]
    files = read_folder(folder)
    faults = [*_check_links(folder), *_check_names(files)]
    faults += check_entry_point(files, entry_point=entry_point)
    names = frozenset(file.path for file in files)
    for file in files:
        if service_configures_slurm and PurePosixPath(file.path).name == PROVISIONING_PARAMETERS:
            faults.append(
                Fault(
                    (file.path,),
                    "must not be there when the service configures Slurm, since an update would fail and "
                    "roll back; remove the file, or configure Slurm by scripts alone with "
                    "slurm_mode='lifecycle'",
                )
            )
        elif PurePosixPath(file.path).name == PROVISIONING_PARAMETERS:
            found = check_provisioning_parameters(file.content)
            faults += [fault._replace(path=(file.path, *fault.path[1:])) for fault in found]
        elif _is_slurm_file(file):
            text = file.content.decode(errors="replace")
            faults += check_slurm_fragment(
                text, path=file.path, whole=PurePosixPath(file.path).name == _SLURM_CONF
            )
        if _is_script(file):
            faults += check_script(file, bundle=names)
            if bash is not None and _BASH.match(file.content):
                faults += _parse(file, bash)
        elif b"\0" not in file.content:
            faults += _check_line_ends(file, "warning")
    return faults


def check_script(file: ScriptFile, *, bundle: frozenset[str] = frozenset()) -> list[Fault]:
    """Find what is wrong with one shell script, without running anything.

    Args:
        file: The script.
        bundle: Paths of all scripts uploaded with it, to see whether it starts one by its mode.
    """
    if b"\0" in file.content:
        return [Fault((file.path,), "holds a NUL byte, so that it is no script; upload text", line=1)]
    return [
        *_check_first_line(file),
        *_check_line_ends(file, "error"),
        *_check_continuations(file),
        *_check_calls(file, bundle),
        *check_hazards(file.path, _text_of(file)),
    ]


def find_package_installation(folder: Path) -> Fault | None:
    """Find the first script line that fetches packages with apt, whose default mirrors answer on TCP 80 only.

    Args:
        folder: A folder of scripts.

    Returns:
        File and line, in words; None where no shell script calls apt.
    """
    for file in read_folder(folder):
        if _is_script(file):
            for command in commands_of(_text_of(file)):
                found = _APT.search(command.text)
                if found:
                    return Fault((file.path,), f"runs {found['apt']}", "warning", command.number)
    return None


def _check_links(folder: Path) -> Iterator[Fault]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            yield Fault(
                (path.relative_to(folder).as_posix(),),
                f"is a symbolic link to '{path.readlink()}', and S3 has no links; put a copy of the file "
                "there",
            )


def _check_names(files: Sequence[ScriptFile]) -> Iterator[Fault]:
    for file in files:
        shown = file.path.encode(errors="backslashreplace").decode()
        if shown != file.path:
            yield Fault((shown,), "has a name that is not UTF-8, as keys in S3 are; rename it")
        elif not file.path.isprintable():
            yield Fault((repr(file.path),), "has a control character in its name; rename it")


def check_entry_point(files: Sequence[ScriptFile], *, entry_point: str) -> Iterator[Fault]:
    """Find what keeps the service from running a file first.

    Args:
        files: The folder that is uploaded.
        entry_point: Name of the file.
    """
    if not LIFECYCLE_SCRIPT.matches(entry_point) or "/" in entry_point:
        yield Fault(
            ("entry_point",),
            "needs the name of a file at the top of the folder, of at most "
            f"{LIFECYCLE_SCRIPT.max_length} characters and without '/', got '{entry_point}'; put a "
            "script there that calls the other",
        )
        return
    by_path = {file.path: file for file in files}
    if entry_point not in by_path:
        way_out = _way_to_an_entry_point(entry_point, sorted(by_path))
        yield Fault(("entry_point",), f"needs a file of the folder, got '{entry_point}'; {way_out}")
        return
    file = by_path[entry_point]
    if not file.content.startswith(b"#!") and not _is_script(file):
        yield Fault(
            (entry_point,), "is the entry point and has no '#!' on its first line; add #!/bin/bash", line=1
        )
    if has_executable_mode() and not file.executable:
        yield Fault((entry_point,), f"is the entry point and not executable; run chmod +x {entry_point}")


def _way_to_an_entry_point(entry_point: str, paths: Sequence[str]) -> str:
    deeper = [path for path in paths if path.endswith(f"/{entry_point}")]
    if deeper:
        return f"move {deeper[0]} to the top of the folder"
    top = [path for path in paths if "/" not in path]
    choices = difflib.get_close_matches(entry_point, top, n=3)
    if not choices:
        scripts = [path for path in top if path.endswith(".sh")]
        choices = scripts if scripts else top
    if not choices:
        return "add it to the folder"
    more = ", ..." if len(choices) > _SHOWN_CHOICES else ""
    return f"choose one of {', '.join(choices[:_SHOWN_CHOICES])}{more}, or add it"


def _text_of(file: ScriptFile) -> str:
    return file.content.decode(errors="replace")


def _is_script(file: ScriptFile) -> bool:
    return file.path.endswith((".sh", ".bash")) or _SHELLS.match(file.content) is not None


def _is_slurm_file(file: ScriptFile) -> bool:
    return PurePosixPath(file.path).name in (_SLURM_CONF, INCLUDED_FILE)


def _check_first_line(file: ScriptFile) -> Iterator[Fault]:
    if file.content.startswith(b"\xef\xbb\xbf"):
        yield Fault((file.path,), "begins with a byte order mark, which hides '#!'; save it without", line=1)
    elif not file.content.startswith(b"#!"):
        yield Fault((file.path,), "has no '#!' on its first line; add #!/bin/bash", line=1)


def _check_line_ends(file: ScriptFile, severity: Literal["error", "warning"]) -> Iterator[Fault]:
    lines = file.content.split(b"\n")
    returns = [number for number, line in enumerate(lines, start=1) if b"\r" in line]
    if returns:
        yield Fault(
            (file.path,),
            f"has carriage returns on {len(returns)} of its lines, which end up in commands and values on "
            "the node; save it with LF line ends (git config core.autocrlf input)",
            severity,
            returns[0],
        )
    if file.content and not file.content.endswith(b"\n"):
        yield Fault(
            (file.path,),
            "has a last line without a line end, which 'while read' drops; end it with a line feed",
            severity,
            len(lines),
        )


def _check_continuations(file: ScriptFile) -> Iterator[Fault]:
    previous_continues = False
    for number, line in lines_of_code(_text_of(file)):
        text = line.rstrip("\r")
        is_comment = text.lstrip().startswith("#")
        if previous_continues and is_comment:
            yield Fault(
                (file.path,),
                "is a comment in the middle of a continued command: the command ends here and the next line "
                "runs as another; move the comment above the command",
                line=number,
            )
        broken = None if is_comment else _BROKEN_CONTINUATION.search(text)
        if broken:
            what = "a comment" if broken.group(1) else "blanks"
            yield Fault(
                (file.path,),
                f"has {what} after the backslash, so that the command does not continue on the next line; "
                "end the line with the backslash",
                line=number,
            )
        previous_continues = not is_comment and CONTINUATION.search(text) is not None


def _check_calls(file: ScriptFile, bundle: frozenset[str]) -> Iterator[Fault]:
    others = sorted({PurePosixPath(path).name for path in bundle if path.endswith((".sh", ".bash"))})
    if not others:
        return
    names = "|".join(re.escape(name) for name in others)
    word = rf"(?P<word>[\"']?[^\s\"'=;&|()]*/(?P<name>{names})[\"']?)(?=\s|$|[;&|)])"
    call = re.compile(_COMMAND_START + word)
    for number, line in lines_of_code(_text_of(file)):
        found = call.search(line)
        if found and not line.lstrip().startswith("#"):
            yield Fault(
                (file.path,),
                f"starts {found['name']} by its mode, and S3 drops modes; write: bash {found['word']}",
                "warning",
                number,
            )


def _parse(file: ScriptFile, bash: str) -> Iterator[Fault]:
    # From standard input, so that no path of this machine gets into messages.
    result = subprocess.run([bash, "-n"], input=file.content, capture_output=True, check=False)
    if result.returncode == 0:
        return
    text = result.stderr.decode(errors="replace").strip()
    first = text.splitlines()[0] if text else f"exit status {result.returncode}"
    found = re.search(r"line (\d+): (.*)", first)
    yield Fault(
        (file.path,),
        f"does not parse: {found[2] if found else first}; see bash -n {file.path}",
        line=int(found[1]) if found else None,
    )
