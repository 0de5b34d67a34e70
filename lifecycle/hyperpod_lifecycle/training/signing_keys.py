"""Keys that say who wrote a checkpoint."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Callable
from typing import Any, Protocol

from hyperpod_lifecycle.training.checkpoint_errors import SigningKeyError

_LEAST_SECRET_BYTES = 32
_MOST_KEY_FILE_BYTES = 4096
_KEY_FILE = re.compile(rb"(?:[0-9a-fA-F]{2})+")
_KMS_MOST_MESSAGE_BYTES = 4096
_KMS_ALGORITHM = "HMAC_SHA_256"
_KMS_ATTEMPTS = 10
_ALIAS = re.compile(r"(arn:[^:]+:kms:[^:]*:[^:]*:)?alias/")


class SigningKey(Protocol):
    """Signs statements about checkpoints, and tells its own signatures from others.

    Attributes:
        key_id: Name of the key, printable ASCII without spaces. It is written beside the
            signature.
    """

    @property
    def key_id(self) -> str:
        """Name of the key."""

    def sign(self, data: bytes) -> bytes:
        """Return the MAC of at most 4096 bytes.

        Raises:
            SigningKeyError: If the key cannot be used.
        """

    def verify(self, data: bytes, mac: bytes) -> bool:
        """Say whether the MAC is this key's for the data, in constant time.

        Raises:
            SigningKeyError: If the key cannot be used, which says nothing about the MAC.
        """


class LocalKey:
    """A secret that the ranks share in a file or a variable: HMAC-SHA-256.

    Whoever can read the secret can sign. A reader of checkpoints who must not write them needs
    :class:`KmsKey` instead.

    Args:
        secret: At least 32 random bytes.
        key_id: Name of the key. By default ``local:`` and 16 digits that follow from the secret.

    Raises:
        SigningKeyError: If the secret is too short.
    """

    def __init__(self, secret: bytes, *, key_id: str | None = None) -> None:
        if len(secret) < _LEAST_SECRET_BYTES:
            raise SigningKeyError(
                f"a signing key needs at least {_LEAST_SECRET_BYTES} random bytes, got {len(secret)}; make "
                "one with LocalKey.generate"
            )
        self._secret = bytes(secret)
        derived = hmac.digest(self._secret, b"hyperpod-checkpoint-key-id", "sha256").hex()[:16]
        self._key_id = f"local:{derived}" if key_id is None else key_id

    @property
    def key_id(self) -> str:
        """Name of the key."""
        return self._key_id

    @classmethod
    def generate(cls, path: str | os.PathLike[str]) -> LocalKey:
        """Make a new key in a file that only its owner can read.

        Args:
            path: A file that does not exist yet, outside the checkpoints' own location.

        Raises:
            FileExistsError: If it exists: a new key in its place would orphan what the old one signed.
        """
        secret = secrets.token_bytes(_LEAST_SECRET_BYTES)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{secret.hex()}\n")
            stream.flush()
            os.fsync(stream.fileno())
        return cls(secret)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], *, key_id: str | None = None, allow_group_read: bool = False
    ) -> LocalKey:
        """Read a key of hexadecimal digits from a file that nobody else can read or change.

        Args:
            path: The file, 64 or more hexadecimal digits. A symbolic link is followed, as Kubernetes mounts
                secrets through one; what counts is the file it leads to.
            key_id: As in the constructor.
            allow_group_read: Accept a file that its group can read. Kubernetes gives a secret's file to the
                group ``fsGroup``. Off by default.

        Raises:
            SigningKeyError: If the file is missing, open to others, owned by another user or no key.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise SigningKeyError(
                f"cannot read the signing key {os.fspath(path)}: {error.strerror}; checkpoints are not used "
                "without one"
            ) from error
        with os.fdopen(descriptor, "rb") as stream:
            _check_key_file(os.fspath(path), os.fstat(stream.fileno()), allow_group_read=allow_group_read)
            text = stream.read(_MOST_KEY_FILE_BYTES + 1)
        digits = text.strip()
        if _KEY_FILE.fullmatch(digits) is None:
            raise SigningKeyError(
                f"the signing key {os.fspath(path)} must be hexadecimal digits, two for each byte; make one "
                "with LocalKey.generate"
            )
        return cls(bytes.fromhex(digits.decode("ascii")), key_id=key_id)

    def sign(self, data: bytes) -> bytes:
        """Return the HMAC-SHA-256 of the data."""
        return hmac.digest(self._secret, data, "sha256")

    def verify(self, data: bytes, mac: bytes) -> bool:
        """Say whether the MAC is this key's for the data."""
        return hmac.compare_digest(self.sign(data), mac)

    def __repr__(self) -> str:
        return f"LocalKey(key_id={self._key_id!r})"


