"""What a shared directory adds: renames, locks, links, and processes that die at any point."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hyperpod_lifecycle.training import directory_store, file_locks, verified_checkpoint
from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
    NothingVerifiesError,
    RefusedCheckpointError,
    SaveError,
)
from hyperpod_lifecycle.training.checkpoints import Checkpoints
from hyperpod_lifecycle.training.directory_store import DirectoryStore
from hyperpod_lifecycle.training.private_folders import PrivateFolder
from hyperpod_lifecycle.training.staging_folders import StagingFolder
from hyperpod_lifecycle.training.verified_checkpoint import VerifiedCheckpoint

from .conftest import KEY, Place, directory_place, loaded, save

KILLED = Path(__file__).with_name("killed_saves.py")
STEP_1, STEP_2 = "step-000000000001", "step-000000000002"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "run42"


@pytest.fixture
def place(root: Path) -> Place:
    return directory_place(root)


def test_race_for_a_step_has_one_winner(place: Place, root: Path) -> None:
    racers = 8
    start = threading.Barrier(racers)

    def race(number: int) -> Any:
        checkpoints = place.open()
        with checkpoints.begin(5) as writer:
            (writer.directory / "model.pt").write_bytes(b"racer %d" % number)
            start.wait(60)
            return writer.commit({"racer": number})

    with ThreadPoolExecutor(racers) as pool:
        results = list(pool.map(race, range(racers)))
    assert len({result.manifest.attempt for result in results}) == 1
    assert len(place.told("saved")) == 1
    assert len(place.told("already_saved")) == racers - 1
    with place.open().verified(results[0]) as verified, verified.open("model.pt") as stream:
        assert stream.read() == b"racer %d" % results[0].metadata["racer"]
    place.open().retain()
    assert os.listdir(root) == ["step-000000000005"]


def test_layout_is_flat(place: Place, root: Path) -> None:
    save(place.open(), 1)
    assert place.names() == [f"{STEP_1}/{name}" for name in (".metadata", "MANIFEST", "shards/model.pt")]
    assert sorted(os.listdir(root)) == [STEP_1]


def test_nothing_is_found_before_the_commit(place: Place, root: Path) -> None:
    checkpoints = place.open()
    with checkpoints.begin(1) as writer:
        (writer.directory / "model.pt").write_bytes(b"x")
        assert place.open().latest_complete() is None
        assert not any(name.startswith("step-") for name in os.listdir(root))
        writer.commit({})
    assert place.open().latest_complete() is not None


@pytest.mark.needs_system("python3")
def test_killed_at_every_system_call(tmp_path: Path) -> None:
    """SIGKILL before each change of a file: what was complete stays, and the next save cleans up."""
    done = subprocess.run(
        [sys.executable, str(KILLED), str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["faults"] == []
    assert report["kills"] > 40
    assert set(report["newest_after_kill"]) == {"1", "2"}, "some kills lose the save, some come too late"


@pytest.mark.parametrize("what", ["link_to_file", "link_to_folder", "pipe", "folder", "hard_link"])
def test_files_that_lead_elsewhere(place: Place, root: Path, tmp_path: Path, what: str) -> None:
    checkpoints = place.open()
    save(checkpoints, 1)
    save(checkpoints, 2)
    model = root / STEP_2 / "shards" / "model.pt"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "model.pt").write_bytes(model.read_bytes())
    if what == "link_to_folder":
        model.unlink()
        model.parent.rmdir()
        model.parent.symlink_to(elsewhere)
    else:
        model.unlink()
        {
            "link_to_file": lambda: model.symlink_to(elsewhere / "model.pt"),
            "pipe": lambda: os.mkfifo(model),
            "folder": model.mkdir,
            "hard_link": lambda: model.hardlink_to(elsewhere / "model.pt"),
        }[what]()
    newest = place.open().latest_complete()
    assert newest is not None
    if what == "hard_link":
        # The bytes are the right ones now, and a change through the other name is found when they are read.
        assert newest.step == 2
        (elsewhere / "model.pt").write_bytes(b"MODEL 2")
        newest = place.open().latest_complete()
        assert newest is not None
        assert place.told("refused")[-1].reason == "digest"
    else:
        assert place.told("refused")[-1].reason == "not_a_file"
    assert newest.step == 1


@pytest.mark.parametrize("what", ["manifest", "checkpoint"])
def test_checkpoint_that_leads_elsewhere(place: Place, root: Path, tmp_path: Path, what: str) -> None:
    save(place.open(), 1)
    if what == "manifest":
        (root / STEP_1 / "MANIFEST").rename(tmp_path / "MANIFEST")
        (root / STEP_1 / "MANIFEST").symlink_to(tmp_path / "MANIFEST")
    else:
        (root / STEP_1).rename(tmp_path / STEP_1)
        (root / STEP_1).symlink_to(tmp_path / STEP_1)
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()
    assert place.told("refused")[0].reason == "not_a_file"


def test_older_checkpoint_under_a_newer_name(place: Place, root: Path) -> None:
    save(place.open(), 1)
    (root / STEP_1).rename(root / STEP_2)
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()
    assert place.told("refused")[0].reason == "step"


def test_other_names_are_left_alone(place: Place, root: Path) -> None:
    root.mkdir()
    for name in ("step-1", "step-000000000001.bak", "notes.txt", "recovery"):
        (root / name).mkdir()
    checkpoints = place.open(keep=1)
    assert checkpoints.latest_complete() is None
    save(checkpoints, 1)
    save(checkpoints, 2)
    assert {"step-1", "step-000000000001.bak", "notes.txt", "recovery", STEP_2} == set(os.listdir(root))


def test_empty_folder_of_a_step_is_no_checkpoint(place: Place, root: Path) -> None:
    (root / STEP_1).mkdir(parents=True)
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()
    assert place.told("refused")[0].reason == "no_manifest"
    assert loaded(place.open(), save(place.open(), 1)) == b"model 1"


def test_live_save_is_not_stale(place: Place, root: Path) -> None:
    """Another process that saves, such as the predecessor of a restarted job, keeps its files."""
    alive = place.open()
    with alive.begin(9) as writer:
        (writer.directory / "model.pt").write_bytes(b"x")
        save(place.open(), 1)
        assert [event.step for event in place.told("stale_kept")] == [9]
        assert writer.commit({}).step == 9
    assert sorted(os.listdir(root)) == [STEP_1, "step-000000000009"]


def test_what_dead_saves_left_is_removed(place: Place, root: Path) -> None:
    attempt = "a" * 32
    (root / f".saving-{7:012d}-{attempt}" / ".rank-000000").mkdir(parents=True)
    (root / f".saving-{7:012d}-{attempt}.lock").touch()
    (root / f".saving-{8:012d}-{attempt}").mkdir()
    (root / f".saving-{6:012d}-{attempt}.lock").touch()
    (root / f".removing-{5:012d}-{attempt}").mkdir()
    save(place.open(), 1)
    assert sorted(os.listdir(root)) == [STEP_1]
    assert sorted(event.step or 0 for event in place.told("stale_removed")) == [5, 7, 8]


@pytest.mark.parametrize("what", ["folder", "link"])
def test_lock_that_is_none_keeps_nothing_else(place: Place, root: Path, tmp_path: Path, what: str) -> None:
    save(place.open(), 1)
    precious = tmp_path / "precious"
    precious.write_text("of somebody")
    false, dead, lone = (
        root / f".saving-{step:012d}-{letter * 32}" for step, letter in ((5, "a"), (6, "b"), (7, "c"))
    )
    for folder in (false, dead):
        folder.mkdir()
    for folder in (false, lone):
        lock = folder.with_name(f"{folder.name}.lock")
        lock.mkdir() if what == "folder" else lock.symlink_to(precious)
    save(place.open(), 2)
    assert place.told("retention_failed") == []
    assert [
        (event.step, "is no lock that this user" in event.message) for event in place.told("stale_kept")
    ] == [(5, True)]
    assert [event.step for event in place.told("stale_removed")] == [6]
    assert not dead.exists()
    assert precious.read_text() == "of somebody"


def test_link_in_the_place_of_what_a_dead_save_left(place: Place, root: Path, tmp_path: Path) -> None:
    save(place.open(), 1)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("of somebody")
    links = [root / f".saving-{5:012d}-{'a' * 32}", root / f".removing-{5:012d}-{'b' * 32}"]
    for link in links:
        link.symlink_to(precious)
    save(place.open(), 2)
    assert len(place.told("stale_removed")) == 2
    assert not any(os.path.lexists(link) for link in links)
    assert (precious / "file").read_text() == "of somebody"


def test_what_cannot_be_removed_is_not_said_to_be(
    place: Place, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(place.open(), 1)
    (root / f".removing-{5:012d}-{'b' * 32}").mkdir()
    monkeypatch.setattr(directory_store.shutil, "rmtree", lambda *told, **more: None)
    Checkpoints(DirectoryStore(root), key=KEY, run="run42", on_event=place.events.append).retain()
    assert place.told("stale_removed") == []
    assert "cannot be removed by this user" in place.told("stale_kept")[0].message


def test_checkpoint_that_another_process_loads_is_kept(place: Place, root: Path) -> None:
    checkpoints = place.open(keep=1)
    old = save(checkpoints, 1)
    other = place.open()
    with other.verified(old) as verified:
        save(checkpoints, 2)
        assert isinstance(verified, VerifiedCheckpoint)
        with verified.open("shards/model.pt") as stream:
            assert stream.read() == b"model 1"
    assert [(event.step, event.message) for event in place.told("kept")] == [(1, "it is being loaded")]
    checkpoints.retain()
    assert sorted(os.listdir(root)) == [STEP_2]


def test_lock_that_somebody_holds(place: Place, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save(place.open(), 1)
    monkeypatch.setattr(directory_store, "_LOCK_SECONDS", 0.1)
    with (root / STEP_1 / "MANIFEST").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with (
            pytest.raises(CheckpointError, match="another process holds the lock of"),
            place.open().verified(saved),
        ):
            pytest.fail("it could be removed meanwhile")
    assert loaded(place.open(), saved) == b"model 1"


def test_file_system_without_locks(place: Place, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*arguments: Any) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(CheckpointError, match=r"mount Lustre with -o flock, or say .*locks=False"):
        save(place.open(), 1)
    unlocked = Checkpoints(
        DirectoryStore(root, locks=False), key=KEY, keep=1, run="run42", on_event=place.events.append
    )
    (root / f".saving-{7:012d}-{'a' * 32}").mkdir()
    save(unlocked, 1)
    newest = save(unlocked, 2)
    assert loaded(unlocked, newest) == b"model 2"
    assert [one.step for one in unlocked.complete()] == [2]
    assert "remove it by hand" in place.told("stale_kept")[0].message


def test_directory_that_nodes_do_not_share(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from threaded_ranks import on_ranks

    monkeypatch.setattr(directory_store, "_VISIBLE_SECONDS", 0.0)
    other = place.open

    def work(rank: Any) -> Any:
        if rank.rank == 0:
            return other(coordinator=rank).begin(1)
        elsewhere = Checkpoints("/nonexistent-of-tests", key=KEY, run="run42", coordinator=rank)
        return elsewhere.begin(1)

    results = on_ranks(2, work)
    assert all(isinstance(result, SaveError) for result in results), results
    assert "checkpoints need a directory that all nodes share" in str(results[0])
    assert place.names() == []


def test_full_disk_leaves_the_previous_one(place: Place, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = place.open()
    save(checkpoints, 1)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(SaveError, match=r"could not save step 2: OSError: .*No space left on device"):
            save(checkpoints, 2)
    assert sorted(os.listdir(root)) == [STEP_1]
    assert save(checkpoints, 2).step == 2


def test_full_scratch_folder_is_no_fault_of_the_checkpoint(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save(place.open(), 1)
    from hyperpod_lifecycle.training import verified_checkpoint

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(verified_checkpoint, "digest_of", full)
    with (
        place.open(scratch=tmp_path).verified(saved) as verified,
        pytest.raises(
            CheckpointError, match=r"no room for the verified copy .*Checkpoints\(scratch=\.\.\.\)"
        ),
    ):
        verified.path("shards/model.pt")


def test_retention_that_fails_is_told_and_loses_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: DirectoryStore, attempt: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(DirectoryStore, "remove", fails)
    checkpoints = place.open(keep=1)
    save(checkpoints, 1)
    assert save(checkpoints, 2).step == 2
    assert "Permission denied" in place.told("retention_failed")[0].message


def test_hard_link_is_not_saved(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other.pt"
    other.write_bytes(b"x")

    def link() -> None:
        with place.open().begin(1) as writer:
            (writer.directory / "model.pt").hardlink_to(other)
            writer.commit({})

    with pytest.raises(SaveError, match=r"'model\.pt' has another name"):
        link()


@pytest.mark.parametrize("name", ["MANIFEST", "a b", "ü.pt", "x:y", "a\nb"])
def test_names_that_are_not_saved(place: Place, name: str) -> None:
    def save_it() -> None:
        with place.open().begin(1) as writer:
            (writer.directory / name).write_bytes(b"x")
            writer.commit({})

    with pytest.raises(SaveError, match=r"the file name .* must"):
        save_it()


def test_large_file_is_copied_in_pieces(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperpod_lifecycle.training import file_digests, verified_checkpoint

    monkeypatch.setattr(file_digests, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(verified_checkpoint, "_LARGEST_IN_MEMORY_BYTES", 10)
    content = os.urandom(12_345)
    saved = save(place.open(), 1, content)
    checkpoints = place.open()
    assert checkpoints.latest_complete() == saved
    assert loaded(checkpoints, saved) == content


def test_threads_ask_for_the_same_copy(place: Place) -> None:
    saved = save(place.open(), 1, os.urandom(100_000))
    with place.open().verified(saved) as verified, ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(verified.path, ["shards/model.pt"] * 64))
    assert len(paths) == 1


def test_lock_that_is_taken_for_a_dead_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the making of a lock file and its locking, somebody may clean it up."""
    path, real, cleaned = tmp_path / "lock", file_locks.lock, []

    def late(descriptor: int, path: Path, **options: Any) -> bool:
        if not cleaned:
            cleaned.append(path)
            other = file_locks.dead_lock_file(path)
            assert other is not None
            path.unlink()
            os.close(other)
        return real(descriptor, path, **options)

    monkeypatch.setattr(file_locks, "lock", late)
    held = file_locks.new_lock_file(path)
    assert cleaned
    assert file_locks.is_same_file(held, path)
    assert file_locks.dead_lock_file(path) is None, "it is held"
    os.close(held)
    freed = file_locks.dead_lock_file(path)
    assert freed is not None
    os.close(freed)
    path.unlink()
    assert file_locks.dead_lock_file(path) is None, "it is gone"


