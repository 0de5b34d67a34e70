"""Roles name the account of the buckets that they use by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.iam import S3_OBJECT_READ_ACTIONS, S3_OBJECT_WRITE_ACTIONS
from hyperpod_policy.bucket_claims import can_be_claimed, can_be_guessed
from hyperpod_policy.buckets import bucket_in_pattern
from hyperpod_policy.clusters import distinct, execution_roles
from hyperpod_policy.iam.conditions import holds
from hyperpod_policy.iam.context import ANOTHER_ACCOUNT
from hyperpod_policy.iam.evaluation import Request, refused
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.identities import arn_of, permissions, role_of
from hyperpod_policy.pod_roles import pod_roles
from hyperpod_policy.privileges import covers
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Pseudo

_ALLOWED: Final = "StringEquals on s3:ResourceAccount with the account that owns the bucket"
_ACTIONS: Final = (*S3_OBJECT_READ_ACTIONS, *S3_OBJECT_WRITE_ACTIONS)
_CONTEXT: Final = {
    "aws:principalaccount": Pseudo("AWS::AccountId"),
    "aws:resourceaccount": ANOTHER_ACCOUNT,
    "s3:resourceaccount": ANOTHER_ACCOUNT,
    "aws:resourceorgid": ANOTHER_ACCOUNT,
}
"""What a request carries to a bucket that somebody else made under the expected name."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge what the roles of nodes and pods may do with objects in buckets of a known name."""
    roles = {role.key: role for role in (*_node_roles(template), *pod_roles(template))}
    for role in roles.values():
        statements = permissions(template, role).statements
        verdicts = [
            verdict
            for statement in statements
            if statement.effect == "Allow" and not statement.not_action and not statement.not_resource
            for verdict in _judge(template, role, statement, statements)
        ]
        yield from verdicts if verdicts else [passed(role)]


def _node_roles(template: Template) -> Iterator[Resource]:
    for used, _ in distinct(execution_roles(template)):
        role = role_of(template, used.value)
        if role is not None:
            yield role


def _judge(
    template: Template, role: Resource, statement: Statement, statements: list[Statement]
) -> Iterator[Verdict]:
    action = next((action for action in _ACTIONS if covers(statement, action)), None)
    if action is None or holds(statement.conditions, _CONTEXT, free=True) is False:
        return
    for resource in statement.resources:
        name, bucket = bucket_in_pattern(template, resource)
        claimed = can_be_guessed(name) if bucket is None else can_be_claimed(bucket)
        if name is None or claimed is False:
            continue
        request = Request(action, resource, arn_of(role), _CONTEXT)
        if refused(statements, request):
            continue
        found = f"allows {action} in bucket {name}, whoever owns it"
        answer = failed if claimed else undetermined
        yield answer(statement.holder, *statement.path, found=found, allowed=_ALLOWED)
        return


RULE = Rule(
    id="BucketOwnerPins",
    title="roles of nodes and pods name the account of the buckets that they use by name",
    severity="warning",
    why=(
        "A bucket that was deleted, or does not exist yet in this region, can be made by anybody under the "
        "same name. Without the owner's account in the condition nodes and jobs read code from it and write "
        "checkpoints to it, and nothing fails."
    ),
    fix=(
        "add StringEquals s3:ResourceAccount with the owner's account id to the statement; grants of "
        "CheckpointBucket and LifecycleScripts do"
    ),
    source="S3 user guide, verifying bucket ownership with the bucket owner condition; s3:ResourceAccount",
    check=check,
)
