"""Checkpoints of a training run: complete and signed, or not there at all."""

from __future__ import annotations

import hashlib
import heapq
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hyperpod_lifecycle.training.agreement import on_every_rank, on_rank_zero
from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
    NothingVerifiesError,
    RefusedCheckpointError,
    SaveError,
)
from hyperpod_lifecycle.training.checkpoint_events import (
    UNSIGNED_WORDS,
    CheckpointEvent,
    EventKind,
    log_event,
)
from hyperpod_lifecycle.training.checkpoint_store import Attempt, CheckpointStore
from hyperpod_lifecycle.training.coordinator import Coordinator, SingleProcess
from hyperpod_lifecycle.training.manifest import (
    Manifest,
    SavedFile,
    check_step,
    first_clash,
    metadata_text,
    parse_verified,
    read_manifest,
    write_manifest,
)
from hyperpod_lifecycle.training.private_folders import PrivateFolder
from hyperpod_lifecycle.training.signing_keys import SigningKey, trusts_unsigned
from hyperpod_lifecycle.training.staging_folders import folder_of_copies
from hyperpod_lifecycle.training.store_locations import store_at
from hyperpod_lifecycle.training.verified_checkpoint import VerifiedCheckpoint, attempt_of, check_file

T = TypeVar("T")

_PUBLISHING_TRIES = 3


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint whose manifest was verified.

    Attributes:
        location: Where the run's checkpoints are.
        manifest: What it consists of.
    """

    location: str
    manifest: Manifest

    @property
    def step(self) -> int:
        """Training step."""
        return self.manifest.step

    @property
    def world_size(self) -> int:
        """Number of ranks that saved."""
        return self.manifest.world_size

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the job gave when it saved."""
        return self.manifest.metadata


