"""KMS of the double: moto's, which would store the policy of a key whoever it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.kms.models import KmsBackend

from aws_double.patching import before
from aws_double.permissions.principals import missing_principals


def install() -> None:
    """Patch moto."""
    before(KmsBackend, "create_key", _check_policy)
    before(KmsBackend, "put_key_policy", _check_policy)


def _check_policy(_backend: Any, asked: Mapping[str, Any]) -> None:
    missing = missing_principals(json.loads(asked["policy"])) if asked["policy"] else []
    if missing:
        raise JsonRESTError(
            "MalformedPolicyDocumentException",
            f"Policy contains a statement with one or more invalid principals: {', '.join(missing)}",
        )
