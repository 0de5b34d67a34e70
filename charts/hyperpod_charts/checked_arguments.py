"""What charts refuse before Kubernetes does, or where Kubernetes never would."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_model.catalog.jobs import LABEL_KEY, LABEL_VALUE, OBJECT_NAME
from hyperpod_model.catalog.names import KUBERNETES_NAMESPACE, NameRule
from hyperpod_model.faults import UNKNOWN, Fault, dotted, refuse

_TOKEN = re.compile(r"\$\{Token\[", re.IGNORECASE)


def known(value: Any) -> Any:
    """Return a value, or ``UNKNOWN`` if it holds a value of another tool that exists only at deployment.

    The CDK writes such values, its tokens, as text with a marker.

    Args:
        value: The value.
    """
    return UNKNOWN if isinstance(value, str) and _TOKEN.search(value) else value


def refuse_arguments(owner: str, faults: Iterable[Fault]) -> None:
    """Raise if there is any fault.

    Args:
        owner: What was being made, such as ``PyTorchJob 'train'``.
        faults: Faults whose path is that of the argument.

    Raises:
        InvalidInputError: With all faults, as ``owner: argument: message``.
    """
    refuse(
        fault._replace(path=(owner,), message=f"{dotted(fault.path)}: {fault.message}") for fault in faults
    )


def check_name(argument: str, value: Any, rule: NameRule = OBJECT_NAME) -> list[Fault]:
    """Check a name.

    Args:
        argument: Name of the argument.
        value: What was given; tokens and None pass.
        rule: What is allowed. By default what most Kubernetes objects may be called.
    """
    if value is None or known(value) is UNKNOWN:
        return []
    if isinstance(value, str) and rule.matches(value):
        return []
    return [Fault((argument,), f"must be {rule.with_length}, got {value!r}")]


def check_metadata(
    *,
    name: Any,
    namespace: Any,
    labels: Mapping[str, str] | None,
    annotations: Mapping[str, str] | None,
    name_rule: NameRule = OBJECT_NAME,
) -> list[Fault]:
    """Check the metadata of a Kubernetes object.

    Args:
        name: Its name.
        namespace: Its namespace, None for the chart's or for none.
        labels: Its labels.
        annotations: Its annotations.
        name_rule: What it may be called.
    """
    return [
        *check_name("name", name, name_rule),
        *check_name("namespace", namespace, KUBERNETES_NAMESPACE),
        *check_labels("labels", labels),
        *_check_texts("annotations", annotations),
    ]


def check_labels(argument: str, labels: Mapping[str, str] | None, *, required: bool = False) -> list[Fault]:
    """Check labels or a selector.

    Args:
        argument: Name of the argument.
        labels: The labels, or None.
        required: Whether there must be any: an empty selector selects everything. Default False.
    """
    if required and not labels:
        return [Fault((argument,), "is empty, which would select every pod of the namespace; give labels")]
    faults = _check_texts(argument, labels)
    for key, value in ({} if labels is None or faults else labels).items():
        if not LABEL_KEY.matches(key):
            faults.append(Fault((argument, key), f"must be {LABEL_KEY.in_words}, got {key!r}"))
        if known(value) is not UNKNOWN and not LABEL_VALUE.matches(value):
            faults.append(Fault((argument, key), f"must be at most 63 {LABEL_VALUE.in_words}, got {value!r}"))
    return faults


def check_at_least(argument: str, value: int | None, least: int) -> list[Fault]:
    """Check a number.

    Args:
        argument: Name of the argument.
        value: What was given; None passes.
        least: Smallest number that is allowed.
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        return []
    return [Fault((argument,), f"must be a whole number of at least {least}, got {value!r}")]


def check_choice(argument: str, value: str | None, allowed: Iterable[str]) -> list[Fault]:
    """Check one of several words. Case counts: Kubernetes knows no other spelling.

    Args:
        argument: Name of the argument.
        value: What was given; None passes.
        allowed: All that is allowed.
    """
    words = tuple(allowed)
    if value is None or value in words:
        return []
    return [Fault((argument,), f"must be one of {', '.join(words)}, got {value!r}")]


def _check_texts(argument: str, texts: Mapping[str, str] | None) -> list[Fault]:
    return [
        Fault((argument, key), f"must be text, got {value!r}; write str({value!r})")
        for key, value in ({} if texts is None else texts).items()
        if not isinstance(value, str)
    ]
