"""What is on a node, byte for byte."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

LOGS = ("var/log/provision",)
"""Grows with each run, so that it is no part of what must be the same."""

_SHOWN = 400


class Entry(NamedTuple):
    """A file, folder or link: its kind and mode, its owner, and the bytes or the target."""

    kind: str
    mode: int
    owner: int
    group: int
    content: bytes


Tree = dict[str, Entry]


def read_tree(root: Path) -> Tree:
    """Everything under a folder but the logs."""
    tree: Tree = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if os.path.relpath(os.path.join(folder, name), root) not in LOGS]
        for name in [*names, *files]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                kind, content = "link", os.readlink(path).encode()
            elif stat.S_ISDIR(status.st_mode):
                kind, content = "folder", b""
            elif stat.S_ISREG(status.st_mode):
                kind, content = "file", Path(path).read_bytes()
            else:
                kind, content = "other", b""
            mode = stat.S_IMODE(status.st_mode)
            tree[os.path.relpath(path, root)] = Entry(kind, mode, status.st_uid, status.st_gid, content)
    return tree


def fingerprint(root: Path) -> frozenset[tuple[str, int, int, int, int]]:
    """Changes whenever something under the folder does; quicker than the bytes.

    Leaves out /sys, which nobody writes.
    """
    found = set()
    folders = [str(root)]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except FileNotFoundError:
            continue  # two commands of a pipeline run at once
        for entry in entries:
            if entry.path[len(str(root)) + 1 :] in (*LOGS, "sys"):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders.append(entry.path)
                found.add((entry.path, status.st_mode, status.st_ino, 0, 0))
            else:
                found.add((entry.path, status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns))
    return frozenset(found)


def differences(expected: Tree, got: Tree) -> list[str]:
    """What differs, a line each; empty where nothing does."""
    lines = []
    for path in sorted({*expected, *got}):
        one, other = expected.get(path), got.get(path)
        if one == other:
            continue
        if one is None:
            lines.append(f"{path}: is there and should not be: {_in_words(other)}")
        elif other is None:
            lines.append(f"{path}: is not there: {_in_words(one)}")
        else:
            lines.append(f"{path}: {_in_words(one)} became {_in_words(other)}")
    return lines


def copy_tree(source: Path, destination: Path) -> None:
    """Make a folder hold exactly what another one does, with modes, owners, links and times."""
    if destination.exists():
        shutil.rmtree(destination)
    subprocess.run(["cp", "-a", str(source), str(destination)], check=True)


def _in_words(entry: Entry | None) -> str:
    assert entry is not None
    kind, mode, owner, group, content = entry
    shown = content if len(content) <= _SHOWN else content[:_SHOWN] + b"..."
    return f"{kind} {mode:04o} {owner}:{group} {shown!r}"
