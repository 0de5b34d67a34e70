"""Managed tiered checkpointing with one save in flight, and verified before anything is unpickled.

AWS's reader unpickles what the memory of the nodes and the bucket hold: metadata always, and whatever is no
tensor. Ports of the memory tier ask nobody who they are, so here both tiers are verified on the reading side:
the metadata carries a signed manifest at its end with digests of every rank's part. Unpickling stops before
it, so AWS's own reader reads these checkpoints too; this one reads no others.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from hyperpod_lifecycle.training.agreement import on_rank_zero
from hyperpod_lifecycle.training.bounded_memory_client import answers_of_at_most, bounded_memory_client
from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
    NothingVerifiesError,
    RefusedCheckpointError,
    SaveError,
    SigningKeyError,
)
from hyperpod_lifecycle.training.checkpoint_events import (
    UNSIGNED_WORDS,
    CheckpointEvent,
    EventKind,
    log_event,
)
from hyperpod_lifecycle.training.coordinator import Coordinator
from hyperpod_lifecycle.training.distributed_checkpoints import Loaded
from hyperpod_lifecycle.training.loop_state import LoopState
from hyperpod_lifecycle.training.manifest import Manifest, SavedFile, read_manifest, write_manifest
from hyperpod_lifecycle.training.save_schedule import SaveSchedule
from hyperpod_lifecycle.training.saves_in_flight import SaveReport, SavesInFlight
from hyperpod_lifecycle.training.signing_keys import SigningKey, trusts_unsigned
from hyperpod_lifecycle.training.torch_failures import load_failures, save_failures
from hyperpod_model.catalog.recovery import RAY_DELETES_AFTER_UPLOAD_OPTION, TierName

SEAL_END: Final = b"hyperpod-sealed-1\n"
LARGEST_METADATA_BYTES: Final = 1024 * 1024 * 1024
"""Of a checkpoint's metadata with its manifest: some eight million tensors, counted once for each rank that
holds a part of one. Nothing says beforehand how large it is, so a larger one is neither saved nor read."""

_LENGTH_BYTES = 8
_MOST_MEMORY_STEPS = 8
_METADATA = "metadata"
_STATE, _SHARED = "state", "loop"
_NAMESPACE = re.compile(r"[A-Za-z0-9_-]+")
_RANK_IN_URI = re.compile(r"/rank_([0-9]+)/")
_log = logging.getLogger("hyperpod_lifecycle.training")


def ray_report_options() -> dict[str, bool]:
    """Return what ``ray.train.report`` must be told beside the checkpoint.

    The checkpoint that is reported is the path in S3 itself: were Ray to delete it after its upload, as it
    does by default, it would be gone from the durable tier.
    """
    return {RAY_DELETES_AFTER_UPLOAD_OPTION: False}


class TieredCheckpoints:
    """Checkpoints in the nodes' memory, every so many of them in S3 as well.

    All methods are collective: every rank calls them, in the same order. Needs
    ``amzn-sagemaker-checkpointing`` and a cluster with managed tiered checkpointing.

    What S3 cannot do here: AWS's writer renames nothing, its metadata comes last. A save that is cut off
    leaves no metadata, or such of the save before of the same step, whose digests then do not match: both are
    passed over.

    Args:
        namespace: Name of the job's checkpoints, letters, digits, ``-`` and ``_``; ``TRAINING_JOB_NAME``.
        s3_uri: Where the durable tier is.
        key: Signs what is saved and verifies what is loaded.
        schedule: Which saves go to S3 too.
        coordinator: Of all ranks, over ``torch.distributed``; nothing else may use it.
        asynchronous: Whether training goes on while a save is written. Default it does.
        on_saved: Called on each rank with what each complete save cost. Default nothing.
        on_event: Called with what is refused. Default it is logged.
        memory_url: Of the memory tier. Default AWS's name within the cluster.

    Raises:
        ValueError: If the namespace or the URI is none.
    """

    def __init__(
        self,
        *,
        namespace: str,
        s3_uri: str,
        key: SigningKey,
        schedule: SaveSchedule,
        coordinator: Coordinator,
        asynchronous: bool = True,
        on_saved: Callable[[SaveReport], None] | None = None,
        on_event: Callable[[CheckpointEvent], None] | None = None,
        memory_url: str | None = None,
    ) -> None:
        if _NAMESPACE.fullmatch(namespace) is None:
            raise ValueError(f"namespace must be letters, digits, - and _, got {namespace!r}")
        if not s3_uri.startswith("s3://"):
            raise ValueError(f"s3_uri must begin with s3://, got {s3_uri!r}")
        self._namespace = namespace
        self._s3_uri = s3_uri.rstrip("/")
        self._key = key
        self._schedule = schedule
        self._coordinator = coordinator
        self._group: Any = getattr(coordinator, "group", None)
        self._asynchronous = asynchronous
        self._on_event = log_event if on_event is None else on_event
        self._memory_url = memory_url
        self._in_part = False
        self._saves = SavesInFlight(asynchronous=asynchronous, on_saved=on_saved, warns=coordinator.rank == 0)
        if coordinator.rank == 0 and trusts_unsigned(key):
            self._tell("unsigned", UNSIGNED_WORDS)

    def save(self, step: int, state: dict[str, Any], loop: LoopState, *, durable: bool = False) -> None:
        """Save a step to memory, and to S3 if the schedule says so.

        Args:
            step: The last step that is done.
            state: What ``torch.distributed.checkpoint`` saves.
            loop: The loop's state, after this step.
            durable: Save to S3 whatever the schedule says; for the end of a run.

        Raises:
            SaveError: If the save before failed, or this one.
        """
        lasts = durable or self._schedule.is_durable(step)
        tiers: tuple[TierName, ...] = ("memory", "s3") if lasts else ("memory",)
        self._saves.run(step, lambda: self._begin(step, state, loop, lasts), tiers=tiers)

    def wait(self) -> None:
        """Wait for the save that is in flight.

        Raises:
            SaveError: If it failed.
        """
        self._saves.wait()

    def close(self) -> None:
        """Wait for the save that is in flight, and end the thread."""
        self._saves.close()

    def load(self, state: dict[str, Any], loop: LoopState, *, start_over: bool = False) -> Loaded | None:
        """Load the newest checkpoint that verifies, from memory where that has it, else from S3.

        What does not verify is passed over, in favour of the other tier and then of older steps.

        Args:
            state: What to fill: tensors in place, other values by name.
            loop: What to fill, last of all.
            start_over: Return None even where there are some, and none verifies; unless one was loaded in
                part, which is nothing to begin with. Off by default.

        Returns:
            What was loaded; None if neither tier has any.

        Raises:
            NothingVerifiesError: If there are some, and none verifies.
            CheckpointError: If S3 does not say what is there, which says nothing about the checkpoints; or if
                another number of ranks saved the newest that verifies.
            SigningKeyError: If the key cannot be used, which says nothing about the checkpoints.
        """
        self.wait()
        self._in_part = False
        steps: list[int] = on_rank_zero(self._coordinator, self._steps)
        for step in steps:
            loaded = self._load(step, state, loop)
            if loaded is not None:
                return loaded
        if steps and (self._in_part or not start_over):
            raise NothingVerifiesError(
                f"none of the checkpoints of {self._namespace} verifies (the newest is of step {steps[0]}); "
                "the events say why; what was loaded in part must not be trained on: mend the key, or begin "
                "anew with start_over=True or under another namespace"
            )
        return None

    def _begin(self, step: int, state: dict[str, Any], loop: LoopState, lasts: bool) -> Callable[[], None]:
        import torch.distributed.checkpoint as dcp

        rank = self._coordinator.rank
        whole = {
            _STATE: state,
            _SHARED: {
                "shared": _as_tensor(json.dumps(loop.shared()).encode()),
                _own_name(rank): _as_tensor(loop.of_rank()),
            },
        }
        writer = _writer(self._configuration(save_to_s3=lasts), step, self._key, self._memory_url)
        if self._asynchronous:
            pending: Any = dcp.async_save(whole, storage_writer=writer, process_group=self._group)
        else:
            pending = None
            with save_failures(step):
                dcp.save(whole, storage_writer=writer, process_group=self._group)

        def finish() -> None:
            if pending is not None:
                with save_failures(step):
                    pending.result()
            # AWS's writer goes on without the tier that failed, as long as the other has the checkpoint.
            if lasts and not writer.s3_success:
                raise SaveError(f"step {step} did not reach {self._s3_uri}")
            if not writer.in_memory_success:
                _log.warning("step %d did not reach the memory of the nodes, only %s", step, self._s3_uri)

        return finish

    def _steps(self) -> list[int]:
        reader = _reader(self._configuration(), None, self._key, self._memory_url, self._refused)
        in_memory = reader.client.get_latest_checkpoints(limit=_MOST_MEMORY_STEPS)
        return sorted({*in_memory, *reader.steps_in_bucket()}, reverse=True)

    def _load(self, step: int, state: dict[str, Any], loop: LoopState) -> Loaded | None:
        import torch
        import torch.distributed.checkpoint as dcp

        rank = self._coordinator.rank
        vouched = _Vouched(self._key, asks=rank == 0)
        reader = _reader(self._configuration(), step, vouched, self._memory_url, self._refused)

        def ask() -> list[str]:
            reader.read_metadata()
            # AWS's reader takes it for a tier that does not answer.
            if vouched.failure is not None:
                raise vouched.failure
            return sorted(vouched.good)

        vouched.good = set(on_rank_zero(self._coordinator, ask))
        parts = reader.read_metadata().state_dict_metadata
        # A rank alone may fail to see it: all go by what all see.
        told = self._coordinator.gather(bool(parts))
        if not self._coordinator.broadcast(None if told is None else all(told)):
            if rank == 0 and not reader.refuses:
                message = "neither tier has its metadata: its save was cut off, or a tier does not answer"
                self._refused(step, RefusedCheckpointError("no_manifest", message))
            return None
        if reader.saved_by != self._coordinator.world_size:
            raise CheckpointError(
                f"step {step} of {self._namespace} was saved by {reader.saved_by} ranks, and this job has "
                f"{self._coordinator.world_size}: managed tiered checkpointing loads with as many as saved; "
                f"start {reader.saved_by} ranks, or begin anew under another namespace"
            )
        names = ["shared", _own_name(rank)]
        own = {
            name: torch.empty(parts[f"{_SHARED}.{name}"].size, dtype=torch.uint8)
            for name in names
            if f"{_SHARED}.{name}" in parts
        }
        whole = {_STATE: state, _SHARED: own}
        try:
            with load_failures(step):
                dcp.load(whole, storage_reader=reader, process_group=self._group)
        except CheckpointError as error:
            self._in_part = True
            self._refused(step, RefusedCheckpointError("unreadable", str(error)))
            return None
        for name, value in whole[_STATE].items():
            state[name] = value
        content = own.get(_own_name(rank))
        missing = loop.load(
            json.loads(_as_bytes(own["shared"])), None if content is None else _as_bytes(content)
        )
        sources = self._coordinator.gather(sorted(reader.sources))
        tier: TierName = self._coordinator.broadcast(
            None if sources is None else "s3" if any("s3" in one for one in sources) else "memory"
        )
        return Loaded(step=step, tier=tier, not_restored=missing)

    def _configuration(self, *, save_to_s3: bool = False) -> Any:
        from amzn_sagemaker_checkpointing.config.sagemaker_checkpoint_config import SageMakerCheckpointConfig

        return SageMakerCheckpointConfig(
            namespace=self._namespace,
            world_size=self._coordinator.world_size,
            s3_tier_base_path=self._s3_uri,
            save_to_s3=save_to_s3,
        )

    def _refused(self, step: int, error: RefusedCheckpointError) -> None:
        self._tell("refused", str(error), step=step, reason=error.reason)

    def _tell(
        self, kind: EventKind, message: str, *, step: int | None = None, reason: str | None = None
    ) -> None:
        location = f"{self._s3_uri}/{self._namespace}"
        self._on_event(
            CheckpointEvent(kind=kind, location=location, step=step, reason=reason, message=message)
        )


def _own_name(rank: int) -> str:
    return f"rank-{rank:06d}"


def _part_name(rank: int) -> str:
    return f"rank-{rank:06d}/checkpoint.pt"


def _as_tensor(content: bytes) -> Any:
    import torch

    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def _as_bytes(tensor: Any) -> bytes:
    return bytes(tensor.tolist())


def seal(pickled: bytes, parts: dict[int, tuple[int, str]], *, key: SigningKey, run: str, step: int) -> bytes:
    """Put a signed manifest behind pickled metadata.

    Args:
        pickled: The metadata.
        parts: Size and SHA-256 of each rank's part.
        key: Signs.
        run: Namespace.
        step: Training step.
    """
    files = [
        SavedFile(_part_name(rank), size, digest, rank) for rank, (size, digest) in sorted(parts.items())
    ]
    files.append(SavedFile(_METADATA, len(pickled), hashlib.sha256(pickled).hexdigest(), 0))
    manifest = Manifest(
        run=run,
        step=step,
        world_size=max(parts, default=0) + 1,
        attempt=secrets.token_hex(16),
        files=tuple(sorted(files)),
        metadata={},
    )
    signed = write_manifest(manifest, key=key)
    size = len(pickled) + len(signed) + _LENGTH_BYTES + len(SEAL_END)
    if size > LARGEST_METADATA_BYTES:
        raise ValueError(
            f"the metadata of step {step} has {size} bytes with its manifest, and at most "
            f"{LARGEST_METADATA_BYTES} are read again; save fewer tensors, or fewer parts of them"
        )
    return b"".join((pickled, signed, len(signed).to_bytes(_LENGTH_BYTES, "big"), SEAL_END))


def unseal(sealed: bytes, *, key: SigningKey, run: str, step: int) -> tuple[bytes, dict[int, SavedFile]]:
    """Verify metadata, and return it with what every rank's part must be.

    Raises:
        RefusedCheckpointError: If anything is not as it must be.
    """
    end = len(sealed) - len(SEAL_END) - _LENGTH_BYTES
    if end < 0 or not sealed.endswith(SEAL_END):
        raise RefusedCheckpointError(
            "no_manifest", "its metadata carries no signed manifest: it was not saved by this library"
        )
    begin = end - int.from_bytes(sealed[end : end + _LENGTH_BYTES], "big")
    if begin < 0:
        raise RefusedCheckpointError("malformed", "its metadata is shorter than its manifest says")
    manifest = read_manifest(sealed[begin:end], key=key, run=run, step=step)
    files = {file.name: file for file in manifest.files}
    pickled = sealed[:begin]
    if _METADATA not in files:
        raise RefusedCheckpointError("malformed", "its manifest does not name its metadata")
    _check(pickled, files.pop(_METADATA))
    return pickled, {file.rank: file for file in files.values()}


def _read_at_most(stream: Any, size: int) -> bytes:
    """Read a stream to its end, and not past what cannot verify any more.

    Raises:
        RefusedCheckpointError: If it has more bytes.
    """
    content: bytes = stream.read(size + 1)
    while len(content) <= size and (more := stream.read(size + 1 - len(content))):
        content += more
    if len(content) > size:
        raise RefusedCheckpointError(
            "too_large", f"S3 has more than {size} bytes of it, which is what it may be"
        )
    return content


def _check(content: bytes, file: SavedFile) -> None:
    if len(content) != file.size:
        raise RefusedCheckpointError(
            "size", f"{file.name!r} has {len(content)} bytes, and {file.size} were saved"
        )
    if not hmac.compare_digest(hashlib.sha256(content).hexdigest(), file.sha256):
        raise RefusedCheckpointError("digest", f"the bytes of {file.name!r} are not those that were saved")


class _Vouched:
    """A key that rank 0 alone asks: thousands of ranks that resume at once would be too many for KMS.

    Rank 0 tells the others which MACs it found good, and they take those and no others.
    """

    def __init__(self, key: SigningKey, *, asks: bool) -> None:
        self.good: set[str] = set()
        self.failure: SigningKeyError | None = None
        self._key = key
        self._asks = asks

    @property
    def key_id(self) -> str:
        return self._key.key_id

    def sign(self, data: bytes) -> bytes:
        raise NotImplementedError("it only verifies")

    def verify(self, data: bytes, mac: bytes) -> bool:
        said = hashlib.sha256(len(data).to_bytes(8, "big") + data + mac).hexdigest()
        if said not in self.good and self._asks:
            try:
                if self._key.verify(data, mac):
                    self.good.add(said)
            except SigningKeyError as error:
                self.failure = error
                raise
        return said in self.good


class _Digest:
    """Travels among the results of a rank's write to the rank that writes the metadata."""

    def __init__(self, rank: int, size: int, sha256: str) -> None:
        self.rank = rank
        self.size = size
        self.sha256 = sha256


