"""What a run can rely on, on every store alike."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from threaded_ranks import on_ranks

from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
    CheckpointGoneError,
    NothingVerifiesError,
    RefusedCheckpointError,
    SaveError,
    SigningKeyError,
)
from hyperpod_lifecycle.training.checkpoint_events import CheckpointEvent
from hyperpod_lifecycle.training.coordinator import SingleProcess
from hyperpod_lifecycle.training.manifest import Manifest, write_manifest
from hyperpod_lifecycle.training.signing_keys import KeyRing, LocalKey, UnsignedCheckpoints

from .conftest import KEY, OTHER_KEY, Place, directory_place, loaded, save


class Bomb:
    """A pickle that says when it was loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_nothing_saved_yet(place: Place) -> None:
    assert place.open().latest_complete() is None
    assert place.open().complete() == []
    assert place.events == []


def test_newest_by_step_and_not_by_time(place: Place) -> None:
    saved = place.open(keep=5)
    for step in (300, 9, 100):
        save(saved, step)
    reader = place.open()
    assert [one.step for one in reader.complete()] == [300, 100, 9]
    newest = reader.latest_complete()
    assert newest is not None
    assert (newest.step, newest.world_size, newest.metadata) == (300, 1, {"step": 300, "loss": 0.5})
    assert loaded(reader, newest) == b"model 300"


def test_verified_copies(place: Place) -> None:
    checkpoints = place.open()
    saved = save(checkpoints, 1, b"m" * 100)
    with checkpoints.verified(saved) as verified:
        assert verified.names == (".metadata", "shards/model.pt")
        folder = verified.directory()
        assert (folder / "shards/model.pt").read_bytes() == b"m" * 100
        assert folder.stat().st_mode & 0o077 == 0
        with verified.open(".metadata") as stream:
            assert stream.read() == b"meta 1"
        with pytest.raises(KeyError, match=r"no file 'other.pt'; its manifest lists 2"):
            verified.open("other.pt")
    assert not folder.exists()


def test_first_save_of_a_step_is_kept(place: Place) -> None:
    first = save(place.open(), 5, b"first")
    second = save(place.open(), 5, b"second")
    assert second == first
    assert loaded(place.open(), second) == b"first"
    assert [event.step for event in place.told("already_saved")] == [5]
    before = place.names()
    save(place.open(), 6)
    assert set(before) <= set(place.names()), "what lost the race left nothing to clean up"


def test_zombie_that_commits_second_keeps_what_is_there(place: Place) -> None:
    zombie, restarted = place.open(), place.open()
    with zombie.begin(5) as writer:
        (writer.directory / "model.pt").write_bytes(b"zombie")
        kept = save(restarted, 5)
        assert writer.commit({"step": 5}) == kept
    assert loaded(place.open(), kept) == b"model 5"
    assert len(place.told("saved")) == 1
    save(restarted, 9)
    late = save(zombie, 7)
    newest = place.open().latest_complete()
    assert newest is not None
    assert (late.step, newest.step) == (7, 9), "a zombie that saves an older step takes nothing away"


def test_keeps_the_newest(place: Place) -> None:
    checkpoints = place.open(keep=2)
    for step in (1, 2, 3, 4):
        save(checkpoints, step)
    assert [one.step for one in checkpoints.complete()] == [4, 3]
    assert [event.step for event in place.told("removed")] == [1, 2]
    assert len(place.names()) == 2 * 3


def test_retention_spares_what_is_loaded(place: Place) -> None:
    checkpoints = place.open(keep=1)
    old = save(checkpoints, 1)
    with checkpoints.verified(old) as verified:
        save(checkpoints, 2)
        with verified.open("shards/model.pt") as stream:
            assert stream.read() == b"model 1"
    assert [(event.step, event.reason) for event in place.told("kept")] == [(1, "in_use")]
    checkpoints.retain()
    assert [one.step for one in checkpoints.complete()] == [2]


def test_retention_waits_for_a_save_in_flight(place: Place) -> None:
    checkpoints = place.open(keep=5)
    for step in (1, 2):
        save(checkpoints, step)
    later = place.open(keep=1)
    with later.begin(3):
        later.retain()
        assert [one.step for one in later.complete()] == [2, 1]
    assert [event.reason for event in place.told("kept")] == ["saving"]
    later.retain()
    assert [one.step for one in later.complete()] == [2]


