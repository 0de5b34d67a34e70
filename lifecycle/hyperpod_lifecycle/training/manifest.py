"""What a complete checkpoint consists of, and the proof of who said so.

A manifest file is a line ``hyperpod-checkpoint-1 <key id> <MAC in hexadecimal>`` and then a JSON object. The
MAC covers version, key id and the SHA-256 of the object's very bytes, so nothing of it is parsed before it is
verified, and no rule of what is canonical can be got around. KMS makes MACs of at most 4096 bytes, hence the
digest.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hyperpod_lifecycle.training.checkpoint_errors import RefusedCheckpointError
from hyperpod_lifecycle.training.signing_keys import SigningKey

MANIFEST_NAME = "MANIFEST"
LARGEST_MANIFEST_BYTES = 64 * 1024 * 1024
"""More than 100,000 files need; a larger one is refused unread."""

_VERSION = 1
_MAGIC = b"hyperpod-checkpoint-"
_HEADER = re.compile(rb"hyperpod-checkpoint-([0-9]{1,9}) ([\x21-\x7e]{1,512}) ([0-9a-f]{64})\n")
_LONGEST_HEADER = 700
_PLAIN_KEY_ID = re.compile(r"[A-Za-z0-9:/._+=@,-]{1,256}")
_FIELDS = {"attempt", "files", "metadata", "run", "step", "world_size"}
_FILE_FIELDS = {"name", "rank", "sha256", "size"}
_ATTEMPT = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._@+=,-]{1,255}")
_LONGEST_NAME = 1024
_LARGEST_STEP = 10**12 - 1


class SavedFile(NamedTuple):
    """A file of a checkpoint.

    Attributes:
        name: Path within the checkpoint, with forward slashes.
        size: Bytes.
        sha256: Digest of its bytes, 64 hexadecimal digits.
        rank: Who wrote it.
    """

    name: str
    size: int
    sha256: str
    rank: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A verified statement of what a checkpoint consists of.

    Attributes:
        run: Name of the training run it belongs to.
        step: Training step.
        world_size: Number of ranks that saved.
        attempt: 32 hexadecimal digits, new for each save.
        files: By name, sorted.
        metadata: What the job gave.
    """

    run: str
    step: int
    world_size: int
    attempt: str
    files: tuple[SavedFile, ...]
    metadata: Mapping[str, Any]


def check_name(name: str) -> str | None:
    """Say what is wrong with the name of a file, or None.

    Names are paths of letters, digits and ``._@+=,-`` below the checkpoint, the same on every store.
    """
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    if not all(_PART.fullmatch(part) for part in name.split("/")):
        return "must be a path of letters, digits and ._@+=,- that stays within the checkpoint"
    if name.split("/")[0].upper() == MANIFEST_NAME:
        return f"must not be {MANIFEST_NAME}, which marks a complete checkpoint"
    if name.startswith(".rank-"):
        return "must not begin with .rank-, which keeps the ranks of a save apart"
    return None


def check_step(step: object) -> str | None:
    """Say what is wrong with a training step, or None."""
    if isinstance(step, bool) or not isinstance(step, int):
        return f"must be a whole number, got {step!r}"
    if not 0 <= step <= _LARGEST_STEP:
        return f"must be from 0 to {_LARGEST_STEP}, got {step}"
    return None


def metadata_text(metadata: Mapping[str, Any]) -> str:
    """Write metadata as JSON that reads back equal.

    Raises:
        ValueError: If it is not JSON: another type, a key that is no text, or a float that is not finite.
    """
    try:
        text = json.dumps(metadata, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"metadata must be JSON, and cannot be written: {error}; put tensors and arrays in files"
        ) from error
    if json.loads(text) != metadata:
        raise ValueError(
            "metadata must be JSON, and reads back as something else; use text as keys, and lists instead of "
            "tuples"
        )
    return text


def write_manifest(manifest: Manifest, *, key: SigningKey) -> bytes:
    """Return the signed file.

    Raises:
        SigningKeyError: If the key cannot be used.
        ValueError: If the manifest would be too large to be read again.
    """
    body = json.dumps(
        {
            "attempt": manifest.attempt,
            "files": [file._asdict() for file in manifest.files],
            "metadata": dict(manifest.metadata),
            "run": manifest.run,
            "step": manifest.step,
            "world_size": manifest.world_size,
        },
        allow_nan=False,
        separators=(",", ":"),
        sort_keys=True,
    ).encode("ascii")
    key_id = key.key_id.encode("ascii", "replace")
    mac = key.sign(_statement(_VERSION, key_id, body))
    signed = b"%s%d %s %s\n%s" % (_MAGIC, _VERSION, key_id, mac.hex().encode("ascii"), body)
    if _HEADER.match(signed) is None:
        raise ValueError(
            f"the key id {key.key_id!r} must be 1 to 512 printable ASCII characters without spaces, and its "
            "MAC 32 bytes"
        )
    if len(signed) > LARGEST_MANIFEST_BYTES:
        raise ValueError(
            f"the manifest has {len(signed)} bytes, and at most {LARGEST_MANIFEST_BYTES} are read again; "
            "write fewer files, or put metadata in files"
        )
    return signed