def test_new_lock_that_somebody_takes_at_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sees the file being made may lock it first, and must not stop the job for ever."""
    monkeypatch.setattr(file_locks, "lock", lambda *told, **more: False)
    monkeypatch.setattr(file_locks, "_NEW_LOCK_SECONDS", 0.1)
    with pytest.raises(SaveError, match=r"another process holds the lock of .*\.lock, which is new; end it"):
        place.open().begin(1)


@pytest.mark.parametrize("what", ["pipe", "link"])
def test_pipe_that_somebody_puts_in_the_place_of_a_hashed_file(
    place: Place, root: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    real = directory_store.DirectoryStore.place

    def swapped(self: DirectoryStore, attempt: Any, rank: int, names: Any) -> None:
        own = next(root.glob(f".saving-*-{attempt.id}/.rank-*"))
        (own / ".metadata").unlink()
        if what == "pipe":
            os.mkfifo(own / ".metadata")
        else:
            (own / ".metadata").symlink_to(os.devnull)
        real(self, attempt, rank, names)

    monkeypatch.setattr(directory_store.DirectoryStore, "place", swapped)
    with pytest.raises(SaveError, match="could not save step 1: OSError"):
        save(place.open(), 1)
    assert place.open().latest_complete() is None


def test_many_that_start_and_clean_up_at_once(tmp_path: Path) -> None:
    def one(number: int) -> bool:
        staged = StagingFolder(tmp_path)
        (staged.path / "model.pt").write_bytes(b"x")
        there = (staged.path / "model.pt").exists()
        staged.remove()
        return there

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(200)))
    assert os.listdir(tmp_path) == []


class Broken(io.BytesIO):
    """Gives some bytes and then an error, as from a server that a client lost."""

    def __init__(self, number: int) -> None:
        super().__init__(b"mo")
        self.number = number

    def read(self, size: int | None = -1, /) -> bytes:
        content = super().read(size)
        if not content:
            raise OSError(self.number, os.strerror(self.number))
        return content


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ESHUTDOWN])
@pytest.mark.parametrize("at", ["open", "read"])
def test_file_that_cannot_be_read_for_a_moment(
    place: Place, monkeypatch: pytest.MonkeyPatch, number: int, at: str
) -> None:
    """Refused, as by a client of Lustre that was evicted, it would cost the steps since the one before."""
    saved = save(place.open(), 1)
    pauses: list[float] = []
    monkeypatch.setattr(verified_checkpoint.time, "sleep", pauses.append)
    real = DirectoryStore.open_unverified
    faults = 2

    def opened(self: DirectoryStore, attempt: Any, name: str) -> Any:
        nonlocal faults
        if name != "shards/model.pt" or not faults:
            return real(self, attempt, name)
        faults -= 1
        if at == "read":
            return Broken(number)
        try:
            raise OSError(number, os.strerror(number))
        except OSError as error:
            raise RefusedCheckpointError("unreadable", "cannot be read") from error

    monkeypatch.setattr(DirectoryStore, "open_unverified", opened)
    assert place.open().latest_complete() == saved
    assert pauses == [1.0, 5.0]
    for read in (loaded, copied):
        faults = 1
        assert read(place.open(), saved) == b"model 1", "nothing of what was read before"
    faults = 3
    with pytest.raises(NothingVerifiesError):
        place.open().latest_complete()
    assert [event.reason for event in place.told("refused")] == ["unreadable"]


def copied(checkpoints: Checkpoints, found: Any) -> bytes:
    with checkpoints.verified(found) as verified:
        return verified.path("shards/model.pt").read_bytes()


def test_file_that_is_not_there_is_not_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save(place.open(), 1)
    monkeypatch.setattr(verified_checkpoint.time, "sleep", lambda seconds: pytest.fail("it waits"))
    place.write(place.file(saved, "shards/model.pt"), b"moxel 1")
    with pytest.raises(RefusedCheckpointError, match="not those that were saved"):
        loaded(place.open(), saved)
    place.delete(place.file(saved, "shards/model.pt"))
    with pytest.raises(RefusedCheckpointError, match="is missing"):
        loaded(place.open(), saved)


def test_copies_of_killed_loads_are_removed_by_the_next(place: Place, root: Path, tmp_path: Path) -> None:
    """They are as large as the checkpoint: some kills would fill the disk of the node."""
    saved = save(place.open(), 1)
    scratch = tmp_path / "scratch"
    program = (
        "import os, signal, sys\n"
        "from hyperpod_lifecycle.training import Checkpoints, LocalKey\n"
        "key = LocalKey(b'k' * 32)\n"
        "checkpoints = Checkpoints(sys.argv[1], key=key, run='run42', scratch=sys.argv[2])\n"
        "with checkpoints.verified(checkpoints.latest_complete()) as verified:\n"
        "    verified.path('shards/model.pt')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", program, str(root), str(scratch)], check=False)
        assert killed.returncode == -9
        assert len(list(scratch.rglob("model.pt"))) == 1, "its own"
    with place.open(scratch=scratch).verified(saved) as verified:
        own = verified.path("shards/model.pt")
        # One that is alive keeps its own.
        with place.open(scratch=scratch).verified(saved) as other:
            assert other.path("shards/model.pt") != own
            assert own.read_bytes() == b"model 1"
        assert list(scratch.rglob("model.pt")) == [own]
    assert os.listdir(scratch) == []


def test_copies_lie_also_where_there_are_no_locks(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    saved = save(place.open(), 1)

    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(fcntl, "flock", no_locks)
    store = DirectoryStore(tmp_path / "run42", locks=False)
    with Checkpoints(store, key=KEY, run="run42", scratch=scratch).verified(saved) as verified:
        assert verified.path("shards/model.pt").is_relative_to(scratch)
        assert "when it is killed have to be removed by hand" in caplog.text
    assert os.listdir(scratch) == []


@pytest.mark.parametrize("when", ["place_folder", "place_whole", "publish"])
def test_links_in_a_save_lead_to_no_change_elsewhere(
    place: Place, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Whoever can write this directory cannot, through this process, write where it may not."""
    other = directory_place(tmp_path / "other")
    kept = save(other.open(), 1)
    victim = tmp_path / "other" / STEP_1
    real_place, real_publish = DirectoryStore.place, DirectoryStore.publish

    def swap(attempt: Any) -> None:
        folder = root / f".saving-{attempt.step:012d}-{attempt.id}"
        if when == "place_folder":
            (folder / "shards").symlink_to(victim / "shards")
            return
        folder.rename(root / "moved")
        folder.symlink_to(victim)
        if when == "place_whole":
            rank = next((root / "moved").glob(".rank-*"))
            (victim / rank.name).symlink_to(rank)

    def placing(self: DirectoryStore, attempt: Any, rank: int, names: Any) -> None:
        if when != "publish":
            swap(attempt)
        real_place(self, attempt, rank, names)

    def publishing(self: DirectoryStore, attempt: Any, signed: bytes, **options: Any) -> bool:
        if when == "publish":
            swap(attempt)
        return real_publish(self, attempt, signed, **options)

    monkeypatch.setattr(DirectoryStore, "place", placing)
    monkeypatch.setattr(DirectoryStore, "publish", publishing)
    with pytest.raises(SaveError, match="must be a folder without links, and is or holds a link"):
        save(place.open(), 2, b"hostile")
    monkeypatch.undo()
    assert other.open().latest_complete() == kept
    assert loaded(other.open(), kept) == b"model 1"
    assert place.open().latest_complete() is None


