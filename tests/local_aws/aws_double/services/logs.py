"""CloudWatch Logs of the double: moto's, which would take any key for a log group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.logs.models import LogsBackend

from aws_double import ACCOUNT
from aws_double.patching import before
from aws_double.permissions.principals import service
from aws_double.permissions.verdicts import general_keys, judge_other

_NEEDED = ("kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:GenerateDataKey", "kms:DescribeKey")


def install() -> None:
    """Patch moto."""
    before(LogsBackend, "create_log_group", _check_key)


def _check_key(backend: Any, asked: Mapping[str, Any]) -> None:
    """Refuse a key that does not let CloudWatch Logs encrypt this group."""
    key = asked["kwargs"].get("kmsKeyId")
    if key is None:
        return
    region, name = backend.region_name, asked["log_group_name"]
    keys = {
        **general_keys(),
        "kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:{region}:{ACCOUNT}:log-group:{name}",
        "aws:SourceAccount": ACCOUNT,
    }
    for action in _NEEDED:
        decision = judge_other(service(f"logs.{region}.amazonaws.com"), action, key, keys)
        if not decision.allowed:
            raise JsonRESTError(
                "InvalidParameterException",
                "The specified KMS Key Id could not be found, is not enabled, or "
                f"does not let CloudWatch Logs use it: {decision.reason}",
            )
