from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from hyperpod_policy.sources import UnusableInputError, load
from hyperpod_policy.sources import text as text_module
from hyperpod_policy.sources.text import decoded_text, read_bytes, read_standard_input


def refusal(path) -> str:
    with pytest.raises(UnusableInputError) as refused:
        load([path])
    said = str(refused.value)
    assert "\n" not in said
    return said


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "input")
    return folder / "input"


def _link(folder: Path) -> Path:
    (folder / "input").symlink_to("gone.json")
    return folder / "input"


def _loop(folder: Path) -> Path:
    (folder / "input").symlink_to("input")
    return folder / "input"


def _content(content: bytes):
    def make(folder: Path) -> Path:
        (folder / "input").write_bytes(content)
        return folder / "input"

    return make


def _sparse(folder: Path) -> Path:
    with (folder / "input").open("wb") as stream:
        stream.truncate(50 * 2**20)
    return folder / "input"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "input", "is not there"),
        (_pipe, "is a named pipe; pass - and pipe the template in"),
        (lambda folder: Path("/dev/null"), "is a device, not a file"),
        (_link, "is a link to gone.json, which is not there"),
        (_loop, "cannot be read: "),
        (lambda folder: folder / ("x" * 300), "cannot be read: File name too long"),
        (lambda folder: "a\0b", "a\\x00b: is no name of a file"),
        (_sparse, "is too large to be a template (50 MiB, at most 10 MiB are read)"),
        (_content(b""), "is empty; name a template or a manifest"),
        (_content(b"\n  \n"), "is empty"),
        (_content(b"# nothing\n---\n"), "is empty"),
        (_content(b"PK\x03\x04\0\0\xff\xfe"), "is a binary file"),
        (_content(b"a: \0"), "is a binary file"),
        (_content("Kommentar: Größe".encode("latin-1")), "input:1: is not in UTF-8; save it as UTF-8"),
        (_content(b"\xff\xfe\0\0a\0\0\0"), "is a binary file"),
        (_content(b"5"), "is neither a CloudFormation template"),
        (_content(b"[]"), "is neither a CloudFormation template"),
        (_content(b'{"name": "x"}'), "is neither a CloudFormation template"),
        (_content(b'{"Resources": []}'), "is neither a CloudFormation template"),
        (_content(b"AWSTemplateFormatVersion: 2010-09-09"), "has no Resources"),
        (
            _content(b"AWSTemplateFormatVersion: 2012-01-01\nResources: {}"),
            "has AWSTemplateFormatVersion '2012-01-01', and only '2010-09-09' exists",
        ),
        (
            _content(b"AWSTemplateFormatVersion: 2010-09-09\nResources: 5"),
            "has Resources that are no mapping, got a number",
        ),
    ],
)
def test_what_is_no_input_is_refused_in_one_line(tmp_path, make, words):
    assert words in refusal(make(tmp_path))


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    file = _content(b"{}")(tmp_path)

    def deny(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    assert refusal(file) == f"{file}: cannot be read: Permission denied"


def test_a_name_cannot_steer_a_terminal(tmp_path):
    assert refusal(tmp_path / "a\x1b[2Jb\n") == f"{tmp_path}/a\\x1b[2Jb\\n: is not there"


class Endless(io.RawIOBase):
    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "reads without end"
        self.given += size
        return b"x" * size


def test_standard_input_without_end_is_read_within_the_limit():
    stream = Endless()
    with pytest.raises(UnusableInputError, match="<stdin>: is too large to be a template"):
        read_standard_input(stream)
    assert stream.given <= text_module.MAX_BYTES + 1


def test_a_file_that_grows_while_it_is_read_is_read_within_the_limit(tmp_path, monkeypatch):
    file = _content(b"x" * 100)(tmp_path)
    monkeypatch.setattr(text_module, "MAX_BYTES", 100)
    assert len(read_bytes(file)) == 100
    monkeypatch.setattr(text_module, "MAX_BYTES", 99)
    with pytest.raises(UnusableInputError, match="is too large"):
        read_bytes(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_with_and_without_a_mark(encoding):
    assert decoded_text("Größe: 1".encode(encoding), file="x") == "Größe: 1"
