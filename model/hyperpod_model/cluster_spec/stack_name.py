"""The CloudFormation stack of a cluster."""

from __future__ import annotations

from hyperpod_model.catalog import names
from hyperpod_model.faults import Fault, InvalidInputError

_PREFIX = "hyperpod-"


def stack_name_of(cluster_name: str) -> str:
    """Return the name of a cluster's CloudFormation stack, such as ``hyperpod-llm-train``.

    Every cluster name has a stack name of its own, so that a second cluster never replaces the first.

    Args:
        cluster_name: A legal name of a cluster. With the prefix it is also a legal name of a stack, which
            begins with a letter and has letters, digits and hyphens, 128 at most.

    Raises:
        InvalidInputError: If the name is not legal.
    """
    if not names.CLUSTER.matches(cluster_name):
        allowed = (
            f"{names.CLUSTER.in_words}, {names.CLUSTER.min_length} to {names.CLUSTER.max_length} characters"
        )
        raise InvalidInputError([Fault(("name",), f"must be {allowed}, got {cluster_name!r}")])
    return f"{_PREFIX}{cluster_name}"
