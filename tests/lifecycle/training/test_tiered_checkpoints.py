"""Managed tiered checkpointing with AWS's own package, in two ranks of a real torchrun.

S3 is moto. The memory daemon is a stand-in: `tests/plugins/tiered_storage`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer
from tiered_storage import MemoryTier
from torch_cases import HERE, run_cases
from training_environment import needs_tiered_package, needs_torchrun

from hyperpod_lifecycle.training import (
    LocalKey,
    RefusedCheckpointError,
    SaveSchedule,
    TieredCheckpoints,
    tiered_checkpoints,
)
from hyperpod_lifecycle.training.coordinator import SingleProcess
from hyperpod_lifecycle.training.tiered_checkpoints import SEAL_END, ray_report_options, seal, unseal

NAMES = re.findall(r'^            "(\w+)":', (HERE / "tiered.py").read_text(), re.MULTILINE)
KEY = LocalKey(b"k" * 32)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    access = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    client = boto3.client(
        "s3",
        endpoint_url=access["AWS_ENDPOINT_URL"],
        aws_access_key_id="test",
        aws_secret_access_key="test",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="checkpoints")
    folder: Path = tmp_path_factory.mktemp("tiered")
    with MemoryTier() as memory:
        yield run_cases("tiered", folder, ranks=2, environment={**access, "MEMORY_URL": memory.url})
    server.stop()


@needs_torchrun
@needs_tiered_package
@pytest.mark.parametrize("name", NAMES)
def test_case(told: dict[str, str], name: str):
    assert told[name] == ""


class TestSeal:
    PARTS = {rank: (rank, hashlib.sha256(bytes(rank)).hexdigest()) for rank in range(3)}

    def sealed(self) -> bytes:
        return seal(b"pickled", self.PARTS, key=KEY, run="llama", step=7)

    def test_it_opens_to_what_was_sealed(self):
        pickled, parts = unseal(self.sealed(), key=KEY, run="llama", step=7)
        assert pickled == b"pickled"
        assert {rank: (part.size, part.sha256) for rank, part in parts.items()} == self.PARTS

    def test_no_byte_of_it_can_be_changed(self):
        sealed = self.sealed()
        for place in range(len(sealed)):
            changed = bytearray(sealed)
            changed[place] ^= 1
            with pytest.raises(RefusedCheckpointError):
                unseal(bytes(changed), key=KEY, run="llama", step=7)

    def test_no_byte_of_it_can_be_left_out_or_added(self):
        sealed = self.sealed()
        for end in range(len(sealed)):
            with pytest.raises(RefusedCheckpointError):
                unseal(sealed[:end], key=KEY, run="llama", step=7)
        with pytest.raises(RefusedCheckpointError):
            unseal(b"\x80" + sealed, key=KEY, run="llama", step=7)

    @pytest.mark.parametrize(
        ("run", "step", "key", "reason"),
        [
            ("llama", 8, KEY, "step"),
            ("other", 7, KEY, "run"),
            ("llama", 7, LocalKey(b"x" * 32), "signature"),
        ],
    )
    def test_it_holds_for_one_run_step_and_key(self, run: str, step: int, key: LocalKey, reason: str):
        with pytest.raises(RefusedCheckpointError) as refused:
            unseal(self.sealed(), key=key, run=run, step=step)
        assert refused.value.reason == reason

    def test_what_would_not_be_read_again_is_not_saved(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(tiered_checkpoints, "LARGEST_METADATA_BYTES", len(self.sealed()))
        assert self.sealed()
        monkeypatch.setattr(tiered_checkpoints, "LARGEST_METADATA_BYTES", len(self.sealed()) - 1)
        with pytest.raises(ValueError, match=r"metadata of step 7 has \d+ bytes .* at most \d+ are read"):
            self.sealed()

    def test_without_a_seal_it_is_refused(self):
        for content in (b"", b"pickled", SEAL_END, bytes(8) + SEAL_END, b"\xff" * 8 + SEAL_END):
            with pytest.raises(RefusedCheckpointError):
                unseal(content, key=KEY, run="llama", step=7)


def test_ray_must_not_delete_what_it_reports():
    assert ray_report_options() == {"delete_local_checkpoint_after_upload": False}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"namespace": "a/b"}, "namespace must be letters, digits, - and _, got 'a/b'"),
        ({"namespace": ""}, "namespace must be letters"),
        ({"s3_uri": "/fsx/a"}, "s3_uri must begin with s3://, got '/fsx/a'"),
    ],
)
def test_names_that_are_none_are_refused(changes: dict[str, str], message: str):
    with pytest.raises(ValueError, match=message):
        TieredCheckpoints(
            **{"namespace": "llama", "s3_uri": "s3://bucket"} | changes,
            key=KEY,
            schedule=SaveSchedule(every_steps=1),
            coordinator=SingleProcess(),
        )
