"""Which pods a training role is for."""

from __future__ import annotations

from typing import Any

from hyperpod_model.catalog.names import (
    KUBERNETES_NAMESPACE,
    KUBERNETES_SERVICE_ACCOUNT,
    OIDC_ISSUER,
    NameRule,
)
from hyperpod_model.checks.reading import is_unknown
from hyperpod_model.faults import Fault

_ANYBODYS_SERVICE_ACCOUNT = "default"


def check_training_pods(*, namespace: Any, service_account: Any) -> list[Fault]:
    """Check the namespace and the service account that pods take a role by.

    Source: Kubernetes, object names: a namespace is a DNS label, a service account a DNS subdomain.

    Args:
        namespace: Namespace of the pods. ``UNKNOWN`` passes.
        service_account: Service account of the pods. ``UNKNOWN`` passes.

    Returns:
        Faults with the paths ``namespace`` and ``service_account``.
    """
    faults = [
        *_check_name("namespace", namespace, KUBERNETES_NAMESPACE),
        *_check_name("service_account", service_account, KUBERNETES_SERVICE_ACCOUNT),
    ]
    if service_account == _ANYBODYS_SERVICE_ACCOUNT:
        faults.append(
            Fault(
                ("service_account",),
                "must not be 'default', which every pod of the namespace gets that names no other, so that "
                "each of them could write checkpoints; name one of the training pods' own",
            )
        )
    return faults


def check_oidc_issuer(issuer: Any) -> list[Fault]:
    """Check the OIDC issuer of an EKS cluster, as ``aws eks describe-cluster`` shows it.

    Args:
        issuer: With or without ``https://``. ``UNKNOWN`` passes.

    Returns:
        Faults with the path ``issuer``.
    """
    if is_unknown(issuer) or (isinstance(issuer, str) and OIDC_ISSUER.matches(bare_issuer(issuer))):
        return []
    return [Fault(("issuer",), f"must be {OIDC_ISSUER.in_words}, got {issuer!r}")]


def bare_issuer(issuer: str) -> str:
    """An issuer without ``https://``, as condition keys and provider ARNs have it."""
    return issuer.removeprefix("https://")


def _check_name(path: str, name: Any, rule: NameRule) -> list[Fault]:
    if is_unknown(name) or (isinstance(name, str) and rule.matches(name)):
        return []
    return [Fault((path,), f"must be {rule.with_length}, got {name!r}")]
