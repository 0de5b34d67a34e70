"""Functions whose roles get somewhere: who invokes them, who changes them, and where their code is from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.control import FUNCTION_CHANGE_ACTIONS, FUNCTION_INVOKE_ACTIONS
from hyperpod_policy.buckets import BUCKET, guarded_buckets
from hyperpod_policy.iam.patterns import every
from hyperpod_policy.identities import role_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.trust_map.arns import of_function
from hyperpod_policy.trust_map.asking import ask
from hyperpod_policy.trust_map.draft import Draft
from hyperpod_policy.trust_map.model import Certainty
from hyperpod_policy.trust_map.sayings import of_property, say
from hyperpod_policy.trust_map.staging import add_feed
from hyperpod_policy.values import Reference, Unresolved, elements, same, single

FUNCTION: Final = "AWS::Lambda::Function"
_UPLOAD: Final = "Custom::CDKBucketDeployment"
_KUBECTL: Final = "Custom::AWSCDK-EKS-"


def functions_with(draft: Draft, role: Resource) -> list[Resource]:
    """Return the functions that run as a role."""
    return [
        function
        for function in draft.template.of_type(FUNCTION)
        if role_of(draft.template, function.get("Role")) is role
    ]


def add_function(draft: Draft, function: Resource, role: Resource) -> None:
    """Add a function that runs as a role, and who has a hand in it."""
    what = draft.template.once(_handlers).get(function.key, "")
    target = draft.resource(function, role=what)
    draft.step(
        target,
        "run-as",
        draft.resource(role, role=f"role of the {what}" if what else ""),
        "yes",
        evidence=[of_property(function, ("Role",), f"runs as {role.logical_id}")],
    )
    arns = of_function(draft.template, function)
    sure: Certainty = "yes" if what else "undetermined"
    note = "what it does is said by who invokes it" if what else "it does what its code does, and no more"
    for actor in draft.actors:
        draft.asked(actor, "change-function", target, ask(actor, FUNCTION_CHANGE_ACTIONS, arns))
        draft.asked(
            actor, "invoke", target, ask(actor, FUNCTION_INVOKE_ACTIONS, arns), note=note, at_most=sure
        )
    draft.administrators("change-function", target, actions=FUNCTION_CHANGE_ACTIONS)
    draft.administrators("invoke", target, actions=FUNCTION_INVOKE_ACTIONS, certainty=sure, note=note)
    _add_permissions(draft, function, target, sure, note)
    for holder, path, name in _code_of(draft.template, function):
        add_feed(
            draft,
            name,
            target,
            holder,
            path,
            note="its code comes from there when a deployment changes it",
            certainty="undetermined",
        )
    for upload in _uploads(draft.template, function):
        names, _ = elements(upload.get("SourceBucketNames"))
        for position, name in enumerate(names):
            add_feed(
                draft,
                name,
                target,
                upload,
                ("SourceBucketNames", position),
                note="the next upload copies what lies there under the name it expects",
                certainty="yes",
            )


def _add_permissions(draft: Draft, function: Resource, target: str, sure: Certainty, note: str) -> None:
    for permission in draft.template.of_type("AWS::Lambda::Permission"):
        if not _is_about(draft.template, permission.get("FunctionName"), function):
            continue
        action, principal = permission.get("Action"), single(permission.get("Principal"))
        if isinstance(action, str) and not any(
            every(action, item, ignore_case=True)
            for item in (*FUNCTION_INVOKE_ACTIONS, *FUNCTION_CHANGE_ACTIONS)
        ):
            continue
        conditions = {
            name: permission.get(name)
            for name in (
                "SourceArn",
                "SourceAccount",
                "PrincipalOrgID",
                "EventSourceToken",
                "FunctionUrlAuthType",
            )
            if permission.get(name) is not None
        }
        said = f"allows {say(principal)} {say(action)}"
        if conditions:
            said += " if " + " and ".join(f"{name} is {say(value)}" for name, value in conditions.items())
        kind = (
            "Service" if isinstance(principal, str) and "." in principal and ":" not in principal else "AWS"
        )
        known = draft.actor_of(kind, draft.template.spelled(principal))
        if kind == "AWS" and draft.owns(principal, function):
            continue
        source = draft.resource(known.resource) if known is not None else draft.outsider(kind, principal)
        draft.step(
            source,
            "invoke",
            target,
            "undetermined" if isinstance(principal, Unresolved) and known is None else sure,
            actions=[say(action)],
            evidence=[of_property(permission, (), said)],
            note=note,
        )


def _is_about(template: Template, named: Any, function: Resource) -> bool:
    if isinstance(named, Reference):
        return named.resource == function.key
    own = function.get("FunctionName")
    return own is not None and (
        same(named, own) is True or (isinstance(named, str) and named.endswith(f":function:{say(own)}"))
    )


def _handlers(template: Template) -> dict[str, str]:
    """Return the functions that do what they are told: uploads to guarded buckets, and kubectl."""
    found: dict[str, str] = {}
    guarded = {item.bucket.key: item.role for item in guarded_buckets(template)}
    for custom in template.custom_resources():
        handler = template.resource(custom.get("ServiceToken"), FUNCTION)
        if handler is None:
            continue
        if custom.type == _UPLOAD:
            bucket = template.resource(custom.get("DestinationBucketName"), BUCKET)
            if bucket is not None and bucket.key in guarded:
                found[handler.key] = f"upload handler of the {guarded[bucket.key]} bucket"
        elif custom.type.startswith(_KUBECTL):
            found[handler.key] = "kubectl provider"
            for function in _named_in_environment(template, handler):
                found.setdefault(function.key, "kubectl handler")
    return found


def _named_in_environment(template: Template, function: Resource) -> Iterator[Resource]:
    variables = function.get("Environment", "Variables", default={})
    for value in variables.values() if isinstance(variables, dict) else ():
        named = template.resource(value, FUNCTION)
        if named is not None:
            yield named


def _uploads(template: Template, function: Resource) -> Iterator[Resource]:
    guarded = {item.bucket.key for item in guarded_buckets(template)}
    for custom in template.of_type(_UPLOAD):
        bucket = template.resource(custom.get("DestinationBucketName"), BUCKET)
        if template.resource(custom.get("ServiceToken"), FUNCTION) is function and (
            bucket is not None and bucket.key in guarded
        ):
            yield custom


def _code_of(template: Template, function: Resource) -> Iterator[tuple[Resource, tuple[str, ...], Any]]:
    """Yield the buckets that the code of a function and its layers comes from."""
    name = function.get("Code", "S3Bucket")
    if name is not None:
        yield function, ("Code", "S3Bucket"), name
    for layer in elements(function.get("Layers"))[0]:
        made = template.resource(layer, "AWS::Lambda::LayerVersion")
        name = None if made is None else made.get("Content", "S3Bucket")
        if made is not None and name is not None:
            yield made, ("Content", "S3Bucket"), name
