from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from botocore.stub import Stubber
from moto import mock_aws

from hyperpod_lifecycle.training.checkpoint_errors import NothingVerifiesError, SigningKeyError
from hyperpod_lifecycle.training.signing_keys import KeyRing, KmsKey, LocalKey, UnsignedCheckpoints

from .conftest import directory_place, save

ARN = "arn:aws:kms:us-west-2:111122223333:key/0123-4567"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    LocalKey.generate(path)
    return path


@pytest.fixture
def kms() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client(
            "kms", region_name="us-west-2", aws_access_key_id="testing", aws_secret_access_key="testing"
        )


def test_key_file(key_file: Path) -> None:
    key = LocalKey.from_file(key_file)
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert key.sign(b"data") == hmac.digest(bytes.fromhex(key_file.read_text().strip()), b"data", "sha256")
    assert key.verify(b"data", key.sign(b"data"))
    assert not key.verify(b"data", LocalKey(b"o" * 32).sign(b"data"))
    assert not key.verify(b"data", b"")
    assert key_file.read_text().strip() not in f"{key!r} {key.key_id}"
    with pytest.raises(FileExistsError):
        LocalKey.generate(key_file)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o666])
def test_key_file_open_to_others(key_file: Path, mode: int) -> None:
    key_file.chmod(mode)
    with pytest.raises(SigningKeyError, match=rf"open to others \(mode {mode:04o}\): .* run chmod 600"):
        LocalKey.from_file(key_file)


def test_key_file_that_its_group_reads_by_name(key_file: Path) -> None:
    key_file.chmod(0o440)
    assert LocalKey.from_file(key_file, allow_group_read=True)
    key_file.chmod(0o444)
    with pytest.raises(SigningKeyError, match="open to others"):
        LocalKey.from_file(key_file, allow_group_read=True)


