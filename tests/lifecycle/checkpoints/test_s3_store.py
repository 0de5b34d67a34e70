"""What S3 adds: conditions instead of renames, requests that fail, and nobody who knows who is alive."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from hyperpod_lifecycle.training import s3_store
from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
    CheckpointGoneError,
    RefusedCheckpointError,
    SaveError,
)
from hyperpod_lifecycle.training.checkpoint_store import Attempt
from hyperpod_lifecycle.training.directory_store import DirectoryStore
from hyperpod_lifecycle.training.fsspec_store import FsspecStore
from hyperpod_lifecycle.training.s3_store import S3Store
from hyperpod_lifecycle.training.store_locations import store_at

from .conftest import BUCKET, Place, loaded, s3_place, save


class Killed(BaseException):
    """Stands for SIGKILL: nothing that cleans up after errors sees it coming."""


@pytest.fixture
def place(s3_client: Any, tmp_path: Path) -> Place:
    return s3_place(s3_client, tmp_path)


@contextmanager
def requests(client: Any, *, die_at: int | None = None) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Note each request, by operation and parameters, and be dead from one of them on."""
    seen: list[tuple[str, dict[str, Any]]] = []

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        seen.append((model.name, dict(params)))
        # The dead ask nothing any more, in whatever thread.
        if die_at is not None and len(seen) >= die_at:
            raise Killed

    client.meta.events.register("before-parameter-build.s3", note)
    try:
        yield seen
    finally:
        client.meta.events.unregister("before-parameter-build.s3", note)


def test_manifest_is_written_last_and_only_where_there_is_none(place: Place, s3_client: Any) -> None:
    with requests(s3_client) as seen:
        save(place.open(), 1)
    puts = [params for name, params in seen if name == "PutObject"]
    assert [params["Key"].split("/")[1] for params in puts] == ["files", "files", "complete"]
    assert [params.get("IfNoneMatch") for params in puts] == [None, None, "*"]


def test_refused_manifest_is_replaced_on_condition(place: Place, s3_client: Any) -> None:
    place.write(place.manifest(1), b"rubbish")
    tag = s3_client.head_object(Bucket=BUCKET, Key=f"run42/{place.manifest(1)}")["ETag"]
    with requests(s3_client) as seen:
        save(place.open(), 1)
    conditions = [params["IfMatch"] for name, params in seen if name == "PutObject" and "IfMatch" in params]
    assert conditions == [tag]


def test_killed_before_every_request(place: Place, s3_client: Any) -> None:
    """What was complete stays and can be loaded; training goes on and what is left goes, too."""
    die_at, newest_after_kill = 0, []
    while True:
        die_at += 1
        for key in place.names():
            place.delete(key)
        checkpoints = place.open(keep=1, threads=1)
        save(checkpoints, 1)
        with requests(s3_client, die_at=die_at) as seen, suppress(Killed):
            save(checkpoints, 2)
        if len(seen) < die_at:
            break
        restarted = place.open(keep=1)
        newest = restarted.latest_complete()
        assert newest is not None, die_at
        assert loaded(restarted, newest) == b"model %d" % newest.step
        newest_after_kill.append(newest.step)
        save(restarted, 3)
        assert len(place.names()) == 3, (die_at, place.names())
        assert place.told("refused") == []
    assert die_at > 6
    assert newest_after_kill == sorted(newest_after_kill)
    assert set(newest_after_kill) == {1, 2}


def test_lost_answer_to_the_manifest(place: Place, s3_client: Any) -> None:
    """botocore repeats a request whose answer was lost; the second then meets the object of the first."""

    def first_one_arrived(params: dict[str, Any], **_: Any) -> None:
        if "IfNoneMatch" in params and params["Key"].startswith("run42/complete/"):
            s3_client.meta.events.unregister("before-parameter-build.s3.PutObject", first_one_arrived)
            s3_client.put_object(Bucket=BUCKET, Key=params["Key"], Body=params["Body"])

    s3_client.meta.events.register("before-parameter-build.s3.PutObject", first_one_arrived)
    saved = save(place.open(), 1)
    assert place.open().latest_complete() == saved
    assert len(place.told("saved")) == 1