def _writer(configuration: Any, step: int, key: SigningKey, memory_url: str | None) -> Any:
    """Return AWS's writer, which tells the digests of what it writes and seals the metadata."""
    from amzn_sagemaker_checkpointing.checkpointing.filesystem.filesystem import (
        SageMakerTieredStorageWriter,
    )

    class SealingMemory:
        """Passes on to the client of the memory tier: parts as they are, metadata sealed."""

        def __init__(self, client: Any, writer: Any) -> None:
            self._client = client
            self._writer = writer

        def __getattr__(self, name: str) -> Any:
            return getattr(self._client, name)

        def put_checkpoint(self, *, data: bytes, metadata_index: int | None = None, **where: Any) -> None:
            if metadata_index is None:
                self._writer.digest = _Digest(self._writer.rank, len(data), hashlib.sha256(data).hexdigest())
                self._client.put_checkpoint(data=data, **where)
            else:
                sealed = self._writer.sealed(data)
                self._client.put_checkpoint(data=sealed, metadata_index=metadata_index, **where)

    class SealingBucket:
        """Passes on to the client of S3: parts as they are, metadata sealed."""

        def __init__(self, client: Any, writer: Any) -> None:
            self._client = client
            self._writer = writer

        @contextmanager
        def create_write_stream(self, s3_uri: str) -> Iterator[Any]:
            if not s3_uri.endswith("/metadata.metadata"):
                with self._client.create_write_stream(s3_uri=s3_uri) as stream:
                    yield stream
                return
            content = io.BytesIO()
            yield content
            with self._client.create_write_stream(s3_uri=s3_uri) as stream:
                stream.write(self._writer.sealed(content.getvalue()))

    class SealingWriter(SageMakerTieredStorageWriter):  # type: ignore[misc]
        def __init__(self) -> None:
            self.digest: _Digest | None = None
            self._parts: dict[int, tuple[int, str]] = {}
            self._sealed: tuple[bytes, bytes] | None = None
            super().__init__(checkpoint_config=configuration, step=step)

        def write_data(self, plan: Any, planner: Any) -> Any:
            def with_digest(done: Any) -> list[Any]:
                return [*done.value(), self.digest]

            return super().write_data(plan, planner).then(with_digest)

        def finish(self, metadata: Any, results: list[list[Any]]) -> None:
            plain = [[one for one in of_rank if not isinstance(one, _Digest)] for of_rank in results]
            digests = [one for of_rank in results for one in of_rank if isinstance(one, _Digest)]
            self._parts = {digest.rank: (digest.size, digest.sha256) for digest in digests}
            super().finish(metadata, plain)

        def sealed(self, pickled: bytes) -> bytes:
            # Both tiers get the same seal, so that parts of one go with the metadata of the other.
            if self._sealed is None or self._sealed[0] != pickled:
                run = self.checkpoint_config.namespace
                self._sealed = (pickled, seal(pickled, self._parts, key=key, run=run, step=step))
            return self._sealed[1]

        def _initialize_memory_client(self) -> None:
            self.client = SealingMemory(bounded_memory_client(self, memory_url=memory_url), self)

        def _initialize_s3_client(self) -> None:
            super()._initialize_s3_client()
            self.s3_client: Any = SealingBucket(self.s3_client, self)

    return SealingWriter()


