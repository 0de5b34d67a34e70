"""The identity of a folder of scripts: what a change of any byte, path or mode changes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

LEFT_OUT = ("__pycache__", "*.pyc", ".git", ".DS_Store")
"""Names, as patterns in any case, of what tools leave in a folder: neither hashed nor uploaded."""


class ScriptFile(NamedTuple):
    """A file as it will be uploaded.

    Attributes:
        path: Relative to the folder, with forward slashes.
        content: Raw bytes.
        executable: Whether its mode lets anybody run it. Windows has no such mode: there, a file that begins
            with ``#!`` counts as executable, so that a sound folder has the same hash on every machine.
    """

    path: str
    content: bytes
    executable: bool


def read_folder(folder: Path) -> list[ScriptFile]:
    """Read every regular file under a folder, in the order of their paths.

    Compiled Python is no part of the scripts: pip compiles what it installs, and so does every run.

    Args:
        folder: An existing folder. :data:`LEFT_OUT` and symbolic links are left out: S3 has no links, so a
            check refuses them.
    """
    files = []
    for path in folder.rglob("*"):
        within = [path, *_parents_within(path, folder)]
        if any(part.is_symlink() or _is_left_out(part.name) for part in within):
            continue
        if path.is_file():
            content = path.read_bytes()
            files.append(
                ScriptFile(path.relative_to(folder).as_posix(), content, _is_executable(path, content))
            )
    return sorted(files)


def content_hash(files: Iterable[ScriptFile], *, extra: Mapping[str, bytes] | None = None) -> str:
    """SHA-256 over sorted paths, executable modes and raw bytes, as 64 hexadecimal digits.

    The CDK's own asset hash is the same for LF and CRLF and for any mode, so that a mended script would not
    reach the nodes.

    Args:
        files: The files, in any order.
        extra: Further files by path, such as rendered parameters; never executable. None by default.
    """
    rendered = [
        ScriptFile(path, content, False) for path, content in ({} if extra is None else extra).items()
    ]
    digest = hashlib.sha256()
    for file in sorted([*files, *rendered]):
        path = file.path.encode()
        # Lengths keep two different folders from yielding the same stream of bytes.
        digest.update(b"%d %d %d\n" % (len(path), file.executable, len(file.content)))
        digest.update(path)
        digest.update(file.content)
    return digest.hexdigest()


def has_executable_mode() -> bool:
    """Whether this machine's files carry a mode that says who may run them."""
    return os.name != "nt"


def _is_executable(path: Path, content: bytes) -> bool:
    if not has_executable_mode():
        return content.startswith(b"#!")
    return bool(path.stat().st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))


def _is_left_out(name: str) -> bool:
    # The CDK leaves files out by the rules of .gitignore, which its parser takes without regard to case.
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in LEFT_OUT)


def _parents_within(path: Path, folder: Path) -> Iterable[Path]:
    for parent in path.parents:
        if parent == folder:
            return
        yield parent
