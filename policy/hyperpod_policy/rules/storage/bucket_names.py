"""Nobody else can have the name of a guarded bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Expression, Parameter, Pseudo, Text, Unresolved

_NAMESPACE: Final = "account-regional"
_ALLOWED: Final = f"a name that CloudFormation makes, or BucketNamespace {_NAMESPACE}"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the name of each guarded bucket."""
    for guarded in guarded_buckets(template):
        bucket = guarded.bucket
        name, namespace = bucket.get("BucketName"), bucket.get("BucketNamespace", default="global")
        if name is None or namespace == _NAMESPACE:
            yield passed(bucket, "BucketName")
        elif isinstance(namespace, Unresolved) or not _is_told(name):
            found = f"{guarded.words} has the name {name}, which may be one that others can guess"
            yield undetermined(bucket, "BucketName", found=found, allowed=_ALLOWED)
        elif _is_unique(name):
            yield passed(bucket, "BucketName")
        else:
            found = f"{guarded.words} has a name that others can guess and claim, {name}"
            yield failed(bucket, "BucketName", found=found, allowed=_ALLOWED)


def _parts(name: Any) -> tuple[Any, ...]:
    return name.parts if isinstance(name, Text) else (name,)


def _is_told(name: Any) -> bool:
    """Whether all that makes the name is known by what it is, if not by its value."""
    return all(isinstance(part, str | Pseudo) or _is_of_stack_id(part) for part in _parts(name))


def _is_unique(name: Any) -> bool:
    return any(_is_of_stack_id(part) for part in _parts(name))


def _is_of_stack_id(part: Any) -> bool:
    """Whether a part holds some of the stack's id, which nobody can guess before there is the stack."""
    if isinstance(part, Pseudo):
        return part.name.startswith("AWS::StackId")
    if isinstance(part, Parameter) or not isinstance(part, Expression | tuple | Text):
        return False
    inner = (
        part.arguments if isinstance(part, Expression) else _parts(part) if isinstance(part, Text) else part
    )
    return any(map(_is_of_stack_id, inner)) if isinstance(inner, tuple) else _is_of_stack_id(inner)


RULE = Rule(
    id="BucketNames",
    title="nobody else can claim the name of a checkpoint or lifecycle-script bucket",
    severity="warning",
    why=(
        "Bucket names are one space for all accounts. Whoever guesses a name and takes it first, in a region "
        "to come or after a deletion, gets the checkpoints that jobs still write there, and hands nodes "
        "scripts that run as root."
    ),
    fix=(
        f"leave BucketName out, or set BucketNamespace to {_NAMESPACE} with a BucketNamePrefix; where the "
        "name must stay, let every role that uses it ask for s3:ResourceAccount"
    ),
    source="S3 user guide, bucket naming rules and account regional namespaces; bucket owner condition",
    check=check,
)
