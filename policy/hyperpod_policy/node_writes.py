"""What the nodes' role may write."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hyperpod_model.catalog.iam import (
    CLUSTER_INSTANCE_MANAGED_POLICY,
    S3_BUCKET_CONFIGURATION_ACTIONS,
    S3_OBJECT_WRITE_ACTIONS,
)
from hyperpod_policy.bucket_locks import STRANGER_CONTEXT
from hyperpod_policy.buckets import GuardedBucket, bucket_arn, objects_arn, policy_statements
from hyperpod_policy.clusters import Used
from hyperpod_policy.iam.evaluation import Request, allows, refused_actions
from hyperpod_policy.identities import arn_of, permissions, role_of, session_id
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template

_SHOWN: Final = 4


def judge_node_writes(template: Template, guarded: GuardedBucket, used: Used, *, allowed: str) -> Verdict:
    """Judge whether an execution role can change a bucket or its objects.

    Args:
        template: Template under review.
        guarded: The bucket.
        used: The execution role, as the cluster names it.
        allowed: What it may do instead, for messages.
    """
    bucket = guarded.bucket
    policy, complete = policy_statements(template, bucket)
    role = role_of(template, used.value)
    principal = template.spelled(used.value if role is None else arn_of(role))
    objects, itself = objects_arn(template, bucket), bucket_arn(template, bucket)
    context = {key: value for key, value in STRANGER_CONTEXT.items() if key != "aws:userid"}
    if role is not None:
        context["aws:userid"] = session_id(role)
    open_requests: list[Request] = []
    for resource, actions in (
        (objects, S3_OBJECT_WRITE_ACTIONS),
        (itself, S3_BUCKET_CONFIGURATION_ACTIONS),
    ):
        request = Request(actions[0], resource, principal, context)
        refusals = refused_actions(policy, request, actions)
        open_requests += [replace(request, action=action) for action, no in refusals.items() if not no]
    if not open_requests:
        return passed(bucket)
    if role is None:
        return undetermined(
            used.cluster,
            *used.path,
            found=(
                f"role {used.value}, whose policies are not in this template, is not denied writes to "
                f"{guarded.words}"
            ),
            allowed=allowed,
        )
    held = permissions(template, role)
    judged = [(request, held.permit(request, policy)) for request in open_requests]
    certain = [request for request, answer in judged if answer]
    unclear = [request for request, answer in judged if answer is None]
    if certain:
        grant = next(
            statement
            for statement in (*held.statements, *policy)
            if any(allows(statement, request) for request in certain)
        )
        names = [request.action for request in certain]
        more = len(names) - _SHOWN
        found = f"lets {role.logical_id} {', '.join(names[:_SHOWN])}" + (
            f" and {more} more" if more > 0 else ""
        )
        return failed(grant.holder, *grant.path, found=f"{found} on {guarded.words}", allowed=allowed)
    others = [name for name, _, _ in held.aws_managed if name != CLUSTER_INSTANCE_MANAGED_POLICY]
    if unclear or others or held.unknown or not complete:
        source = others[0] if others else (held.unknown[0][0] if held.unknown else "unresolved values")
        return undetermined(
            role, found=f"whether it may write {guarded.words} depends on {source}", allowed=allowed
        )
    return passed(bucket)