def _reader(
    configuration: Any,
    step: int | None,
    key: SigningKey,
    memory_url: str | None,
    on_refused: Callable[[int, RefusedCheckpointError], None],
) -> Any:
    """Return AWS's reader, which gets to see only bytes that were verified, whichever tier they come from."""
    from amzn_sagemaker_checkpointing.checkpointing.filesystem.filesystem import (
        SageMakerTieredStorageReader,
    )

    class VerifiedMemory:
        """Passes on what the memory tier gives, verified."""

        def __init__(self, client: Any, reader: Any) -> None:
            self._client = client
            self._reader = reader

        def get_latest_checkpoints(self, limit: int) -> Any:
            # Whoever answers on the port may answer with more.
            return self._client.get_latest_checkpoints(limit=limit)[:limit]

        def get_checkpoint(
            self, step: int, metadata_index: int | None = None, rank: int | None = None
        ) -> bytes | None:
            where = {"rank": rank} if metadata_index is None else {"metadata_index": metadata_index}
            with self._reader.judging(step):
                with answers_of_at_most(self._reader.size_of(rank)):
                    content = self._client.get_checkpoint(step=step, **where)
                if content is None:
                    return None
                verified: bytes = self._reader.verified(step, content, rank, "memory")
                return verified

    class VerifiedBucket:
        """Passes on what S3 gives, verified."""

        def __init__(self, client: Any, reader: Any) -> None:
            self._client = client
            self._reader = reader

        @contextmanager
        def create_read_stream(self, s3_uri: str) -> Iterator[io.BytesIO]:
            rank = None
            if not s3_uri.endswith("/metadata.metadata"):
                found = _RANK_IN_URI.search(s3_uri.removeprefix(configuration.s3_tier_base_path))
                if found is None:
                    raise RefusedCheckpointError("malformed", f"{s3_uri} names no rank")
                rank = int(found[1])
            with self._reader.judging(self._reader.step):
                size = self._reader.size_of(rank)
                with self._client.create_read_stream(s3_uri=s3_uri) as stream:
                    content = _read_at_most(stream, size)
                verified = self._reader.verified(self._reader.step, content, rank, "s3")
            yield io.BytesIO(verified)

    class VerifiedReader(SageMakerTieredStorageReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.sources: set[str] = set()
            self.refuses = False
            self._parts: dict[int, SavedFile] = {}
            self._known: Any = None
            super().__init__(checkpoint_config=configuration, step=step)

        def read_metadata(self) -> Any:
            if self._known is None:
                self._known = super().read_metadata()
            return self._known

        def steps_in_bucket(self) -> list[int]:
            """Steps with a folder of every rank, in S3, or with metadata: those of another number of ranks.

            AWS's own search gives the newest alone, which may be one that was cut off or that somebody put
            there, and takes a bucket that does not answer for an empty one.
            """
            import boto3
            from botocore.exceptions import BotoCoreError, ClientError

            bucket, _, prefix = configuration.s3_tier_base_path.removeprefix("s3://").partition("/")
            ranks = set(range(configuration.world_size))
            try:
                client = boto3.client("s3", region_name=self.region)
                found = self.s3_strategy.find_step_ranks(
                    client.get_paginator("list_objects_v2"),
                    bucket,
                    prefix,
                    configuration.namespace,
                    configuration.world_size,
                )
                return [
                    step
                    for step, of_ranks in found.items()
                    if of_ranks == ranks or (0 in of_ranks and self._has_metadata(client, bucket, step))
                ]
            except (BotoCoreError, ClientError) as error:
                raise CheckpointError(
                    f"S3 refused or did not answer ListObjectsV2 of {configuration.s3_tier_base_path}: "
                    f"{error}; whether there are checkpoints is not known, so training does not begin anew"
                ) from error

        def _has_metadata(self, client: Any, bucket: str, of_step: int) -> bool:
            # It comes last: a save that was cut off has none.
            namespace = self.checkpoint_config.namespace
            uri = self.s3_strategy.get_s3_uri(namespace, 0, of_step, "metadata.metadata")
            key = uri.removeprefix(f"s3://{bucket}/")
            answer = client.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
            return any(one["Key"] == key for one in answer.get("Contents", ()))

        @property
        def saved_by(self) -> int:
            """How many ranks saved what the verified metadata is of."""
            return len(self._parts)

        @contextmanager
        def judging(self, of_step: int) -> Iterator[None]:
            """Tell what is refused."""
            try:
                yield
            except RefusedCheckpointError as error:
                self.refuses = True
                on_refused(of_step, error)
                raise

        def size_of(self, rank: int | None) -> int:
            """Most bytes that a rank's part, or the metadata, can have."""
            return LARGEST_METADATA_BYTES if rank is None else self._part_of(rank).size

        def verified(self, of_step: int, content: bytes, rank: int | None, source: str) -> bytes:
            if rank is None:
                run = self.checkpoint_config.namespace
                content, self._parts = unseal(content, key=key, run=run, step=of_step)
                return content
            _check(content, self._part_of(rank))
            self.sources.add(source)
            return content

        def _part_of(self, rank: int) -> SavedFile:
            part = self._parts.get(rank)
            if part is None:
                raise RefusedCheckpointError("missing_file", f"its manifest names no part of rank {rank}")
            return part

        def _initialize_memory_client(self) -> None:
            self.client = VerifiedMemory(bounded_memory_client(self, memory_url=memory_url), self)

        def _initialize_s3_client(self) -> None:
            super()._initialize_s3_client()
            self.s3_client: Any = VerifiedBucket(self.s3_client, self)

    return VerifiedReader()