def test_refused_ones_do_not_count_for_retention(place: Place) -> None:
    checkpoints = place.open(keep=1)
    good = save(checkpoints, 1)
    place.write(place.manifest(7), b"rubbish")
    place.write(place.manifest(8), place.read(place.manifest(1)))
    checkpoints.retain()
    newest = place.open().latest_complete()
    assert newest == good
    assert {(event.step, event.reason) for event in place.told("refused")} == {(7, "malformed"), (8, "step")}
    told = len(place.told("refused"))
    checkpoints.retain()
    assert len(place.told("refused")) == told, "retention says once what it leaves alone"
    assert place.manifest(7) in place.names(), "evidence is not removed"


def test_one_save_in_flight(place: Place) -> None:
    checkpoints = place.open()
    writer = checkpoints.begin(1)
    with pytest.raises(SaveError, match=r"the save of step 1 is still in flight; commit or abort it before"):
        checkpoints.begin(2)
    writer.abort()
    writer.abort()
    with pytest.raises(SaveError, match=r"step 1 was committed or aborted before"):
        writer.commit({})
    assert place.names() == []
    assert save(checkpoints, 2).step == 2


def test_exception_in_a_save_aborts_it(place: Place) -> None:
    checkpoints = place.open()

    def out_of_memory() -> None:
        with checkpoints.begin(1) as writer:
            (writer.directory / "half.pt").write_bytes(b"half")
            raise MemoryError("no memory left")

    with pytest.raises(MemoryError, match="no memory left"):
        out_of_memory()
    assert place.names() == []
    assert checkpoints.latest_complete() is None


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("truncated", "size"),
        ("longer", "size"),
        ("flipped", "digest"),
        ("deleted", "missing_file"),
        ("pickle", "size"),
        ("manifest_deleted", "no_manifest"),
        ("manifest_flipped", "signature"),
        ("manifest_truncated", "signature"),
        ("manifest_empty", "malformed"),
        ("manifest_padded", "signature"),
        ("manifest_huge", "malformed"),
        ("key_id_changed", "signature"),
        ("version_changed", "signature"),
    ],
)
def test_damage_is_refused_and_the_previous_one_used(
    place: Place, damage: str, reason: str, tmp_path: Path
) -> None:
    checkpoints = place.open()
    previous, last = save(checkpoints, 1), save(checkpoints, 2)
    model, manifest = place.file(last, "shards/model.pt"), place.manifest(2)
    saved, signed = place.read(model), place.read(manifest)
    exploded = tmp_path / "exploded"
    if damage == "deleted":
        place.delete(model)
    elif damage == "manifest_deleted":
        place.delete(manifest)
    else:
        name, content = {
            "truncated": (model, saved[:-1]),
            "longer": (model, saved + b"!"),
            "flipped": (model, bytes([saved[0] ^ 1]) + saved[1:]),
            "pickle": (model, pickle.dumps(Bomb(exploded))),
            "manifest_flipped": (manifest, signed[:-2] + bytes([signed[-2] ^ 1]) + signed[-1:]),
            "manifest_truncated": (manifest, signed[:-10]),
            "manifest_empty": (manifest, b""),
            "manifest_padded": (manifest, signed + b" "),
            "manifest_huge": (manifest, b"x" * 1_000_000),
            "key_id_changed": (manifest, signed.replace(b" local:", b" lokal:", 1)),
            "version_changed": (manifest, signed.replace(b"checkpoint-1 ", b"checkpoint-2 ", 1)),
        }[damage]
        assert content != place.read(name)
        place.write(name, content)
    reader = place.open()
    newest = reader.latest_complete()
    assert newest == previous
    assert loaded(reader, newest) == b"model 1"
    refused = place.told("refused")
    if damage == "manifest_deleted" and manifest not in place.names() and not refused:
        assert place.manifest(1).startswith("complete/"), "without its manifest an object is nothing"
    else:
        assert [(event.step, event.reason) for event in refused] == [(2, reason)]
    assert not exploded.exists()


def test_swapped_files_are_refused(place: Place) -> None:
    checkpoints = place.open()
    save(checkpoints, 1, b"same size 1")
    last = save(checkpoints, 2, b"same size 2")
    model, meta = (place.file(last, name) for name in ("shards/model.pt", ".metadata"))
    one, other = place.read(model), place.read(meta)
    place.write(model, other)
    place.write(meta, one)
    newest = place.open().latest_complete()
    assert newest is not None
    assert newest.step == 1