def test_uploads_that_may_be_alive_are_left(place: Place) -> None:
    for step, attempt in ((3, "a" * 32), (9, "b" * 32)):
        place.write(f"files/step-{step:012d}-{attempt}/model.pt", b"x")
    checkpoints = place.open(keep=1)
    save(checkpoints, 3)
    save(checkpoints, 4)
    assert [event.step for event in place.told("stale_removed")] == [3], "older than what is kept: no use"
    assert f"files/step-{9:012d}-{'b' * 32}/model.pt" in place.names(), "it may be published yet"


def test_files_of_refused_checkpoints_are_left(place: Place) -> None:
    checkpoints = place.open(keep=1)
    saved = save(checkpoints, 1)
    place.write(place.manifest(1), b"rubbish")
    save(checkpoints, 2)
    save(checkpoints, 3)
    assert place.file(saved, "shards/model.pt") in place.names()


def test_live_upload_whose_files_were_removed_fails(place: Place, s3_client: Any) -> None:
    def lose_files(params: dict[str, Any], **_: Any) -> None:
        if params.get("Prefix", "").startswith("run42/files/"):
            for name in place.names():
                if name.startswith("files/"):
                    s3_client.meta.events.unregister("before-parameter-build.s3.ListObjectsV2", lose_files)
                    place.delete(name)

    s3_client.meta.events.register("before-parameter-build.s3.ListObjectsV2", lose_files)
    with pytest.raises(SaveError, match=r"and .* has nothing: another job of the run is further"):
        save(place.open(), 1)
    assert place.open().latest_complete() is None


def test_removed_while_it_is_found(place: Place) -> None:
    checkpoints = place.open()
    saved = save(checkpoints, 1)
    place.open(keep=1)._store.remove(Attempt(1, saved.manifest.attempt))
    with pytest.raises(CheckpointGoneError), checkpoints.verified(saved):
        pytest.fail("it is gone")