class KmsKey:
    """An HMAC key in KMS that never leaves it: writers may GenerateMac, readers VerifyMac only.

    Each signature and each check is one request, made by rank 0 only. Without an answer nothing is signed or
    loaded.

    Args:
        key_id: ARN or id of an ``HMAC_256`` key. An alias is refused: whoever may move it could choose the
            key that readers trust.
        region: Region of the key. By default that of an ARN, else boto3's.
        client: A KMS client of boto3. By default one is made at first use, with 10 attempts.

    Raises:
        SigningKeyError: If the key is named by an alias.
    """

    def __init__(self, key_id: str, *, region: str | None = None, client: Any = None) -> None:
        if _ALIAS.match(key_id):
            raise SigningKeyError(
                f"a signing key must be named by its ARN or id, got the alias {key_id!r}; an alias can be "
                "moved to another key, which readers would then trust"
            )
        parts = key_id.split(":")
        self._key_id = key_id
        self._region = parts[3] if region is None and len(parts) > 3 else region
        self._client = client

    @property
    def key_id(self) -> str:
        """ARN or id of the key."""
        return self._key_id

    def sign(self, data: bytes) -> bytes:
        """Have KMS make the HMAC-SHA-256 of at most 4096 bytes."""
        _check_message(data)
        answer = self._ask(
            "GenerateMac",
            lambda client: client.generate_mac(KeyId=self._key_id, Message=data, MacAlgorithm=_KMS_ALGORITHM),
        )
        return bytes(answer["Mac"])

    def verify(self, data: bytes, mac: bytes) -> bool:
        """Have KMS say whether the MAC is this key's for the data."""
        _check_message(data)
        if len(mac) != hashlib.sha256().digest_size:
            return False
        answer = self._ask(
            "VerifyMac",
            lambda client: client.verify_mac(
                KeyId=self._key_id, Message=data, Mac=mac, MacAlgorithm=_KMS_ALGORITHM
            ),
        )
        return answer is not None and answer["MacValid"] is True

    def _ask(self, operation: str, request: Callable[[Any], Any]) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        if self._client is None:
            self._client = self._new_client()
        try:
            return request(self._client)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            # Raised for a wrong MAC, and not for a wrong key, a disabled key or a denied request.
            if operation == "VerifyMac" and code == "KMSInvalidMacException":
                return None
            raise SigningKeyError(self._words(operation, code, str(error))) from error
        except BotoCoreError as error:
            raise SigningKeyError(self._words(operation, type(error).__name__, str(error))) from error

    def _new_client(self) -> Any:
        import boto3
        from botocore.config import Config

        retries: Any = {"mode": "standard", "total_max_attempts": _KMS_ATTEMPTS}
        return boto3.client("kms", region_name=self._region, config=Config(retries=retries))

    def _words(self, operation: str, code: str, message: str) -> str:
        remedy = _KMS_REMEDIES.get(code, "try again when KMS answers")
        return (
            f"KMS refused or did not answer {operation} with key {self._key_id!r} ({code or 'no code'}): "
            f"{message}; nothing is signed or loaded without it; {remedy}"
        )

    def __repr__(self) -> str:
        return f"KmsKey({self._key_id!r})"