def test_folder_that_somebody_puts_in_the_place_of_a_rank_is_not_signed(place: Place, root: Path) -> None:
    save(place.open(), 1)

    def attacked() -> None:
        with place.open().begin(2) as writer:
            (writer.directory / "model.pt").write_bytes(b"of the job")
            attempt = writer.directory.parent
            attempt.rename(root / ".away")
            writer.directory.mkdir(parents=True)
            (writer.directory / "model.pt").write_bytes(b"hostile")
            writer.commit({})

    with pytest.raises(SaveError, match="was removed, or another folder was put in its place"):
        attacked()
    newest = place.open().latest_complete()
    assert newest is not None
    assert newest.step == 1


@pytest.mark.parametrize("fault", ["owner", "mode"])
def test_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    real = Path.mkdir

    def put_another(self: Path, *arguments: Any, **options: Any) -> None:
        real(self, *arguments, **options)
        if fault == "mode":
            self.chmod(0o777)

    monkeypatch.setattr(Path, "mkdir", put_another)
    if fault == "owner":
        status = os.fstat

        def of_another(descriptor: int) -> os.stat_result:
            found = status(descriptor)
            owner = found.st_uid + 4711 if stat.S_ISDIR(found.st_mode) else found.st_uid
            return os.stat_result([*found[:4], owner, *found[5:]])

        monkeypatch.setattr(os, "fstat", of_another)
    with pytest.raises(SaveError, match="somebody else put a folder in its place"):
        PrivateFolder(tmp_path / "own")