def test_key_file_of_another_user(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = key_file.stat().st_uid + 4711
    monkeypatch.setattr(os, "geteuid", lambda: other)
    if key_file.stat().st_uid == 0:
        assert LocalKey.from_file(key_file), "root is trusted"
        os.chown(key_file, 4712, -1)
    with pytest.raises(SigningKeyError, match="who can change it; it must belong to this process's user"):
        LocalKey.from_file(key_file)


def test_key_behind_a_link_as_kubernetes_mounts_it(key_file: Path) -> None:
    link = key_file.with_name("link")
    link.symlink_to(key_file.name)
    assert LocalKey.from_file(link).key_id == LocalKey.from_file(key_file).key_id
    key_file.chmod(0o644)
    with pytest.raises(SigningKeyError, match="open to others"):
        LocalKey.from_file(link)


@pytest.mark.parametrize(
    "content", ["", "hunter2", "zz" * 32, "ab" * 32 + "a", "ab" * 31, "ab" * 32 + "\nab", "é" * 64]
)
def test_no_key(key_file: Path, content: str) -> None:
    key_file.write_text(content)
    with pytest.raises(
        SigningKeyError, match=r"must be hexadecimal digits|at least 32 random bytes"
    ) as error:
        LocalKey.from_file(key_file)
    assert content not in str(error.value).replace(str(key_file), "") or not content


def test_no_key_file(tmp_path: Path) -> None:
    with pytest.raises(SigningKeyError, match=r"cannot read the signing key .*No such file"):
        LocalKey.from_file(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(SigningKeyError, match="must be a regular file"):
        LocalKey.from_file(tmp_path / "pipe")


def test_windows_line_end(key_file: Path) -> None:
    key_id = LocalKey.from_file(key_file).key_id
    key_file.write_bytes(key_file.read_bytes().strip() + b"\r\n")
    assert LocalKey.from_file(key_file).key_id == key_id


def test_unsigned_is_a_checksum_only() -> None:
    key = UnsignedCheckpoints()
    assert key.sign(b"data") == hashlib.sha256(b"data").digest()
    assert key.verify(b"data", key.sign(b"data"))
    assert not key.verify(b"other", key.sign(b"data"))


def test_kms_signs_and_verifies(kms: Any, tmp_path: Path) -> None:
    made = [
        kms.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")["KeyMetadata"]["Arn"] for _ in "ab"
    ]
    key, other = (KmsKey(arn, client=kms) for arn in made)
    place = directory_place(tmp_path / "run")
    saved = save(place.open(key=key), 1)
    assert place.open(key=key).latest_complete() == saved
    assert place.open(key=KeyRing(other, key)).latest_complete() == saved
    with pytest.raises(NothingVerifiesError):
        place.open(key=other).latest_complete()
    assert place.told("refused")[0].reason == "signature"


def test_kms_takes_4096_bytes(kms: Any) -> None:
    key = KmsKey(ARN, client=kms)
    for ask in (lambda: key.sign(b"x" * 4097), lambda: key.verify(b"x" * 4097, b"m" * 32)):
        with pytest.raises(SigningKeyError, match="at most 4096 bytes, got 4097; sign a digest instead"):
            ask()
    assert key.verify(b"data", b"short") is False, "no MAC of another length can be right"


@pytest.mark.parametrize(
    "alias", ["alias/checkpoints", "arn:aws:kms:us-west-2:111122223333:alias/checkpoints"]
)
def test_kms_alias_is_refused(alias: str) -> None:
    with pytest.raises(SigningKeyError, match="an alias can be moved to another key, which readers"):
        KmsKey(alias)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("AccessDeniedException", "CheckpointSigningKey.grant_sign or grant_verify"),
        ("DisabledException", "enable the key"),
        ("KMSInvalidStateException", "cancel the key's deletion"),
        ("NotFoundException", "check account, region and id"),
        ("ThrottlingException", "ask for a higher quota"),
        ("InvalidKeyUsageException", "must be of usage GENERATE_VERIFY_MAC"),
        ("KMSInternalException", "try again when KMS answers"),
    ],
)
@pytest.mark.parametrize("operation", ["generate_mac", "verify_mac"])
def test_kms_refusals_are_no_verdict(kms: Any, operation: str, code: str, remedy: str) -> None:
    key = KmsKey(ARN, client=kms)
    with Stubber(kms) as stubber:
        stubber.add_client_error(operation, service_error_code=code, service_message="says KMS")
        with pytest.raises(SigningKeyError, match=rf"\({code}\): .*nothing is signed or loaded.*{remedy}"):
            key.sign(b"data") if operation == "generate_mac" else key.verify(b"data", b"m" * 32)


def test_kms_says_no(kms: Any) -> None:
    with Stubber(kms) as stubber:
        stubber.add_client_error("verify_mac", service_error_code="KMSInvalidMacException")
        assert KmsKey(ARN, client=kms).verify(b"data", b"m" * 32) is False


@pytest.mark.parametrize(
    "outage",
    [EndpointConnectionError(endpoint_url="https://kms"), ReadTimeoutError(endpoint_url="https://kms")],
)
def test_kms_outage(tmp_path: Path, outage: Exception) -> None:
    class Out:
        def __getattr__(self, name: str) -> Any:
            def request(**arguments: Any) -> Any:
                raise outage

            return request

    place = directory_place(tmp_path / "run")
    save(place.open(), 1)
    for start_over in (False, True):
        with pytest.raises(SigningKeyError, match="nothing is signed or loaded without it; try again"):
            place.open(key=KmsKey(ARN, client=Out())).latest_complete(start_over=start_over)
    assert place.told("refused") == []


def test_kms_error_of_another_kind_is_not_taken_for_a_wrong_mac(kms: Any) -> None:
    with Stubber(kms) as stubber:
        stubber.add_client_error("generate_mac", service_error_code="KMSInvalidMacException")
        with pytest.raises(SigningKeyError) as error:
            KmsKey(ARN, client=kms).sign(b"data")
    assert isinstance(error.value.__cause__, ClientError)


def test_kms_region_is_that_of_the_arn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert KmsKey(ARN)._new_client().meta.region_name == "us-west-2"
    assert KmsKey("0123-4567")._new_client().meta.region_name == "eu-west-1"
