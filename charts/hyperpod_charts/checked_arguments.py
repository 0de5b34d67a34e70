"""What charts refuse before Kubernetes does, or where Kubernetes never would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hyperpod_model.catalog.jobs import LABEL_KEY, LABEL_VALUE, OBJECT_NAME, POD_NAME_CHARACTERS, JobOperator
from hyperpod_model.catalog.names import KUBERNETES_NAMESPACE, NameRule
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, dotted, refuse
from hyperpod_model.tokens import is_token
from hyperpod_policy.manifests.reading import quantity

_LARGEST: Final = 2**31 - 1


def known(value: Any) -> Any:
    """Return a value, or ``UNKNOWN`` if it holds a value of another tool that exists only at deployment.

    The CDK writes such values, its tokens, as text with a marker, or as numbers that nobody means.

    Args:
        value: The value.
    """
    return UNKNOWN if is_token(value) else value


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


def check_given(argument: str, value: Any) -> list[Fault]:
    """Check that there is a value.

    Args:
        argument: Name of the argument.
        value: What was given.
    """
    return [Fault((argument,), "is required, got None")] if value is None else []


def check_is(argument: str, value: Any, kind: type) -> list[Fault]:
    """Check that a value is an object of ours, and not what it could be made of.

    Args:
        argument: Name of the argument.
        value: What was given.
        kind: What it must be.
    """
    if isinstance(value, kind):
        return []
    return [Fault((argument,), f"must be a {kind.__name__}, got {value!r}; write {kind.__name__}(...)")]


def check_quantity(path: FaultPath, value: Any, *, whole: bool = False) -> list[Fault]:
    """Check an amount as Kubernetes writes it.

    Args:
        path: Path of the fault.
        value: What was given; tokens pass.
        whole: Whether parts of one are refused, as of devices. Default False.
    """
    if known(value) is UNKNOWN:
        return []
    if not isinstance(value, str):
        return [Fault(path, f"must be text, got {value!r}; write {str(value)!r}")]
    amount = quantity(value)
    if whole and (amount is None or amount < 0 or amount.denominator != 1):
        return [Fault(path, f"must be a whole number as text, such as '8', got {value!r}")]
    if amount is None or amount < 0:
        return [
            Fault(path, f"must be a quantity of Kubernetes, such as '8', '500m' or '64Gi', got {value!r}")
        ]
    return []


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
        *check_given("name", name),
        *check_name("name", name, name_rule),
        *check_name("namespace", namespace, KUBERNETES_NAMESPACE),
        *check_labels("labels", labels),
        *_check_texts("annotations", annotations),
    ]


def check_pod_names(name: Any, replicas: Any, operator: JobOperator) -> list[Fault]:
    """Check that the pods' names, which operators give to services as well, are not too long.

    Args:
        name: Name of the job; what is no text passes.
        replicas: Most pods of the job; what is no number passes.
        operator: Operator that runs it.
    """
    if not isinstance(known(name), str) or not isinstance(replicas, int) or replicas < 1:
        return []
    last = operator.pod_name(name, replicas - 1)
    too_long = len(last) - POD_NAME_CHARACTERS
    if too_long <= 0:
        return []
    message = (
        f"is too long: its last pod would be {last!r} with {len(last)} characters, and "
        f"{POD_NAME_CHARACTERS} are allowed; shorten it by {too_long}"
    )
    return [Fault(("name",), message)]


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


def check_at_least(
    argument: str, value: float | None, least: int, *, becomes_text: bool = False
) -> list[Fault]:
    """Check a number, which Kubernetes keeps in 32 bits.

    Args:
        argument: Name of the argument.
        value: What was given; None and tokens pass.
        least: Smallest number that is allowed.
        becomes_text: Whether it is written into a text or reckoned with, where a token would be taken for the
            number that stands for it. Default False.
    """
    if known(value) is UNKNOWN:
        if not becomes_text:
            return []
        return [Fault((argument,), "must be known before deployment, got a token; give a number")]
    if value is None:
        return []
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        return [Fault((argument,), f"must be a whole number of at least {least}, got {value!r}")]
    if value > _LARGEST:
        return [Fault((argument,), f"must be at most {_LARGEST}, got {value}")]
    return []


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