def test_damage_after_it_was_found_is_refused_at_reading(place: Place, tmp_path: Path) -> None:
    checkpoints = place.open()
    saved = save(checkpoints, 1)
    newest = checkpoints.latest_complete()
    assert newest == saved
    bomb = pickle.dumps(Bomb(tmp_path / "exploded")).ljust(200, b".")
    place.write(place.file(saved, "shards/model.pt"), bomb[: len(b"model 1")])
    with checkpoints.verified(saved) as verified:
        with pytest.raises(RefusedCheckpointError, match=r"'shards/model.pt' are not those that were saved"):
            verified.open("shards/model.pt")
        with pytest.raises(RefusedCheckpointError, match="not those that were saved"):
            verified.path("shards/model.pt")
        assert list(verified.directory([".metadata"]).rglob("*.pt")) == [], "no unverified copy is left"
        with pytest.raises(RefusedCheckpointError, match="not those that were saved"):
            verified.directory()


def test_reads_the_bytes_that_were_hashed(place: Place) -> None:
    checkpoints = place.open()
    saved = save(checkpoints, 1)
    with checkpoints.verified(saved) as verified:
        path, stream = verified.path("shards/model.pt"), verified.open(".metadata")
        place.write(place.file(saved, "shards/model.pt"), b"hostile")
        place.write(place.file(saved, ".metadata"), b"hostil")
        assert path.read_bytes() == b"model 1"
        assert stream.read() == b"meta 1"


def test_damage_can_be_left_to_reading(place: Place) -> None:
    saved = save(place.open(), 1)
    place.write(place.file(saved, ".metadata"), b"META 1")
    assert place.open().latest_complete(check_files=False) == saved
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()


