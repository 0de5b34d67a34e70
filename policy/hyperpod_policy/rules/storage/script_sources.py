"""Lifecycle scripts, and the code of functions that others trust most, come from buckets of the account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.iam.evaluation import Request
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.kubernetes_access import administrating_roles
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Imported, Pseudo, Reference, Text, elements, single

_INVOKE: Final = "lambda:InvokeFunction"
_UPLOAD: Final = "Custom::CDKBucketDeployment"
_ALLOWED: Final = "a bucket of the template, or one with the account's id in its name"
_OWN_IMAGES: Final = "images of a registry of the account"
_FUNCTION: Final = "AWS::Lambda::Function"


def check(template: Template) -> Iterator[Verdict]:
    """Judge where uploads into script buckets, and functions that administer EKS, have their code from."""
    scripts = {
        guarded.bucket.key for guarded in guarded_buckets(template) if guarded.role == "lifecycle script"
    }
    for upload in template.of_type(_UPLOAD):
        target = template.resource(upload.get("DestinationBucketName"))
        if target is not None and target.key in scripts:
            function = template.resource(_named(upload.get("ServiceToken")), _FUNCTION)
            code = () if function is None else _code(template, function, "uploads scripts")
            verdicts = [*_sources(upload), *code]
            yield from verdicts if verdicts else [passed(upload)]
    for function in _administrators(template):
        verdicts = [*_code(template, function, "administers the EKS cluster")]
        yield from verdicts if verdicts else [passed(function)]


def _administrators(template: Template) -> list[Resource]:
    """Return the functions that administer an EKS cluster, and those that call them."""
    roles = {role.key for role in administrating_roles(template)}
    if not roles:
        return []
    owners = {
        function.key: (function, role)
        for function in template.of_type(_FUNCTION)
        if (role := role_of(template, function.get("Role"))) is not None
    }
    found = [function for function, role in owners.values() if role.key in roles]
    called = [Request(_INVOKE, Reference(function.key, "Arn")) for function in found]
    return found + [
        function
        for function, role in owners.values()
        if role.key not in roles
        and any(permissions(template, role).permit(request) is not False for request in called)
    ]


def _named(arn: Any) -> Any:
    return Reference(arn.resource, "Ref") if isinstance(arn, Reference) else arn


def _sources(upload: Resource) -> Iterator[Verdict]:
    listed, _ = elements(upload.get("SourceBucketNames"))
    for position, bucket in enumerate(listed):
        yield from _judge(upload, ("SourceBucketNames", position), bucket, "scripts come from")


def _code(template: Template, function: Resource, does: str) -> Iterator[Verdict]:
    path = ("Code", "S3Bucket")
    yield from _judge(function, path, function.get(*path), f"the code that {does} comes from")
    yield from _image(function, does)
    for position, layer in enumerate(elements(function.get("Layers"))[0]):
        made = template.resource(layer)
        if made is not None:
            content = ("Content", "S3Bucket")
            words = f"a layer of the code that {does} comes from"
            yield from _judge(made, content, made.get(*content), words)
        else:
            yield from _layer(function, ("Layers", position), single(layer), does)


def _judge(holder: Resource, path: tuple[str | int, ...], bucket: Any, words: str) -> Iterator[Verdict]:
    if bucket is None:
        return
    parts = bucket.parts if isinstance(bucket, Text) else (bucket,)
    own = holder.document.account
    named = any(
        isinstance(part, Reference | Imported)
        or (isinstance(part, Pseudo) and part.name == "AWS::AccountId")
        or (isinstance(part, str) and own is not None and own in part)
        for part in parts
    )
    if not named:
        found = f"{words} bucket {bucket}, whoever owns it"
        yield undetermined(holder, *path, found=found, allowed=_ALLOWED)


def _image(function: Resource, does: str) -> Iterator[Verdict]:
    path = ("Code", "ImageUri")
    uri = function.get(*path)
    if uri is None:
        return
    registry = uri.parts[0] if isinstance(uri, Text) else uri
    where = belonging(registry.partition(".")[0] if isinstance(registry, str) else registry, function)
    found = f"the code that {does} is image {uri}"
    if where == "other":
        yield failed(function, *path, found=f"{found}, of another account", allowed=_OWN_IMAGES)
    elif where == "unknown":
        found = f"{found}, whose account may be another"
        yield undetermined(function, *path, found=found, allowed=_OWN_IMAGES)


def _layer(function: Resource, path: tuple[str | int, ...], arn: Any, does: str) -> Iterator[Verdict]:
    where = belonging(_as_principal(arn), function)
    found = f"the code that {does} has layer {arn}"
    if where == "other":
        yield failed(function, *path, found=f"{found}, of another account", allowed="layers of the account")
    elif where == "unknown":
        found = f"{found}, whose account may be another"
        yield undetermined(function, *path, found=found, allowed="layers of the account")


def _as_principal(arn: Any) -> Any:
    """Return the account in the ARN of a layer, where it is written out."""
    fields = arn.split(":") if isinstance(arn, str) else []
    return fields[4] if len(fields) > 4 else arn


RULE = Rule(
    id="ScriptSources",
    title="scripts, and the code that uploads them or administers EKS, come from buckets of the account",
    severity="error",
    why=(
        "The upload is the one writer that the lock of the script bucket leaves out. It copies what it finds "
        "at its source, and runs the code it was given: whoever owns these buckets writes what every node "
        "runs as root. So does the function that installs charts as an administrator of the EKS cluster."
    ),
    fix=(
        "copy from a bucket of the account, such as the CDK's staging bucket, whose name holds the account's "
        "id; where another is meant, acknowledge the finding and say who writes it"
    ),
    source="Lambda developer guide, deployment packages; CDK guide, bootstrapping (staging bucket)",
    check=check,
)
