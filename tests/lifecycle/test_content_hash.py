from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperpod_lifecycle import content_hash as module
from hyperpod_lifecycle.content_hash import ScriptFile, content_hash, read_folder

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")

files = st.lists(
    st.builds(ScriptFile, st.text("ab/0 1\n", min_size=1), st.binary(max_size=20), st.booleans()),
    unique_by=lambda file: file.path,
    max_size=5,
)


def write(folder: Path, name: str, content: bytes = b"#!/bin/bash\n", mode: int = 0o644) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def hash_of(folder: Path) -> str:
    return content_hash(read_folder(folder))


def test_is_a_known_sha256_of_a_known_folder(tmp_path: Path) -> None:
    """The hash is the prefix of what nodes run: a change of its making uploads everything anew."""
    write(tmp_path, "b.sh", b"#!/bin/bash\necho b\n", 0o755)
    write(tmp_path, "lib/a.sh")
    stream = b"4 1 19\nb.sh#!/bin/bash\necho b\n8 0 12\nlib/a.sh#!/bin/bash\n"
    assert hash_of(tmp_path) == hashlib.sha256(stream).hexdigest()


@pytest.mark.parametrize("change", ["byte", "line end", "path", "new file", "folder"])
def test_any_change_changes_it(tmp_path: Path, change: str) -> None:
    path = write(tmp_path, "a.sh", b"#!/bin/bash\necho a\n")
    before = hash_of(tmp_path)
    if change == "byte":
        path.write_bytes(b"#!/bin/bash\necho b\n")
    elif change == "line end":
        path.write_bytes(b"#!/bin/bash\r\necho a\r\n")
    elif change == "path":
        path.rename(tmp_path / "b.sh")
    elif change == "new file":
        write(tmp_path, "c.sh", b"")
    else:
        (tmp_path / "lib").mkdir()
        path.rename(tmp_path / "lib" / "a.sh")
    assert hash_of(tmp_path) != before


@posix_only
def test_a_mode_changes_it_and_the_kind_of_reader_does_not(tmp_path: Path) -> None:
    path = write(tmp_path, "a.sh", mode=0o644)
    before = hash_of(tmp_path)
    path.chmod(0o755)
    executable = hash_of(tmp_path)
    assert executable != before
    path.chmod(0o700)
    assert hash_of(tmp_path) == executable


def test_times_and_order_do_not_change_it(tmp_path: Path) -> None:
    for name in ("a.sh", "b.sh"):
        write(tmp_path / "one", name)
    for name in ("b.sh", "a.sh"):
        write(tmp_path / "two", name)
    os.utime(tmp_path / "two" / "a.sh", (0, 0))
    assert hash_of(tmp_path / "one") == hash_of(tmp_path / "two")


def test_what_tools_leave_does_not_change_it(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    before = hash_of(tmp_path)
    for name in (
        "__pycache__/a.cpython-311.pyc",
        "lib/__pycache__/b.pyc",
        "B.PYC",
        ".git/HEAD",
        ".GIT/HEAD",
        ".DS_Store",
    ):
        write(tmp_path, name)
    assert hash_of(tmp_path) == before


@posix_only
def test_links_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, "outside/secret")
    write(tmp_path, "folder/a.sh")
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "outside" / "secret")
    (tmp_path / "folder" / "links").symlink_to(tmp_path / "outside")
    assert [file.path for file in read_folder(tmp_path / "folder")] == ["a.sh"]


def test_without_modes_the_first_line_says_what_is_executable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.sh", mode=0o755)
    write(tmp_path, "users.txt", b"ada\n")
    with_modes = read_folder(tmp_path)
    monkeypatch.setattr(module, "has_executable_mode", lambda: False)
    assert read_folder(tmp_path) == with_modes


def test_extra_files_count_like_files_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.sh")
    rendered = content_hash(read_folder(tmp_path), extra={"parameters.json": b"{}\n"})
    write(tmp_path, "parameters.json", b"{}\n")
    assert rendered == hash_of(tmp_path)


@given(files, files)
def test_different_folders_have_different_hashes(one: list[ScriptFile], other: list[ScriptFile]) -> None:
    assert (content_hash(one) == content_hash(other)) == (sorted(one) == sorted(other))
