from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import pytest

from hyperpod_lifecycle.training.checkpoint_events import CheckpointEvent
from hyperpod_lifecycle.training.checkpoint_store import CheckpointStore
from hyperpod_lifecycle.training.checkpoints import Checkpoint, Checkpoints
from hyperpod_lifecycle.training.directory_store import DirectoryStore
from hyperpod_lifecycle.training.fsspec_store import FsspecStore
from hyperpod_lifecycle.training.s3_store import S3Store
from hyperpod_lifecycle.training.signing_keys import LocalKey

BUCKET = "checkpoints-of-tests"
KEY = LocalKey(b"k" * 32)
OTHER_KEY = LocalKey(b"o" * 32)


@dataclass
class Place:
    """A store, and how a test gets at what lies in it behind the library's back."""

    new_store: Callable[[], CheckpointStore]
    read: Callable[[str], bytes]
    write: Callable[[str, bytes], None]
    delete: Callable[[str], None]
    names: Callable[[], list[str]]
    """All files and objects."""
    manifest: Callable[[int], str]
    file: Callable[[Checkpoint, str], str]

    def __post_init__(self) -> None:
        self.events: list[CheckpointEvent] = []

    def open(self, **options: Any) -> Checkpoints:
        """As another process would: nothing remembered but what is stored."""
        options = {"key": KEY, "on_event": self.events.append, "run": "run42", **options}
        return Checkpoints(self.new_store(), **options)

    def told(self, kind: str) -> list[CheckpointEvent]:
        return [event for event in self.events if event.kind == kind]


def save(checkpoints: Checkpoints, step: int, content: bytes | None = None) -> Checkpoint:
    with checkpoints.begin(step) as writer:
        folder = writer.directory / "shards"
        folder.mkdir()
        (folder / "model.pt").write_bytes(b"model %d" % step if content is None else content)
        (writer.directory / ".metadata").write_bytes(b"meta %d" % step)
        return writer.commit({"step": step, "loss": 0.5})


def loaded(checkpoints: Checkpoints, checkpoint: Checkpoint) -> bytes:
    with checkpoints.verified(checkpoint) as verified, verified.open("shards/model.pt") as stream:
        return stream.read()


def directory_place(root: Path) -> Place:
    def write(name: str, content: bytes) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return Place(
        new_store=lambda: DirectoryStore(root),
        read=lambda name: (root / name).read_bytes(),
        write=write,
        delete=lambda name: (root / name).unlink(),
        names=lambda: sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()),
        manifest=lambda step: f"step-{step:012d}/MANIFEST",
        file=lambda checkpoint, name: f"step-{checkpoint.step:012d}/{name}",
    )


def _object_file(checkpoint: Checkpoint, name: str) -> str:
    return f"files/step-{checkpoint.step:012d}-{checkpoint.manifest.attempt}/{name}"


def s3_place(client: Any, staging: Path) -> Place:
    def names() -> list[str]:
        found = client.list_objects_v2(Bucket=BUCKET).get("Contents", ())
        return sorted(entry["Key"].removeprefix("run42/") for entry in found)

    return Place(
        new_store=lambda: S3Store(BUCKET, "run42/", client=client, staging=staging),
        read=lambda name: client.get_object(Bucket=BUCKET, Key=f"run42/{name}")["Body"].read(),
        write=lambda name, content: client.put_object(Bucket=BUCKET, Key=f"run42/{name}", Body=content),
        delete=lambda name: client.delete_object(Bucket=BUCKET, Key=f"run42/{name}"),
        names=names,
        manifest=lambda step: f"complete/step-{step:012d}",
        file=_object_file,
    )


def fsspec_place(staging: Path) -> Place:
    filesystem = fsspec.filesystem("memory")
    root = f"/{secrets.token_hex(8)}/run42"

    def write(name: str, content: bytes) -> None:
        filesystem.makedirs(f"{root}/{name}".rpartition("/")[0], exist_ok=True)
        filesystem.pipe_file(f"{root}/{name}", content)

    return Place(
        new_store=lambda: FsspecStore(f"memory:/{root}", staging=staging),
        read=lambda name: filesystem.cat_file(f"{root}/{name}"),
        write=write,
        delete=lambda name: filesystem.rm_file(f"{root}/{name}"),
        names=lambda: sorted(name.removeprefix(f"{root}/") for name in filesystem.find(root)),
        manifest=lambda step: f"complete/step-{step:012d}",
        file=_object_file,
    )


@pytest.fixture
def s3_client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import boto3
    from moto import mock_aws

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    with mock_aws():
        client = boto3.client("s3", region_name="us-west-2")
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        yield client


@pytest.fixture(params=["directory", "s3", "fsspec"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "directory":
        return directory_place(tmp_path / "run42")
    if request.param == "s3":
        return s3_place(request.getfixturevalue("s3_client"), tmp_path)
    return fsspec_place(tmp_path)