def test_manifest_that_changes_after_it_was_verified(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save(place.open(), 1)
    reader = place.open()
    read_once, hostile = type(reader._store).signed_manifest, place.read(place.manifest(1)) + b" "
    answers = [read_once(reader._store, 1), hostile, hostile]
    monkeypatch.setattr(reader._store, "signed_manifest", lambda step: answers.pop(0))
    assert reader.latest_complete() == saved
    assert len(answers) == 2, "what was verified is what is used: it is read once"


def test_huge_manifest_is_refused_unread(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperpod_lifecycle.training import directory_store, object_store

    for module in (directory_store, object_store):
        monkeypatch.setattr(module, "LARGEST_MANIFEST_BYTES", 2000)
    checkpoints = place.open()
    saved = save(checkpoints, 1)
    place.write(place.manifest(2), b"x" * 3000)
    assert place.open().latest_complete() == saved
    assert [(event.step, event.reason) for event in place.told("refused")] == [(2, "too_large")]
    assert loaded(place.open(), save(checkpoints, 2)) == b"model 2"


def test_files_that_no_manifest_names_are_never_read(place: Place) -> None:
    checkpoints = place.open()
    saved = save(checkpoints, 1)
    place.write(place.file(saved, "extra.pt"), b"hostile")
    assert checkpoints.latest_complete() == saved
    with checkpoints.verified(saved) as verified:
        assert "extra.pt" not in {path.name for path in verified.directory().rglob("*")}
        with pytest.raises(KeyError):
            verified.open("extra.pt")


@pytest.mark.parametrize("key", [OTHER_KEY, UnsignedCheckpoints()])
def test_another_key_stops_the_run(place: Place, key: Any) -> None:
    saved = save(place.open(), 1)
    with pytest.raises(
        NothingVerifiesError, match=r"none of the 1 checkpoints in .* verifies .*start_over=True"
    ):
        place.open(key=key).latest_complete()
    assert place.told("refused")[0].reason == "signature"
    assert f"signed with key '{KEY.key_id}'" in place.told("refused")[0].message
    assert place.open(key=key).latest_complete(start_over=True) is None
    assert place.open(key=KeyRing(OTHER_KEY, KEY)).latest_complete() == saved


def test_another_run_cannot_stand_in(place: Place) -> None:
    save(place.open(run="other"), 1)
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()
    (event,) = place.told("refused")
    assert event.reason == "run"
    assert "belongs to run 'other', and this is run 'run42'" in event.message
    assert place.open(run="other").latest_complete() is not None


def test_run_is_the_location_by_default(place: Place) -> None:
    assert place.open(run=None).run == place.new_store().location


def test_unsigned_by_name_only(place: Place) -> None:
    checkpoints = place.open(key=UnsignedCheckpoints())
    saved = save(checkpoints, 1)
    assert checkpoints.latest_complete() == saved
    assert len(place.told("unsigned")) == 1
    place.write(place.file(saved, ".metadata"), b"META 1")
    with pytest.raises(NothingVerifiesError):
        checkpoints.latest_complete()


def test_ring_with_an_open_door_is_told(place: Place) -> None:
    saved = save(place.open(key=UnsignedCheckpoints(), on_event=lambda event: None), 1)
    assert place.open(key=KeyRing(KEY, KeyRing(OTHER_KEY, UnsignedCheckpoints()))).latest_complete() == saved
    assert len(place.told("unsigned")) == 1
    place.open(key=KeyRing(KEY, OTHER_KEY))
    assert len(place.told("unsigned")) == 1


def test_name_of_a_key_that_is_none_is_not_repeated(place: Place) -> None:
    save(place.open(), 1)
    signed = place.read(place.manifest(1))
    hostile = signed.replace(KEY.key_id.encode(), b"$(touch${IFS}pwned)HYPERPOD_CRASH_LOOP", 1)
    place.write(place.manifest(1), hostile)
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()
    (refused,) = place.told("refused")
    assert "signed with key of an unusual name (38 characters)" in refused.message
    assert "pwned" not in refused.message


def test_new_save_takes_the_place_of_a_refused_one(place: Place) -> None:
    checkpoints = place.open()
    save(checkpoints, 1)
    damaged = save(checkpoints, 2)
    place.write(place.file(damaged, "shards/model.pt"), b"damaged")
    resumed = place.open()
    newest = resumed.latest_complete()
    assert newest is not None
    assert newest.step == 1
    again = save(resumed, 2)
    assert again != damaged
    assert loaded(place.open(), again) == b"model 2"
    assert [event.step for event in place.told("set_aside")] == [2]
    assert any("refused" in name for name in place.names()), "what was refused can still be looked at"
    for step in (3, 4, 5, 6):
        save(resumed, step)
    assert any("refused" in name for name in place.names())


def test_rubbish_in_the_place_of_a_step_makes_room(place: Place) -> None:
    place.write(place.manifest(2), b"rubbish")
    saved = save(place.open(), 2)
    assert place.open().latest_complete() == saved


def test_gone_meanwhile(place: Place) -> None:
    checkpoints = place.open(keep=1)
    old = save(checkpoints, 1)
    save(checkpoints, 2)
    with pytest.raises(CheckpointGoneError, match="step 1 was removed"), checkpoints.verified(old):
        pytest.fail("there is nothing to load")


def test_checkpoint_of_another_location(place: Place, tmp_path: Path) -> None:
    other = save(directory_place(tmp_path / "other").open(), 1)
    with pytest.raises(CheckpointError, match="these are those of"), place.open().verified(other):
        pytest.fail("it is another's")


def test_ranks_save_and_check_together(place: Place) -> None:
    def work(rank: Any) -> Any:
        checkpoints = place.open(coordinator=rank)
        with checkpoints.begin(7) as writer:
            (writer.directory / f"__{rank.rank}_0.distcp").write_bytes(b"r" * (rank.rank + 1))
            saved = writer.commit({"ranks": rank.world_size})
        return saved, checkpoints.latest_complete()

    results = on_ranks(3, work)
    assert all(result == results[0] for result in results), results
    saved, newest = results[0]  # type: ignore[misc]
    assert saved == newest
    assert saved.world_size == 3
    assert [(file.name, file.size, file.rank) for file in saved.manifest.files] == [
        (f"__{rank}_0.distcp", rank + 1, rank) for rank in range(3)
    ]
    place.write(place.file(saved, "__2_0.distcp"), b"RRR")

    def find(rank: Any) -> Any:
        return place.open(coordinator=rank).latest_complete()

    assert all(isinstance(result, NothingVerifiesError) for result in on_ranks(3, find))
    assert [event.reason for event in place.told("refused")] == ["digest"], "told once, by rank 0"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("link", "no regular file"),
        ("same_name", "two ranks wrote 'same.pt'"),
        ("metadata", "metadata must be JSON"),
    ],
)
def test_failure_of_one_rank_fails_all(place: Place, fault: str, words: str) -> None:
    save(place.open(), 1)

    def work(rank: Any) -> Any:
        checkpoints = place.open(coordinator=rank)
        with checkpoints.begin(2) as writer:
            (writer.directory / f"{rank.rank}.pt").write_bytes(b"x")
            if fault == "same_name":
                (writer.directory / "same.pt").write_bytes(b"x")
            if fault == "link" and rank.rank == 1:
                (writer.directory / "link").symlink_to("/etc/hostname")
            return writer.commit({"bad": {1, 2}} if fault == "metadata" and rank.rank == 1 else {})

    results = on_ranks(2, work)
    assert [type(result) for result in results] == [SaveError, SaveError], results
    assert all(words in str(result) for result in results)
    newest = place.open().latest_complete()
    assert newest is not None
    assert newest.step == 1
    assert len(place.names()) == 3, "nothing is left of the failed save"


class LosesPeers(SingleProcess):
    """A rank whose peers die right after the checkpoint was published, before they are told."""

    def broadcast(self, value: Any) -> Any:
        if isinstance(value, dict) and str(value.get("result")).startswith("hyperpod-checkpoint-"):
            raise RuntimeError("connection closed by peer")
        return super().broadcast(value)


