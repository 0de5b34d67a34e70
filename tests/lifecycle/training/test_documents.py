from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from hyperpod_lifecycle.training.documents import (
    Documents,
    FolderDocuments,
    S3Documents,
    documents,
)


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A way to open the place: each time as a process that has seen nothing of it."""
    if request.param == "folder":
        yield lambda: documents(tmp_path / "new" / "folder")
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="runs")
        yield lambda: documents("s3://runs/llama/recovery")


def test_documents_are_written_read_and_replaced(place: Any):
    first: Documents = place()
    assert first.read("a.json") is None
    first.write("a.json", b"1")
    first.write("a.json", b"2")
    assert place().read("a.json") == b"2"


def test_lines_are_added_also_by_a_later_process(place: Any):
    first = place()
    first.append("a.jsonl", b"1")
    first.append("a.jsonl", b"2")
    place().append("a.jsonl", b"3")
    assert place().read("a.jsonl") == b"1\n2\n3\n"


@pytest.mark.parametrize("name", ["", "../a", "a/b", ".a", "a b"])
def test_names_stay_in_the_place(place: Any, name: str):
    with pytest.raises(ValueError, match="name must be letters, digits"):
        place().write(name, b"")


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    here = FolderDocuments(tmp_path)
    here.write("a.json", b"1")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        here.write("a.json", b"2")
    assert here.read("a.json") == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_locations_are_told_apart(tmp_path: Path):
    assert documents(tmp_path).location == str(tmp_path)
    assert documents("s3://bucket/a/").location == "s3://bucket/a"
    assert documents("s3://bucket").location == "s3://bucket"
    with pytest.raises(ValueError, match="must be a folder or begin with s3://, got 'gs://b'"):
        documents("gs://b")
    with pytest.raises(ValueError, match=r"got 's3:/bucket/a'; pathlib\.Path takes a slash out of URLs"):
        documents(Path("s3://bucket/a"))
    with pytest.raises(ValueError, match="uri must be s3://bucket or s3://bucket/prefix, got 's3://'"):
        S3Documents("s3://")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A file that the job's user may write, and that others may not."""
    path = tmp_path / "home" / ".bashrc"
    path.parent.mkdir()
    path.write_text("# mine\n")
    return path


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_lines_go_into_no_file_behind_a_link(tmp_path: Path, elsewhere: Path, link: str):
    here = FolderDocuments(tmp_path / "recovery")
    here.append("a.jsonl", b"1")
    there = tmp_path / "recovery" / "a.jsonl"
    there.unlink()
    getattr(there, link)(elsewhere)
    with pytest.raises(ValueError, match=r"a\.jsonl must be a regular file with one name"):
        here.append("a.jsonl", b"$(run this)")
    assert elsewhere.read_text() == "# mine\n"


def test_a_document_written_as_a_whole_takes_the_place_of_a_link(tmp_path: Path, elsewhere: Path):
    (tmp_path / "a.json").symlink_to(elsewhere)
    here = FolderDocuments(tmp_path)
    with pytest.raises(ValueError, match="must be a regular file"):
        here.read("a.json")
    here.write("a.json", b"1")
    assert here.read("a.json") == b"1"
    assert elsewhere.read_text() == "# mine\n"


def test_a_pipe_or_a_folder_holds_nobody(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    here = FolderDocuments(tmp_path)
    for name in ("pipe", "folder"):
        with pytest.raises(ValueError, match=f"{name} must be a regular file"):
            here.read(name)
        with pytest.raises(ValueError, match=f"{name} must be a regular file"):
            here.append(name, b"1")


def test_what_no_job_writes_is_not_read_into_memory(place: Any, monkeypatch: pytest.MonkeyPatch):
    place().write("a.json", b"12345")
    assert place().read("a.json") == b"12345"
    monkeypatch.setattr("hyperpod_lifecycle.training.documents._MOST_BYTES", 4)
    with pytest.raises(ValueError, match=r"a\.json has more than 4 bytes"):
        place().read("a.json")


class Slow:
    """A client of S3 whose first write arrives last, if another is made meanwhile."""

    class exceptions:
        NoSuchKey = KeyError

    def __init__(self) -> None:
        self.content = b""
        self.another = threading.Event()
        self.first = threading.Event()

    def get_object(self, **where: str) -> Any:
        raise KeyError(where["Key"])

    def put_object(self, *, Body: bytes, **where: str) -> None:
        if self.first.is_set():
            self.content = Body
            self.another.set()
        else:
            self.first.set()
            self.another.wait(0.5)
            self.content = Body


def test_lines_of_two_threads_are_both_kept():
    client = Slow()
    here = S3Documents("s3://runs/llama", client=client)
    other = threading.Thread(target=lambda: here.append("a.jsonl", b"1"))
    other.start()
    assert client.first.wait(10)
    here.append("a.jsonl", b"2")
    other.join()
    assert client.content == b"1\n2\n"