_KMS_REMEDIES = {
    "AccessDeniedException": "grant the role with CheckpointSigningKey.grant_sign or grant_verify",
    "DisabledException": "enable the key",
    "KMSInvalidStateException": "cancel the key's deletion or enable the key",
    "NotFoundException": "check account, region and id of the key",
    "InvalidKeyUsageException": "the key must be of usage GENERATE_VERIFY_MAC and spec HMAC_256",
    "ThrottlingException": "KMS limits requests per account and region: ask for a higher quota",
    "LimitExceededException": "KMS limits requests per account and region: ask for a higher quota",
    "NoCredentialsError": "give the process credentials of a role",
}


class KeyRing:
    """One key that signs and others that are still trusted: how to move from one key to the next.

    Args:
        signing_key: Signs what is saved, and is trusted.
        trusted: Keys whose checkpoints are loaded as well. Drop them once retention removed what they signed.
    """

    def __init__(self, signing_key: SigningKey, *trusted: SigningKey) -> None:
        self._signing_key = signing_key
        self._trusted = (signing_key, *trusted)

    @property
    def key_id(self) -> str:
        """Name of the key that signs."""
        return self._signing_key.key_id

    def sign(self, data: bytes) -> bytes:
        """Sign with the first key."""
        return self._signing_key.sign(data)

    @property
    def trusted(self) -> tuple[SigningKey, ...]:
        """All keys whose checkpoints are loaded."""
        return self._trusted

    def verify(self, data: bytes, mac: bytes) -> bool:
        """Say whether the MAC is any of the keys'."""
        return any(key.verify(data, mac) for key in self._trusted)


class UnsignedCheckpoints:
    """No key at all, said by name: finds damage, and does not find an attacker.

    Whoever can write the checkpoints then runs code on the nodes that load them. Each use is reported as an
    event ``unsigned``.
    """

    key_id = "unsigned"

    def sign(self, data: bytes) -> bytes:
        """Return a checksum, which everybody can make."""
        return hashlib.sha256(data).digest()

    def verify(self, data: bytes, mac: bytes) -> bool:
        """Say whether the checksum is right."""
        return hmac.compare_digest(self.sign(data), mac)


def trusts_unsigned(key: SigningKey) -> bool:
    """Say whether a key is :class:`UnsignedCheckpoints`, or a ring with it: one open door opens them all."""
    if isinstance(key, KeyRing):
        return any(trusts_unsigned(one) for one in key.trusted)
    return isinstance(key, UnsignedCheckpoints)


def _check_message(data: bytes) -> None:
    if len(data) > _KMS_MOST_MESSAGE_BYTES:
        raise SigningKeyError(
            f"KMS makes MACs of at most {_KMS_MOST_MESSAGE_BYTES} bytes, got {len(data)}; sign a digest "
            "instead"
        )


def _check_key_file(path: str, status: os.stat_result, *, allow_group_read: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SigningKeyError(f"the signing key {path} must be a regular file")
    tolerated = stat.S_IRGRP if allow_group_read else 0
    open_to_others = stat.S_IMODE(status.st_mode) & 0o077 & ~tolerated
    if open_to_others:
        group = "" if allow_group_read else ", or say allow_group_read=True where only its group can read it"
        raise SigningKeyError(
            f"the signing key {path} is open to others (mode {stat.S_IMODE(status.st_mode):04o}): whoever "
            f"reads it can sign; run chmod 600 on it and change the key if others had it{group}"
        )
    if status.st_uid not in (os.geteuid(), 0):
        raise SigningKeyError(
            f"the signing key {path} belongs to user id {status.st_uid}, who can change it; it must belong "
            f"to this process's user ({os.geteuid()}) or root"
        )
