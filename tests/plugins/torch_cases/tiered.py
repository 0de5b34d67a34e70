"""Managed tiered checkpointing by two ranks: AWS's package, a stand-in for its daemon, a double of S3."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import threading
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import boto3
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from amzn_sagemaker_checkpointing.checkpointing.filesystem.filesystem import SageMakerTieredStorageReader
from amzn_sagemaker_checkpointing.config.s3_path_strategy import DefaultS3PathStrategy
from amzn_sagemaker_checkpointing.config.sagemaker_checkpoint_config import SageMakerCheckpointConfig
from amzn_sagemaker_checkpointing.storage.clients.inmemory.checksum import encode_base_64, hash_xxh3_128
from amzn_sagemaker_checkpointing.storage.clients.s3 import s3_client
from botocore.exceptions import ClientError
from cases import run

from hyperpod_lifecycle.training import (
    CheckpointError,
    CheckpointEvent,
    KeyRing,
    Loaded,
    LocalKey,
    LoopState,
    NothingVerifiesError,
    SaveError,
    SaveReport,
    SaveSchedule,
    SigningKey,
    SigningKeyError,
    TieredCheckpoints,
    TorchCoordinator,
    UnsignedCheckpoints,
    tiered_checkpoints,
)
from hyperpod_lifecycle.training.tiered_checkpoints import seal, unseal

KEY = LocalKey(b"k" * 32)
MEMORY = os.environ["MEMORY_URL"]
BUCKET = "checkpoints"
NOWHERE = "http://127.0.0.1:9"


class Job:
    def __init__(self, folder: Path, *, key: SigningKey = KEY, **options: Any) -> None:
        self.namespace = folder.name.replace(".", "_")
        self.events: list[CheckpointEvent] = []
        self.reports: list[SaveReport] = []
        self.tiered = TieredCheckpoints(
            namespace=self.namespace,
            s3_uri=f"s3://{BUCKET}/runs",
            key=key,
            schedule=SaveSchedule(every_steps=2, durable_every_steps=4),
            coordinator=TorchCoordinator(),
            on_saved=self.reports.append,
            on_event=self.events.append,
            **{"memory_url": MEMORY} | options,
        )

    def save(self, *steps: int, durable: bool = False) -> None:
        for step in steps:
            loop = LoopState()
            loop.next_step = step + 1
            state = {"weights": torch.full((64,), float(step)), "words": {"step": step}}
            self.tiered.save(step, state, loop, durable=durable)
        self.tiered.close()

    def load(self) -> tuple[Loaded | None, float]:
        state: dict[str, Any] = {"weights": torch.zeros(64), "words": {"step": -1}}
        loop = LoopState()
        loaded = self.tiered.load(state, loop)
        if loaded is not None:
            assert loop.next_step == loaded.step + 1
            assert state["words"]["step"] == loaded.step
            assert loaded.not_restored == ()
        return loaded, state["weights"][0].item()

    def refused(self) -> set[tuple[int | None, str | None]]:
        return {(event.step, event.reason) for event in self.events if event.kind == "refused"}


def part_url(namespace: str, rank: int, step: int) -> str:
    return f"{MEMORY}/v1/cp/checkpoints/{namespace}/{rank}/{step}"


def in_memory(namespace: str, rank: int, step: int) -> bytes:
    with urllib.request.urlopen(part_url(namespace, rank, step)) as answer:
        content: bytes = answer.read()
    return content


def put_in_memory(namespace: str, rank: int, step: int, content: bytes) -> None:
    """As anybody can who reaches the port: with a checksum that fits."""
    meta = json.dumps({"checksum": encode_base_64(hash_xxh3_128(content)), "algorithm": "xxh3_128"})
    request = urllib.request.Request(
        part_url(namespace, rank, step), data=content, headers={"Shard-Meta": meta}, method="POST"
    )
    urllib.request.urlopen(request).close()


def by_rank_zero(work: Callable[[], Any]) -> None:
    dist.barrier()
    if dist.get_rank() == 0:
        work()
    dist.barrier()


def forget_memory(namespace: str, *steps: int) -> None:
    for step in steps:
        for rank in range(3):
            put_in_memory(namespace, rank, step, b"gone")


def keys(namespace: str) -> list[str]:
    found = boto3.client("s3").list_objects_v2(Bucket=BUCKET, Prefix=f"runs/{namespace}/")
    return [one["Key"] for one in found.get("Contents", [])]


def memory_answers(folder: Path) -> None:
    job = Job(folder)
    job.save(1, 3, 5)
    assert [report.tiers for report in job.reports] == [("memory",), ("memory", "s3"), ("memory",)]
    loaded, value = Job(folder).load()
    assert loaded is not None
    assert (loaded.step, loaded.tier, value) == (5, "memory", 5.0)
    assert sorted(keys(job.namespace)) == [
        f"runs/{job.namespace}/rank_0/step_3/checkpoint.pt",
        f"runs/{job.namespace}/rank_0/step_3/metadata.metadata",
        f"runs/{job.namespace}/rank_1/step_3/checkpoint.pt",
    ]


def s3_answers_without_memory(folder: Path) -> None:
    Job(folder).save(3)
    job = Job(folder, memory_url="http://127.0.0.1:9")
    loaded, value = job.load()
    assert loaded is not None
    assert (loaded.step, loaded.tier, value) == (3, "s3", 3.0)


def the_end_is_durable(folder: Path) -> None:
    job = Job(folder)
    job.save(4, durable=True)
    assert job.reports[0].tiers == ("memory", "s3")
    loaded, _ = Job(folder, memory_url="http://127.0.0.1:9").load()
    assert loaded is not None
    assert loaded.step == 4


def nothing_is_no_checkpoint(folder: Path) -> None:
    assert Job(folder).load() == (None, 0.0)


class Hostile:
    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.makedirs, (self.marker, 0o777, True))


def hostile_memory_never_runs(folder: Path) -> None:
    job = Job(folder)
    job.save(3, 5)
    ran = folder / "ran"
    hostile = pickle.dumps(Hostile(str(ran)))
    by_rank_zero(lambda: put_in_memory(job.namespace, 2, 5, hostile))
    again = Job(folder)
    loaded, value = again.load()
    assert loaded is not None
    assert (loaded.step, value) == (3, 3.0)
    assert (5, "no_manifest") in again.refused()
    assert not ran.exists()
    dist.barrier()
    # The case can fail: AWS's reader alone runs it.
    if dist.get_rank() == 0:
        reader = SageMakerTieredStorageReader(
            SageMakerCheckpointConfig(namespace=job.namespace, world_size=2), step=5
        )
        reader.client.config.base_url = MEMORY
        reader.read_metadata()
        assert ran.exists()
    dist.barrier()


def a_seal_of_another_key_is_refused(folder: Path) -> None:
    Job(folder, key=LocalKey(b"x" * 32)).save(3)
    job = Job(folder)
    failure: Exception | None = None
    try:
        job.load()
    except NothingVerifiesError as error:
        failure = error
    assert "none of the checkpoints of" in str(failure)
    assert job.refused() == {(3, "signature")}
    assert job.tiered.load({"weights": torch.zeros(64)}, LoopState(), start_over=True) is None


def a_seal_of_another_step_is_refused(folder: Path) -> None:
    """An old checkpoint, put in the place of a newer one."""
    job = Job(folder)
    job.save(3, 5)

    def replay() -> None:
        for rank in range(3):
            put_in_memory(job.namespace, rank, 5, in_memory(job.namespace, rank, 3))

    by_rank_zero(replay)
    again = Job(folder)
    loaded, _ = again.load()
    assert loaded is not None
    assert loaded.step == 3
    assert (5, "step") in again.refused()


class Counted(LocalKey):
    asked = 0

    def verify(self, data: bytes, mac: bytes) -> bool:
        Counted.asked += 1
        return super().verify(data, mac)


def rank_zero_alone_asks_the_key(folder: Path) -> None:
    Job(folder).save(3, 5)
    job = Job(folder, key=Counted(b"k" * 32))
    loaded, value = job.load()
    assert loaded is not None
    assert value == 5.0
    assert Counted.asked == (1 if dist.get_rank() == 0 else 0)


class Denied(LocalKey):
    def verify(self, data: bytes, mac: bytes) -> bool:
        raise SigningKeyError("kms:VerifyMac is denied")


def a_key_that_cannot_be_used_says_so(folder: Path) -> None:
    Job(folder).save(3)
    failure: Exception | None = None
    try:
        Job(folder, key=Denied(b"k" * 32)).load()
    except SigningKeyError as error:
        failure = error
    assert "kms:VerifyMac is denied" in str(failure)


def damaged_parts_come_from_the_other_tier(folder: Path) -> None:
    job = Job(folder)
    job.save(3)

    def damage() -> None:
        for rank in range(2):
            content = bytearray(in_memory(job.namespace, rank, 3))
            content[-1] ^= 1
            put_in_memory(job.namespace, rank, 3, bytes(content))

    by_rank_zero(damage)
    again = Job(folder)
    loaded, value = again.load()
    assert loaded is not None
    assert (loaded.step, loaded.tier, value) == (3, "s3", 3.0)
    assert (3, "digest") in again.refused()


def damage_in_both_tiers_costs_the_step_alone(folder: Path) -> None:
    job = Job(folder)
    job.save(3, 7)

    def damage() -> None:
        for rank in range(2):
            content = in_memory(job.namespace, rank, 7)[:-3]
            put_in_memory(job.namespace, rank, 7, content)
            key = f"runs/{job.namespace}/rank_{rank}/step_7/checkpoint.pt"
            boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=content)

    by_rank_zero(damage)
    again = Job(folder)
    loaded, value = again.load()
    assert loaded is not None
    assert (loaded.step, value) == (3, 3.0)
    assert (7, "size") in again.refused()


def a_save_that_was_cut_off_costs_that_save_alone(folder: Path) -> None:
    """All nodes are lost after the parts reached S3, and before the metadata did."""
    job = Job(folder)
    job.save(3, 7)
    key = f"runs/{job.namespace}/rank_0/step_7/metadata.metadata"
    by_rank_zero(lambda: boto3.client("s3").delete_object(Bucket=BUCKET, Key=key))
    again = Job(folder, memory_url=NOWHERE)
    loaded, value = again.load()
    assert loaded is not None
    assert (loaded.step, loaded.tier, value) == (3, "s3", 3.0)
    assert again.refused() == ({(7, "no_manifest")} if dist.get_rank() == 0 else set())


def steps_that_somebody_puts_there_hide_none(folder: Path) -> None:
    job = Job(folder)
    job.save(3)

    def forge() -> None:
        for step in range(1000, 1012):
            for rank in range(3):
                put_in_memory(job.namespace, rank, step, b"forged")
            for rank in range(2):
                for name in ("checkpoint.pt", "metadata.metadata"):
                    where = f"runs/{job.namespace}/rank_{rank}/step_{step}/{name}"
                    boto3.client("s3").put_object(Bucket=BUCKET, Key=where, Body=b"forged")

    by_rank_zero(forge)
    loaded, value = Job(folder).load()
    assert loaded is not None
    assert (loaded.step, value) == (3, 3.0)


class HostileMemory:
    """Somebody on the port of the memory tier: passes on what the tier says, except of one rank's part.

    Of that, what it sends has no end: it stops at 256 MiB, or when nobody listens.
    """

    END = 256 * 1024 * 1024

    def __init__(self, namespace: str, *, rank: int, how: str = "endless") -> None:
        self.asked = False
        self.sent = 0
        hostile, place = self, f"/{namespace}/{rank}/"

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if place not in self.path:
                    self.pass_on()
                elif how == "compressed":
                    content = bytes(8 * 1024 * 1024)
                    meta = {"checksum": encode_base_64(hash_xxh3_128(content)), "algorithm": "xxh3_128"}
                    told = {"Content-Encoding": "gzip", "Shard-Meta": json.dumps(meta)}
                    self.answer(200, gzip.compress(content), told)
                else:
                    self.send_response(503 if how == "error" else 200)
                    self.end_headers()
                    self.send_without_end()

            def pass_on(self) -> None:
                try:
                    with urllib.request.urlopen(f"{MEMORY}{self.path}") as found:
                        meta = found.headers.get("Shard-Meta")
                        self.answer(found.status, found.read(), {"Shard-Meta": meta} if meta else {})
                except HTTPError as error:
                    self.answer(error.code, b"", {})

            def answer(self, code: int, content: bytes, told: dict[str, str]) -> None:
                self.send_response(code)
                for name, value in told.items():
                    self.send_header(name, value)
                # Without Content-Length, which AWS's client would compare with what it unpacked.
                self.end_headers()
                self.wfile.write(content)

            def send_without_end(self) -> None:
                hostile.asked = True
                some = bytes(1024 * 1024)
                try:
                    while hostile.sent < hostile.END:
                        self.wfile.write(some)
                        hostile.sent += len(some)
                except OSError:
                    pass

            def log_message(self, format: str, *told: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


def memory_without_end_is_read_no_further(folder: Path, *, rank: int, how: str = "endless") -> None:
    job = Job(folder)
    job.save(3)
    memory = HostileMemory(job.namespace, rank=rank, how=how)
    again = Job(folder, memory_url=memory.url)
    before = tiered_checkpoints.LARGEST_METADATA_BYTES
    tiered_checkpoints.LARGEST_METADATA_BYTES = 4 * 1024 * 1024  # type: ignore[misc]
    try:
        loaded, value = again.load()
    finally:
        tiered_checkpoints.LARGEST_METADATA_BYTES = before  # type: ignore[misc]
    assert loaded is not None
    # Metadata of S3 goes with parts in memory.
    assert (loaded.step, loaded.tier, value) == (3, "memory" if rank == 2 else "s3", 3.0)
    # What the sockets hold is sent, and not read.
    assert memory.sent < 64 * 1024 * 1024, f"{memory.sent} bytes"
    asked = again.tiered._coordinator.gather(memory.asked)
    if how == "compressed":
        assert again.refused() == set(), "the bytes that were sent fit no checksum; those they become would"
    else:
        assert asked is None or any(asked)
    if how == "endless":
        assert again.refused() == ({(3, "too_large")} if memory.asked else set())


def objects_that_are_too_large_are_read_no_further(folder: Path) -> None:
    job = Job(folder)
    job.save(3, 7, 11)
    large = bytes(8 * 1024 * 1024)

    def replace() -> None:
        for step, name in ((11, "rank_0/step_11/metadata.metadata"), (7, "rank_0/step_7/checkpoint.pt")):
            key = f"runs/{job.namespace}/{name}"
            content = large if step == 11 else large[: len(in_memory(job.namespace, 0, 7)) + 1]
            boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=content)

    by_rank_zero(replace)
    again = Job(folder, memory_url=NOWHERE)
    before = tiered_checkpoints.LARGEST_METADATA_BYTES
    tiered_checkpoints.LARGEST_METADATA_BYTES = 1024 * 1024  # type: ignore[misc]
    try:
        loaded, value = again.load()
    finally:
        tiered_checkpoints.LARGEST_METADATA_BYTES = before  # type: ignore[misc]
    assert loaded is not None
    assert (loaded.step, value) == (3, 3.0)
    assert (11, "too_large") in again.refused()
    told = again.tiered._coordinator.gather((7, "too_large") in again.refused())
    assert told is None or any(told)


def another_number_of_ranks_does_not_begin_anew(folder: Path, *, saved_by: int) -> None:
    job = Job(folder)
    job.save(3)

    def as_if_saved_by_others() -> None:
        client = boto3.client("s3")
        sealed = in_memory(job.namespace, 2, 3)
        pickled, parts = unseal(sealed, key=KEY, run=job.namespace, step=3)
        for key in keys(job.namespace):
            client.delete_object(Bucket=BUCKET, Key=key)
        told = dict.fromkeys(range(saved_by), (parts[0].size, parts[0].sha256))
        for rank in range(saved_by):
            key = f"runs/{job.namespace}/rank_{rank}/step_3/checkpoint.pt"
            client.put_object(Bucket=BUCKET, Key=key, Body=in_memory(job.namespace, 0, 3))
        client.put_object(
            Bucket=BUCKET,
            Key=f"runs/{job.namespace}/rank_0/step_3/metadata.metadata",
            Body=seal(pickled, told, key=KEY, run=job.namespace, step=3),
        )
        # A later one, that was cut off.
        client.put_object(
            Bucket=BUCKET, Key=f"runs/{job.namespace}/rank_0/step_7/checkpoint.pt", Body=b"cut off"
        )

    by_rank_zero(as_if_saved_by_others)
    failure: Exception | None = None
    try:
        Job(folder, memory_url=NOWHERE).load()
    except CheckpointError as error:
        failure = error
    assert f"was saved by {saved_by} ranks, and this job has 2" in str(failure)
    assert "begin anew under another namespace" in str(failure)


def a_first_save_that_was_cut_off_is_no_checkpoint(folder: Path) -> None:
    job = Job(folder)
    key = f"runs/{job.namespace}/rank_0/step_3/checkpoint.pt"
    by_rank_zero(lambda: boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"cut off"))
    assert job.load() == (None, 0.0)


def tiers_that_do_not_answer_do_not_begin_anew(folder: Path) -> None:
    Job(folder).save(3)

    def denied(*told: Any, **more: Any) -> dict[int, set[int]]:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListObjectsV2")

    real = DefaultS3PathStrategy.find_step_ranks
    DefaultS3PathStrategy.find_step_ranks = denied
    failure: Exception | None = None
    try:
        Job(folder, memory_url=NOWHERE).load()
    except CheckpointError as error:
        failure = error
    finally:
        DefaultS3PathStrategy.find_step_ranks = real
    assert f"did not answer ListObjectsV2 of s3://{BUCKET}/runs" in str(failure)
    assert "so training does not begin anew" in str(failure)


def no_key_is_told(folder: Path) -> None:
    for key in (UnsignedCheckpoints(), KeyRing(KEY, UnsignedCheckpoints())):
        job = Job(folder, key=key)
        told = [event for event in job.events if event.kind == "unsigned"]
        assert len(told) == (1 if dist.get_rank() == 0 else 0)
    assert [event for event in Job(folder).events if event.kind == "unsigned"] == []


def aws_reads_what_we_write(folder: Path) -> None:
    job = Job(folder)
    job.save(3)
    reader = SageMakerTieredStorageReader(
        SageMakerCheckpointConfig(
            namespace=job.namespace, world_size=2, s3_tier_base_path=f"s3://{BUCKET}/runs"
        )
    )
    state: dict[str, Any] = {"state": {"weights": torch.zeros(64)}}
    dcp.load(state, storage_reader=reader)
    assert state["state"]["weights"][0].item() == 3.0


def a_tier_that_fails_ends_the_save(folder: Path) -> None:
    job = Job(folder, memory_url="http://127.0.0.1:9")
    failure: Exception | None = None
    try:
        job.save(1, 5)
    except SaveError as error:
        failure = error
    assert "could not save step 1" in str(failure), "raised when the next save waits for it"
    # With S3 the checkpoint is there all the same.
    other = Job(folder, memory_url="http://127.0.0.1:9")
    other.save(3)
    loaded, _ = Job(folder, memory_url="http://127.0.0.1:9").load()
    assert loaded is not None
    assert loaded.step == 3


if __name__ == "__main__":
    # AWS's package tries each operation three times, seconds apart.
    s3_client.s3_retry_with_jitter.__defaults__ = (3, 0.01, 0.02)
    run(
        {
            "memory_answers": memory_answers,
            "s3_answers_without_memory": s3_answers_without_memory,
            "the_end_is_durable": the_end_is_durable,
            "nothing_is_no_checkpoint": nothing_is_no_checkpoint,
            "hostile_memory_never_runs": hostile_memory_never_runs,
            "a_seal_of_another_key_is_refused": a_seal_of_another_key_is_refused,
            "a_seal_of_another_step_is_refused": a_seal_of_another_step_is_refused,
            "rank_zero_alone_asks_the_key": rank_zero_alone_asks_the_key,
            "a_key_that_cannot_be_used_says_so": a_key_that_cannot_be_used_says_so,
            "damaged_parts_come_from_the_other_tier": damaged_parts_come_from_the_other_tier,
            "damage_in_both_tiers_costs_the_step_alone": damage_in_both_tiers_costs_the_step_alone,
            "a_save_that_was_cut_off_costs_that_save_alone": a_save_that_was_cut_off_costs_that_save_alone,
            "steps_that_somebody_puts_there_hide_none": steps_that_somebody_puts_there_hide_none,
            "metadata_without_end_is_read_no_further": (
                lambda folder: memory_without_end_is_read_no_further(folder, rank=2)
            ),
            "a_part_without_end_is_read_no_further": (
                lambda folder: memory_without_end_is_read_no_further(folder, rank=0)
            ),
            "an_error_without_end_is_read_no_further": (
                lambda folder: memory_without_end_is_read_no_further(folder, rank=2, how="error")
            ),
            "what_was_sent_is_not_made_larger": (
                lambda folder: memory_without_end_is_read_no_further(folder, rank=2, how="compressed")
            ),
            "objects_that_are_too_large_are_read_no_further": objects_that_are_too_large_are_read_no_further,
            "more_ranks_than_saved_do_not_begin_anew": (
                lambda folder: another_number_of_ranks_does_not_begin_anew(folder, saved_by=1)
            ),
            "fewer_ranks_than_saved_do_not_go_on_unseen": (
                lambda folder: another_number_of_ranks_does_not_begin_anew(folder, saved_by=3)
            ),
            "a_first_save_that_was_cut_off_is_no_checkpoint": a_first_save_that_was_cut_off_is_no_checkpoint,
            "tiers_that_do_not_answer_do_not_begin_anew": tiers_that_do_not_answer_do_not_begin_anew,
            "no_key_is_told": no_key_is_told,
            "aws_reads_what_we_write": aws_reads_what_we_write,
            "a_tier_that_fails_ends_the_save": a_tier_that_fails_ends_the_save,
        }
    )