class Checkpoints:
    """The checkpoints of one training run.

    A crash at any point leaves the checkpoints that were complete, and perhaps one more. Nothing is loaded
    before its bytes match a manifest that the key signed, which also binds run, step, world size and
    metadata.

    Methods that say so are collective: every rank calls them, in the same order. Rank 0 alone lists,
    asks the key, signs, publishes and tells events. If a collective method fails on one rank, it raises on
    all.

    Args:
        location: A directory that all nodes share, ``s3://bucket/prefix``, another URL that fsspec knows, or
            a store.
        key: Signs what is saved and verifies what is loaded: ``LocalKey``, ``KmsKey`` or a ``KeyRing`` of
            them. ``UnsignedCheckpoints`` goes without, by name.
        keep: How many complete checkpoints retention leaves, at least 1. 3 by default: with 1, damage to the
            only one costs the whole run.
        coordinator: How ranks agree. By default the job is one process.
        on_event: Called on rank 0 with what happens. By default events are logged.
        run: Name of the run that checkpoints are bound to, so that another run's cannot stand in for them. By
            default the location: give a name where the location may move.
        scratch: Folder for the private copies that are verified and read. By default that of ``tempfile``,
            which on many nodes is the small root volume.
        threads: How many files of a rank are read and hashed at a time. 4 by default.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | CheckpointStore,
        *,
        key: SigningKey,
        keep: int = 3,
        coordinator: Coordinator | None = None,
        on_event: Callable[[CheckpointEvent], None] | None = None,
        run: str | None = None,
        scratch: str | os.PathLike[str] | None = None,
        threads: int = 4,
    ) -> None:
        for name, number in (("keep", keep), ("threads", threads)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}")
        self._store = location if isinstance(location, CheckpointStore) else store_at(location)
        self._key = key
        self._keep = keep
        self._coordinator: Coordinator = SingleProcess() if coordinator is None else coordinator
        self._on_event = log_event if on_event is None else on_event
        self._run = self._store.location if run is None else run
        self._scratch = scratch
        self._threads = threads
        self._open_writer: CheckpointWriter | None = None
        self._verified: dict[tuple[int, str], Manifest] = {}
        self._damaged: dict[tuple[int, str], RefusedCheckpointError] = {}
        self._loading: dict[int, int] = {}
        self._loading_lock = threading.Lock()
        if trusts_unsigned(key):
            self._tell("unsigned", UNSIGNED_WORDS)

    @property
    def location(self) -> str:
        """Where they are."""
        return self._store.location

    @property
    def run(self) -> str:
        """Name of the run that they are bound to."""
        return self._run

    def begin(self, step: int) -> CheckpointWriter:
        """Begin to save a step. Collective; one save at a time.

        Raises:
            ValueError: If the step is no whole number from 0.
            SaveError: If the previous save was neither committed nor aborted, or a rank cannot write.
        """
        wrong = check_step(step)
        if wrong is not None:
            raise ValueError(f"step {wrong}")
        if self._open_writer is not None:
            raise SaveError(
                f"the save of step {self._open_writer.step} is still in flight; commit or abort it before "
                f"saving step {step}"
            )

        def start() -> str:
            attempt = Attempt(step, secrets.token_hex(16))
            self._store.begin(attempt)
            return attempt.id

        attempt = Attempt(step, on_rank_zero(self._coordinator, start))
        rank = self._coordinator.rank
        folders: list[PrivateFolder] = []
        try:
            on_every_rank(self._coordinator, lambda: folders.append(self._store.join(attempt, rank)))
        except Exception as error:
            for folder in folders:
                folder.close()
            self._give_up(attempt, error)
            raise
        self._open_writer = CheckpointWriter(self, attempt, folders[0])
        return self._open_writer

    def latest_complete(self, *, check_files: bool = True, start_over: bool = False) -> Checkpoint | None:
        """Find the newest checkpoint that verifies. Collective. By step, whatever clocks say.

        What does not verify becomes an event ``refused``, and the next older one is tried.

        Args:
            check_files: Read and hash all files now, divided among the ranks, so that damage is found before
                anything is loaded. Off, only manifest and sizes are checked, and damage is found, and
                refused, when a file is read. On by default.
            start_over: Return None even where there are checkpoints and none verifies. Off by default: a
                wrong key must not make a run begin again.

        Returns:
            The checkpoint; None if there is none, or no location yet.

        Raises:
            NothingVerifiesError: If there are some, and all are refused.
            SigningKeyError: If the key cannot be used, so that nothing can be said.
        """
        steps: list[int] = on_rank_zero(
            self._coordinator, lambda: sorted(set(self._store.steps()), reverse=True)
        )
        for step in steps:
            text = on_rank_zero(self._coordinator, partial(self._manifest_text, step))
            if text is None:
                continue
            manifest = parse_verified(text.encode("ascii"))
            if not check_files or self._files_verify(manifest):
                return Checkpoint(self._store.location, manifest)
        if steps and not start_over:
            raise NothingVerifiesError(
                f"none of the {len(steps)} checkpoints in {self._store.location} verifies (the newest is of "
                f"step {steps[0]}); the events say why each was refused; mend key, run or storage, or begin "
                "again on purpose with start_over=True"
            )
        return None

    def complete(self) -> list[Checkpoint]:
        """Return the checkpoints whose manifests and sizes verify, the newest first. Collective."""

        def all_texts() -> list[str]:
            texts = (self._manifest_text(step) for step in sorted(set(self._store.steps()), reverse=True))
            return [text for text in texts if text is not None]

        texts = on_rank_zero(self._coordinator, all_texts)
        return [Checkpoint(self._store.location, parse_verified(text.encode("ascii"))) for text in texts]

    @contextmanager
    def verified(self, checkpoint: Checkpoint) -> Iterator[VerifiedCheckpoint]:
        """Read a checkpoint: each file is verified, and the verified bytes are what is read. Not collective.

        Args:
            checkpoint: One that :meth:`latest_complete`, :meth:`complete` or a commit returned.

        Raises:
            CheckpointGoneError: If it was removed meanwhile.
            CheckpointError: If it is one of another location.
        """
        if checkpoint.location != self._store.location:
            raise CheckpointError(
                f"the checkpoint is one of {checkpoint.location}, and these are those of "
                f"{self._store.location}"
            )
        step = checkpoint.step
        with self._loading_lock:
            self._loading[step] = self._loading.get(step, 0) + 1
        try:
            with (
                self._store.reading(step),
                folder_of_copies(None if self._scratch is None else Path(self._scratch)) as scratch,
            ):
                yield VerifiedCheckpoint(
                    self._store, checkpoint.manifest, scratch=scratch, threads=self._threads
                )
        finally:
            with self._loading_lock:
                self._loading[step] -= 1

    def retain(self) -> None:
        """Remove all but the newest ``keep`` that verify, and what interrupted saves left. Collective.

        Each commit does it. It removes nothing that is refused, nothing that is being loaded, and nothing
        while a save is in flight.
        """
        if self._open_writer is not None:
            self._tell(
                "kept",
                f"nothing is removed while step {self._open_writer.step} is being saved",
                reason="saving",
            )
            return
        on_rank_zero(self._coordinator, self._retain)

    def _retain(self) -> None:
        try:
            kept = self._remove_old()
            for stale in self._store.remove_stale(before=kept):
                kind: EventKind = "stale_removed" if stale.removed else "stale_kept"
                self._tell(kind, stale.message, step=stale.step)
        except Exception as error:
            # The save is complete: what could not be removed is no reason to lose it.
            self._tell("retention_failed", f"could not remove what is old: {error}")

    def _remove_old(self) -> int | None:
        """Remove old checkpoints, and return the oldest step that counts as kept."""
        kept: list[int] = []
        steps = sorted(set(self._store.steps()), reverse=True)
        # A long run saves often, and manifests of large jobs are large.
        self._verified = {key: value for key, value in self._verified.items() if key[0] in steps}
        for step in steps:
            manifest = self._counted(step)
            if manifest is None:
                continue
            if len(kept) < self._keep:
                kept.append(step)
                continue
            with self._loading_lock:
                loading = self._loading.get(step, 0) > 0
            why = "it is being loaded" if loading else self._store.remove(attempt_of(manifest))
            if why is None:
                self._tell("removed", f"older than the newest {self._keep}", step=step)
            else:
                self._tell("kept", why, step=step, reason="in_use")
        return min(kept, default=None)

    def _commit(self, writer: CheckpointWriter, metadata: Mapping[str, Any]) -> Checkpoint:
        attempt, rank = writer.attempt, self._coordinator.rank
        try:
            gathered = on_every_rank(self._coordinator, lambda: self._own_digests(writer, metadata))
            on_rank_zero(self._coordinator, lambda: _refuse_clash(gathered))
            on_every_rank(self._coordinator, lambda: self._store.place(attempt, rank, writer.names))
            text = on_rank_zero(
                self._coordinator, lambda: self._publish(attempt, _saved_files(gathered), metadata)
            )
        except Exception as error:
            self._give_up(attempt, error)
            if isinstance(error, CheckpointError):
                raise
            raise SaveError(f"could not save step {attempt.step}: {type(error).__name__}: {error}") from error
        finally:
            self._open_writer = None
        manifest = parse_verified(text.encode("ascii"))
        on_rank_zero(self._coordinator, self._retain)
        return Checkpoint(self._store.location, manifest)

    def _give_up(self, attempt: Attempt, error: Exception) -> None:
        try:
            self._store.discard(attempt, self._coordinator.rank)
        except Exception as left:
            # What failed first is what the caller has to know.
            error.add_note(f"what was written could not be removed, and a later save will: {left}")

    def _own_digests(self, writer: CheckpointWriter, metadata: Mapping[str, Any]) -> list[list[Any]]:
        metadata_text(metadata)
        digests = writer.folder.digests(threads=self._threads)
        writer.names = list(digests)
        return [[name, digest.size, digest.sha256] for name, digest in digests.items()]

    def _publish(self, attempt: Attempt, files: tuple[SavedFile, ...], metadata: Mapping[str, Any]) -> str:
        manifest = Manifest(
            run=self._run,
            step=attempt.step,
            world_size=self._coordinator.world_size,
            attempt=attempt.id,
            files=files,
            metadata=metadata,
        )
        signed = write_manifest(manifest, key=self._key)
        replacing: bytes | None = None
        replace = False
        for _ in range(_PUBLISHING_TRIES):
            if self._store.publish(attempt, signed, replacing=replacing, replace=replace):
                self._verified[_identity(attempt.step, signed)] = manifest
                if replace:
                    self._tell(
                        "set_aside", "it was refused, and a new save took its place", step=attempt.step
                    )
                self._tell("saved", f"complete, {sum(file.size for file in files)} bytes", step=attempt.step)
                return signed.decode("ascii")
            kept, replacing = self._kept_at(attempt.step)
            if kept is not None:
                self._store.discard(attempt, 0)
                self._tell(
                    "already_saved",
                    "the step was complete before and verifies: the first save of a step is kept",
                    step=attempt.step,
                )
                return kept.decode("ascii")
            replace = True
        raise SaveError(f"others publish step {attempt.step} again and again; is the run started twice?")

    def _kept_at(self, step: int) -> tuple[bytes | None, bytes | None]:
        """Return the manifest of what verifies at a step, or else that of what has to make room."""
        signed: bytes | None = None
        try:
            signed = self._store.signed_manifest(step)
            manifest = self._verify(step, signed)
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(partial(check_file, self._store, attempt_of(manifest)), manifest.files))
        except RefusedCheckpointError as refused:
            self._refused(step, signed, refused)
            return None, signed
        return signed, None

    def _manifest_text(self, step: int) -> str | None:
        """Return the very text that was verified: read again, it could be another."""
        signed: bytes | None = None
        try:
            signed = self._store.signed_manifest(step)
            self._verify(step, signed)
        except RefusedCheckpointError as refused:
            self._refused(step, signed, refused)
            return None
        assert signed is not None
        return signed.decode("ascii")

    def _counted(self, step: int) -> Manifest | None:
        """Return the manifest of what counts as complete for retention; None if it is refused."""
        signed: bytes | None = None
        try:
            signed = self._store.signed_manifest(step)
            identity = _identity(step, signed)
            # Looking at each file again after each save would take large jobs longer than the save.
            if identity in self._verified and identity not in self._damaged:
                return self._verified[identity]
            return self._verify(step, signed)
        except RefusedCheckpointError as refused:
            if _identity(step, signed) not in self._damaged:
                self._refused(step, signed, refused)
            return None

    def _verify(self, step: int, signed: bytes | None) -> Manifest:
        if signed is None:
            raise RefusedCheckpointError(
                "no_manifest", "it has no manifest: whoever made it was no save that ended"
            )
        identity = _identity(step, signed)
        if identity in self._damaged:
            raise self._damaged[identity]
        manifest = self._verified.get(identity)
        if manifest is None:
            manifest = read_manifest(signed, key=self._key, run=self._run, step=step)
            self._verified[identity] = manifest
        sizes = self._store.sizes(attempt_of(manifest), [file.name for file in manifest.files])
        for file in manifest.files:
            if file.name not in sizes:
                raise RefusedCheckpointError("missing_file", f"{file.name!r} is missing")
            if sizes[file.name] != file.size:
                raise RefusedCheckpointError(
                    "size", f"{file.name!r} has {sizes[file.name]} bytes, and {file.size} were saved"
                )
        return manifest

    def _files_verify(self, manifest: Manifest) -> bool:
        """Hash all files, divided among the ranks, and say whether all of them verify."""
        rank, world_size = self._coordinator.rank, self._coordinator.world_size

        def fault_of(file: SavedFile) -> list[str] | None:
            try:
                check_file(self._store, attempt_of(manifest), file)
            except RefusedCheckpointError as refused:
                return [refused.reason, str(refused)]
            return None

        def own_share() -> list[list[str]]:
            with ThreadPoolExecutor(self._threads) as pool:
                faults = list(pool.map(fault_of, _share(manifest.files, rank, world_size)))
            return [fault for fault in faults if fault is not None]

        gathered = on_every_rank(self._coordinator, own_share, failure=CheckpointError)

        def judge() -> bool:
            wrong = [fault for faults in gathered or [] for fault in faults]
            for reason, message in wrong[:1]:
                signed = self._store.signed_manifest(manifest.step)
                self._refused(manifest.step, signed, RefusedCheckpointError(reason, message))
            return not wrong

        return on_rank_zero(self._coordinator, judge)

    def _refused(self, step: int, signed: bytes | None, refused: RefusedCheckpointError) -> None:
        self._damaged[_identity(step, signed)] = refused
        self._tell("refused", str(refused), step=step, reason=refused.reason)

    def _tell(
        self, kind: EventKind, message: str, *, step: int | None = None, reason: str | None = None
    ) -> None:
        if self._coordinator.rank == 0:
            self._on_event(
                CheckpointEvent(
                    kind=kind, location=self._store.location, step=step, reason=reason, message=message
                )
            )


class CheckpointWriter:
    """A save in flight. :meth:`Checkpoints.begin` makes it.

    As a context manager it aborts what was not committed.

    Attributes:
        directory: Where this rank puts its files, under any names that no other rank uses: a folder of its
            own, whose files end up beside those of the other ranks.
    """

    def __init__(self, checkpoints: Checkpoints, attempt: Attempt, folder: PrivateFolder) -> None:
        self.directory = folder.path
        self.folder = folder
        self.attempt = attempt
        self.names: list[str] = []
        self._checkpoints = checkpoints
        self._open = True

    @property
    def step(self) -> int:
        """Training step."""
        return self.attempt.step

    def commit(self, metadata: Mapping[str, Any]) -> Checkpoint:
        """Make the checkpoint complete. Collective.

        Each rank hashes its files and brings them to storage; then rank 0 signs the manifest and publishes.
        If the step is complete already and verifies, that one is kept and returned.

        Args:
            metadata: JSON that reads back equal; that of rank 0 counts.

        Raises:
            SaveError: If any rank failed, such as on metadata that is no JSON; on every rank. The checkpoints
                before are untouched.
            SigningKeyError: If the key cannot be used.
        """
        if not self._open:
            raise SaveError(f"the save of step {self.step} was committed or aborted before")
        self._open = False
        try:
            return self._checkpoints._commit(self, metadata)
        finally:
            self.folder.close()

    def abort(self) -> None:
        """Give the save up, and remove what this rank wrote. Harmless after a commit. Not collective."""
        if not self._open:
            return
        self._open = False
        self.folder.close()
        self._checkpoints._open_writer = None
        self._checkpoints._store.discard(self.attempt, self._checkpoints._coordinator.rank)

    def __enter__(self) -> CheckpointWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.abort()


def _identity(step: int, signed: bytes | None) -> tuple[int, str]:
    return step, "" if signed is None else hashlib.sha256(signed).hexdigest()


def _share(files: tuple[SavedFile, ...], rank: int, world_size: int) -> list[SavedFile]:
    """Divide files among ranks by size: the largest first, each to the rank with the least so far."""
    loads = [(0, number) for number in range(world_size)]
    own = []
    for file in sorted(files, key=lambda file: -file.size):
        load, least = loads[0]
        heapq.heapreplace(loads, (load + file.size + 1, least))
        if least == rank:
            own.append(file)
    return own


def _saved_files(gathered: list[Any] | None) -> tuple[SavedFile, ...]:
    return tuple(
        sorted(
            SavedFile(name, size, sha256, rank)
            for rank, files in enumerate(gathered or [])
            for name, size, sha256 in files
        )
    )


def _refuse_clash(gathered: list[Any] | None) -> None:
    clash = first_clash(file.name for file in _saved_files(gathered))
    if clash is not None:
        raise SaveError(
            f"two ranks wrote {clash!r}, or one wrote a folder of that name; put the rank into names of files"
        )