def read_manifest(signed: bytes, *, key: SigningKey, run: str, step: int) -> Manifest:
    """Verify a manifest file, and only then parse it.

    Args:
        signed: Its bytes.
        key: The key that must have signed it.
        run: The run it must belong to, so that another job's cannot stand in for it.
        step: The step it must be of, so that an older one cannot stand in for it.

    Raises:
        RefusedCheckpointError: If anything is not as it must be.
        SigningKeyError: If the key cannot be used, which says nothing about the manifest.
    """
    if len(signed) > LARGEST_MANIFEST_BYTES:
        raise RefusedCheckpointError(
            "too_large", f"its manifest has more than {LARGEST_MANIFEST_BYTES} bytes"
        )
    header = _HEADER.match(signed[:_LONGEST_HEADER])
    if header is None:
        raise RefusedCheckpointError("malformed", "its manifest does not begin as one does")
    version, key_id, mac = int(header[1]), header[2], bytes.fromhex(header[3].decode("ascii"))
    body = signed[header.end() :]
    if not key.verify(_statement(version, key_id, body), mac):
        raise RefusedCheckpointError(
            "signature",
            f"its manifest says it was signed with key {_shown(key_id)}, and key {key.key_id!r} "
            "did not sign it as it is: it was changed, or another key is to be trusted (KeyRing)",
        )
    if version != _VERSION:
        raise RefusedCheckpointError(
            "version",
            f"its manifest has version {version}, and this library reads version {_VERSION}; load it with "
            "the library that wrote it",
        )
    manifest = _parse(body)
    if manifest.run != run:
        raise RefusedCheckpointError(
            "run",
            f"it belongs to run {manifest.run!r}, and this is run {run!r}; where it was moved on purpose, go "
            f"on with Checkpoints(..., run={manifest.run!r})",
        )
    if manifest.step != step:
        raise RefusedCheckpointError("step", f"it is of step {manifest.step}, and stands in for step {step}")
    return manifest


def parse_verified(signed: bytes) -> Manifest:
    """Parse a manifest file that rank 0 verified and sent: asking the key on each rank would prove no more.

    Raises:
        RefusedCheckpointError: If it is malformed.
    """
    header = _HEADER.match(signed[:_LONGEST_HEADER])
    if header is None:
        raise RefusedCheckpointError("malformed", "its manifest does not begin as one does")
    return _parse(signed[header.end() :])


def _shown(key_id: bytes) -> str:
    # Anybody may have written it, and messages go to logs, records and who reads them.
    name = key_id.decode("ascii")
    return repr(name) if _PLAIN_KEY_ID.fullmatch(name) else f"of an unusual name ({len(name)} characters)"


def _statement(version: int, key_id: bytes, body: bytes) -> bytes:
    digest = hashlib.sha256(body).hexdigest().encode("ascii")
    # The first words keep what else a shared key may sign apart from manifests.
    return b"%s%d\n%s\n%s\n" % (_MAGIC, version, key_id, digest)


def _parse(body: bytes) -> Manifest:
    try:
        said = json.loads(
            body.decode("ascii"), object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise _malformed(str(error)) from error
    if not isinstance(said, dict) or set(said) != _FIELDS:
        raise _malformed(f"it must have exactly {', '.join(sorted(_FIELDS))}")
    if check_step(said["step"]) is not None:
        raise _malformed(f"step {check_step(said['step'])}")
    if not _is_whole(said["world_size"], 1):
        raise _malformed("world_size must be a whole number of at least 1")
    if not isinstance(said["run"], str) or not isinstance(said["metadata"], dict):
        raise _malformed("run must be text and metadata an object")
    if not isinstance(said["attempt"], str) or _ATTEMPT.fullmatch(said["attempt"]) is None:
        raise _malformed("attempt must be 32 hexadecimal digits")
    if not isinstance(said["files"], list):
        raise _malformed("files must be a list")
    files = tuple(_file(entry, said["world_size"]) for entry in said["files"])
    clash = first_clash(file.name for file in files)
    if clash is not None:
        raise _malformed(f"the file {clash!r} comes twice, or is a folder as well")
    return Manifest(
        run=said["run"],
        step=said["step"],
        world_size=said["world_size"],
        attempt=said["attempt"],
        files=files,
        metadata=said["metadata"],
    )


def _file(entry: Any, world_size: int) -> SavedFile:
    if not isinstance(entry, dict) or set(entry) != _FILE_FIELDS:
        raise _malformed(f"a file must have exactly {', '.join(sorted(_FILE_FIELDS))}")
    name, digest = entry["name"], entry["sha256"]
    if not isinstance(name, str):
        raise _malformed("the name of a file must be text")
    wrong = check_name(name)
    if wrong is not None:
        raise _malformed(f"the file name {name!r} {wrong}")
    if not isinstance(digest, str) or _SHA256.fullmatch(digest) is None:
        raise _malformed(f"sha256 of {name!r} must be 64 hexadecimal digits")
    if not _is_whole(entry["size"], 0) or not _is_whole(entry["rank"], 0) or entry["rank"] >= world_size:
        raise _malformed(f"size and rank of {name!r} must be whole numbers, the rank one of the ranks'")
    return SavedFile(name, entry["size"], digest, entry["rank"])


def first_clash(names: Iterable[str]) -> str | None:
    """Return a name that comes twice or is also the folder of another, or None."""
    seen: set[str] = set()
    folders: set[str] = set()
    for name in names:
        parts = name.split("/")
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if name in seen or name in folders:
            return name
        both = above & seen
        if both:
            return min(both)
        seen.add(name)
        folders |= above
    return None


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _malformed(message: str) -> RefusedCheckpointError:
    return RefusedCheckpointError("malformed", f"its manifest is malformed: {message}")