def test_objects_that_no_manifest_names_are_not_held(
    place: Place, s3_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write the bucket can put any number there."""
    saved = save(place.open(), 1)
    store = place.new_store()
    objects = store._objects  # type: ignore[attr-defined]
    real, more = objects._pages, 300

    def pages(prefix: str, **request: str) -> Iterator[Any]:
        yield from real(prefix, **request)
        for page in range(more):
            names = (f"run42/{prefix}{page}-{number}" for number in range(1000))
            yield {"Contents": [{"Key": name, "Size": 1} for name in names]}

    monkeypatch.setattr(objects, "_pages", pages)
    attempt = Attempt(1, saved.manifest.attempt)
    tracemalloc.start()
    try:
        sizes = store.sizes(attempt, ["shards/model.pt", ".metadata"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sizes == {"shards/model.pt": 7, ".metadata": 6}
    assert peak < 4_000_000, "a page at a time"

    more = 2
    with requests(s3_client) as seen:
        store.discard(Attempt(2, "a" * 32), 0)
    deleted = [len(params["Delete"]["Objects"]) for name, params in seen if name == "DeleteObjects"]
    assert deleted == [1000, 1000], "what one request takes"


def test_object_that_changes_while_it_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_store, "_RANGE_BYTES", 1000)
    monkeypatch.setattr(s3_store, "_RANGES_AHEAD", 1)
    checkpoints = place.open()
    saved = save(checkpoints, 1, os.urandom(5000))
    stream = checkpoints._store.open_unverified(Attempt(1, saved.manifest.attempt), "shards/model.pt")
    stream.read(10)
    place.write(place.file(saved, "shards/model.pt"), b"x" * 5000)
    with pytest.raises(RefusedCheckpointError, match="changed or removed while it was read"):
        stream.read()


def test_large_object_is_read_in_ranges(
    place: Place, s3_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_store, "_RANGE_BYTES", 1000)
    content = os.urandom(10_001)
    checkpoints = place.open()
    saved = save(checkpoints, 1, content)
    with requests(s3_client) as seen:
        assert loaded(checkpoints, saved) == content
    ranges = [params["Range"] for name, params in seen if name == "GetObject" and "Range" in params]
    assert len(ranges) == 11
    empty = save(checkpoints, 2, b"")
    assert loaded(checkpoints, empty) == b""


def test_broken_connection_is_tried_again(
    place: Place, s3_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = place.open()
    saved = save(checkpoints, 1)
    real, left = s3_client.get_object, [2]

    class Broken:
        def read(self) -> bytes:
            left[0] -= 1
            raise ReadTimeoutError(endpoint_url="https://s3")

    def get_object(**params: Any) -> Any:
        answer = real(**params)
        return {**answer, "Body": Broken()} if "Range" in params and left[0] > 0 else answer

    monkeypatch.setattr(s3_client, "get_object", get_object)
    assert loaded(checkpoints, saved) == b"model 1"
    left[0] = 1000
    with pytest.raises(CheckpointError, match="S3 refused or did not answer GetObject"):
        loaded(checkpoints, saved)


@pytest.mark.parametrize("operation", ["list_objects_v2", "get_object", "head_object"])
def test_refusal_by_s3_is_no_verdict(
    place: Place, s3_client: Any, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    save(place.open(), 1)

    def deny(*arguments: Any, **params: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "denied"}}, operation)

    if operation == "list_objects_v2":
        monkeypatch.setattr(s3_client, "get_paginator", deny)
    else:
        monkeypatch.setattr(s3_client, operation, deny)
    for start_over in (False, True):
        with pytest.raises(CheckpointError, match=r"S3 refused or did not answer .*AccessDenied"):
            place.open().latest_complete(start_over=start_over)
    assert place.told("refused") == []


def test_staging_of_the_dead_is_removed(place: Place, tmp_path: Path) -> None:
    dead = tmp_path / "hyperpod-saving-dead"
    dead.mkdir()
    (dead / "model.pt").touch()
    (tmp_path / "hyperpod-saving-dead.lock").touch()
    with place.open().begin(1) as alive:
        save(place.open(), 2)
        assert alive.directory.exists()
    assert os.listdir(tmp_path) == []


def test_locations(tmp_path: Path) -> None:
    for location, kind, name in (
        (tmp_path, DirectoryStore, str(tmp_path)),
        (f"{tmp_path}/", DirectoryStore, str(tmp_path)),
        (f"file://{tmp_path}", DirectoryStore, str(tmp_path)),
        ("s3://bucket/team/run42/", S3Store, "s3://bucket/team/run42"),
        ("memory://run42/", FsspecStore, "memory://run42"),
    ):
        store = store_at(location)
        assert (type(store), store.location) == (kind, name)


@pytest.mark.parametrize("location", [Path("s3://bucket/run42"), "s3:/bucket/run42", "gs:/bucket/run42"])
def test_url_that_lost_a_slash(location: str | Path) -> None:
    with pytest.raises(
        ValueError, match=r"got '(s3|gs):/bucket/run42'; pathlib\.Path takes a slash out of URLs"
    ):
        store_at(location)


def test_directory_of_a_name_like_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert store_at("./s3:/run42").location == f"{tmp_path}/s3:/run42"
    assert store_at("c:/run42").location == f"{tmp_path}/c:/run42"


@pytest.mark.parametrize("location", ["s3://", "s3://bucket", "s3://bucket/", "s3:///run42"])
def test_bucket_without_a_prefix(location: str) -> None:
    with pytest.raises(ValueError, match=r"a bucket and a prefix of their own, got s3://.*s3://bucket/run42"):
        store_at(location)
