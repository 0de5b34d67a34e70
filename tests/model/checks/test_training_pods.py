"""Names that a training role is restricted to."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.checks.training_pods import bare_issuer, check_oidc_issuer, check_training_pods
from hyperpod_model.faults import UNKNOWN

ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"


@pytest.mark.parametrize(
    ("namespace", "service_account", "expected"),
    [
        ("hyperpod-ns-research", "trainer", []),
        ("a", "team.trainer-1", []),
        ("n" * 63, "s" * 253, []),
        (UNKNOWN, UNKNOWN, []),
        ("Research", "trainer", ["namespace: must be 1 to 63 lower-case letters, digits and hyphens inside"]),
        ("research.a", "trainer", ["namespace: must be 1 to 63 "]),
        ("n" * 64, "trainer", ["namespace: must be 1 to 63 "]),
        ("research*", "trainer", ["namespace: must be 1 to 63 "]),
        ("research", "trainer_1", ["service_account: must be 1 to 253 lower-case letters, digits and"]),
        ("research", "trainer*", ["service_account: must be 1 to 253 "]),
        ("research", "*", ["service_account: must be 1 to 253 "]),
        ("research", "a..b", ["service_account: must be 1 to 253 "]),
        ("research\n", "trainer\n", ["namespace: must be 1", "service_account: must be 1"]),
        ("research", "", ["service_account: must be 1 to 253 "]),
        (None, 3, ["namespace: must be 1 to 63 ", "service_account: must be 1 to 253 "]),
        ("research", "default", ["service_account: must not be 'default', which every pod"]),
    ],
)
def test_names(namespace: Any, service_account: Any, expected: list[str]) -> None:
    found = [
        str(fault) for fault in check_training_pods(namespace=namespace, service_account=service_account)
    ]
    assert len(found) == len(expected)
    for fault, beginning in zip(found, expected, strict=True):
        assert fault.startswith(beginning)


@pytest.mark.parametrize(
    "issuer",
    [
        ISSUER,
        f"https://{ISSUER}",
        "oidc.eks.cn-north-1.amazonaws.com.cn/id/0123456789ABCDEF0123456789ABCDEF",
        "oidc-eks.us-west-2.api.aws/id/0123456789ABCDEF0123456789ABCDEF",
        UNKNOWN,
    ],
)
def test_issuers(issuer: Any) -> None:
    assert check_oidc_issuer(issuer) == []


@pytest.mark.parametrize(
    "issuer",
    [
        f"{ISSUER}/",
        "oidc.eks.us-west-2.amazonaws.com/id/*",
        "oidc.eks.us-west-2.amazonaws.com",
        "token.actions.githubusercontent.com",
        "oidc.eks.us-west-2.amazonaws.com.example.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
        "oidc-eks.us-west-2.api.aws.example.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
        "oidc.eks.us-west-2.example.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
        f"https://https://{ISSUER}",
        f"{ISSUER}:sub",
        f"http://{ISSUER}",
        f"arn:aws:iam::111122223333:oidc-provider/{ISSUER}",
        "",
        None,
    ],
)
def test_no_issuers(issuer: Any) -> None:
    (fault,) = check_oidc_issuer(issuer)
    assert str(fault).startswith(
        "issuer: must be the OIDC issuer of an EKS cluster without https://, such as "
    )
    assert str(fault).endswith(f"got {issuer!r}")


def test_bare_issuer() -> None:
    assert bare_issuer(f"https://{ISSUER}") == bare_issuer(ISSUER) == ISSUER
