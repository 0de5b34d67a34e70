"""How nodes get at the script bucket through functions whose roles write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.control import FUNCTION_CHANGE_ACTIONS, FUNCTION_INVOKE_ACTIONS
from hyperpod_model.catalog.iam import S3_OBJECT_WRITE_ACTIONS
from hyperpod_policy.bucket_locks import STRANGER_CONTEXT
from hyperpod_policy.buckets import GuardedBucket, objects_arn, policy_statements
from hyperpod_policy.clusters import Used
from hyperpod_policy.iam.evaluation import Request, allows
from hyperpod_policy.identities import arn_of, permissions, role_of
from hyperpod_policy.rule import Verdict, failed
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference

_FUNCTION: Final = "AWS::Lambda::Function"
_UPLOAD: Final = "Custom::CDKBucketDeployment"


def judge_detours(
    template: Template, guarded: GuardedBucket, used: Used, *, allowed: str
) -> Iterator[Verdict]:
    """Yield what lets an execution role change, or tell what to do, a function that writes a bucket.

    Args:
        template: Template under review.
        guarded: The bucket.
        used: The execution role, as the cluster names it.
        allowed: What it may do instead, for messages.
    """
    role = role_of(template, used.value)
    if role is None:
        return
    held = permissions(template, role)
    for function in template.of_type(_FUNCTION):
        arn = Reference(function.key, "Arn")
        for action in (*FUNCTION_CHANGE_ACTIONS, *FUNCTION_INVOKE_ACTIONS):
            request = Request(action, arn, template.spelled(arn_of(role)), STRANGER_CONTEXT)
            if not held.permit(request):
                continue
            changes = action in FUNCTION_CHANGE_ACTIONS
            if not _writes(template, guarded, function) or not (changes or _is_told(template, guarded, arn)):
                continue
            grant = next(statement for statement in held.statements if allows(statement, request))
            does = "changes" if changes else "tells what to do"
            found = (
                f"lets {role.logical_id} {action} on {function.logical_id}: who {does} that function writes "
                f"{guarded.words}"
            )
            yield failed(grant.holder, *grant.path, found=found, allowed=allowed)
            break


def _writes(template: Template, guarded: GuardedBucket, function: Resource) -> bool:
    """Whether a function certainly may write a bucket with its role."""
    role = role_of(template, function.get("Role"))
    if role is None:
        return False
    policy, _ = policy_statements(template, guarded.bucket)
    objects = objects_arn(template, guarded.bucket)
    held = permissions(template, role)
    return any(
        held.permit(Request(action, objects, template.spelled(arn_of(role)), STRANGER_CONTEXT), policy)
        for action in S3_OBJECT_WRITE_ACTIONS
    )


def _is_told(template: Template, guarded: GuardedBucket, arn: Reference) -> bool:
    """Whether a function writes what those say who call it."""
    return any(
        upload.get("ServiceToken") == arn
        and template.resource(upload.get("DestinationBucketName")) is guarded.bucket
        for upload in template.of_type(_UPLOAD)
    )