def test_failure_after_publication_keeps_the_checkpoint(place: Place) -> None:
    save(place.open(), 1)
    with pytest.raises(SaveError, match="connection closed by peer"):
        save(place.open(coordinator=LosesPeers()), 2)

    def fails_to_tell(event: CheckpointEvent) -> None:
        if event.kind == "saved":
            raise RuntimeError("nobody listens")

    newest = place.open().latest_complete()
    assert newest is not None
    assert newest.step == 2
    with pytest.raises(SaveError, match="nobody listens"):
        save(place.open(on_event=fails_to_tell), 3)
    newest = place.open().latest_complete()
    assert newest is not None
    assert loaded(place.open(), newest) == b"model 3"
    assert place.told("refused") == []


def test_failure_before_publication_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where rubbish or a manifest of another save lies at the step."""
    for rubbish in (None, b"rubbish"):
        if rubbish is not None:
            place.write(place.manifest(1), rubbish)
        before = place.names()
        checkpoints = place.open()
        with monkeypatch.context() as patch:
            patch.setattr(type(checkpoints._store), "publish", lambda *_, **__: 1 / 0)
            with pytest.raises(SaveError, match="ZeroDivisionError"):
                save(checkpoints, 1)
        assert place.names() == before


def test_key_without_answer_is_no_verdict(place: Place) -> None:
    class Silent(LocalKey):
        def verify(self, data: bytes, mac: bytes) -> bool:
            raise SigningKeyError("KMS did not answer")

    save(place.open(), 1)
    silent = Silent(b"k" * 32)
    for start_over in (False, True):
        with pytest.raises(SigningKeyError, match="did not answer"):
            place.open(key=silent).latest_complete(start_over=start_over)
    assert place.told("refused") == []
    results = on_ranks(2, lambda rank: place.open(key=silent, coordinator=rank).latest_complete())
    assert [type(result) for result in results] == [SigningKeyError, SigningKeyError]


def test_key_that_cannot_sign_leaves_nothing(place: Place) -> None:
    class Denied(LocalKey):
        def sign(self, data: bytes) -> bytes:
            raise SigningKeyError("denied")

    with pytest.raises(SigningKeyError, match="denied"):
        save(place.open(key=Denied(b"k" * 32)), 1)
    assert place.names() == []


def test_manifest_signed_by_a_stolen_key_still_cannot_leave_the_checkpoint(place: Place) -> None:
    manifest = Manifest(run="run42", step=1, world_size=1, attempt="a" * 32, files=(), metadata={})
    body = write_manifest(manifest, key=KEY).split(b"\n", 1)[1]
    for name in ("../../key", "/etc/passwd", "a/../b", "a//b", "", ".", "a\\u0000b", "MANIFEST"):
        hostile = body.replace(
            b'"files":[]',
            b'"files":[{"name":"%s","rank":0,"sha256":"%s","size":1}]' % (name.encode(), b"0" * 64),
        )
        from hyperpod_lifecycle.training import manifest as module

        mac = KEY.sign(module._statement(1, KEY.key_id.encode(), hostile))
        place.write(
            place.manifest(1),
            b"hyperpod-checkpoint-1 %s %s\n%s" % (KEY.key_id.encode(), mac.hex().encode(), hostile),
        )
        with pytest.raises(NothingVerifiesError):
            place.open().latest_complete()
        assert place.told("refused")[-1].reason == "malformed", name


@pytest.mark.parametrize(
    ("step", "words"),
    [(-1, "from 0 to"), (10**12, "from 0 to"), (True, "whole number"), ("5", "whole number"), (1.0, "whole")],
)
def test_steps_that_are_none(place: Place, step: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        place.open().begin(step)


@pytest.mark.parametrize(
    "metadata", [{"a": float("nan")}, {1: "a"}, {"a": (1, 2)}, {"a": b"bytes"}, {"a": {"b"}}]
)
def test_metadata_that_is_no_json(tmp_path: Path, metadata: Any) -> None:
    checkpoints = directory_place(tmp_path).open()
    with pytest.raises(SaveError, match="metadata must be JSON"), checkpoints.begin(1) as writer:
        writer.commit(metadata)


@pytest.mark.parametrize("argument", ["keep", "threads"])
@pytest.mark.parametrize("value", [0, -1, True, "3", None])
def test_numbers_out_of_range(tmp_path: Path, argument: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"{argument} must be a whole number of at least 1, got"):
        directory_place(tmp_path).open(**{argument: value})
