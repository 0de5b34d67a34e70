"""ARNs of resources, in every spelling that a policy may use for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperpod_policy.buckets import bucket_arn
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Anything, Expression, Pseudo, Reference, Text, concatenated


@dataclass(frozen=True, slots=True)
class Arns:
    """One resource, as policies may spell it.

    Attributes:
        exact: Spellings that name the resource itself.
        generated: The ARN with a name that deployment makes up, which only a pattern with wildcards can mean.
    """

    exact: tuple[Any, ...]
    generated: Any = None


ANY = Arns((Anything("resource"),))
"""Whatever resource the caller chooses."""


def objects_of(template: Template, bucket: Resource) -> Arns:
    """Return the objects of a bucket."""
    found = itself(template, bucket)
    objects = ("/", Anything("object"))
    return Arns(
        tuple(concatenated((arn, *objects)) for arn in found.exact),
        None if found.generated is None else concatenated((found.generated, *objects)),
    )


def objects_named(name: Any) -> Arns:
    """Return the objects of a bucket that the templates do not make."""
    return Arns((concatenated(("arn:", Pseudo("AWS::Partition"), ":s3:::", name, "/", Anything("object"))),))


def bucket_in_uri(uri: Any) -> Any:
    """Return the name of the bucket in an S3 URI; ``None`` if only deployment can tell it."""
    parts = uri.parts if isinstance(uri, Text) else (uri,)
    if not isinstance(parts[0], str) or not parts[0].startswith("s3://"):
        return None
    name: list[Any] = []
    for part in (parts[0].removeprefix("s3://"), *parts[1:]):
        if isinstance(part, str) and "/" in part:
            name.append(part.partition("/")[0])
            break
        name.append(part)
    return concatenated(name)


def itself(template: Template, bucket: Resource) -> Arns:
    """Return a bucket."""
    exact = bucket_arn(template, bucket)
    if "BucketName" in bucket.properties:
        return Arns((exact,))
    prefix = bucket.get("BucketNamePrefix", default="")
    made_up = Expression("name of", bucket.key)
    return Arns((exact,), concatenated(("arn:", Pseudo("AWS::Partition"), ":s3:::", prefix, made_up)))


def of_role(template: Template, role: Resource) -> Arns:
    """Return a role or user."""
    kind = "user" if role.type.endswith("User") else "role"
    path = role.get("Path", default="/")
    return _named(template, role, "iam", kind, path, "UserName" if kind == "user" else "RoleName")


def of_managed_policy(template: Template, policy: Resource) -> Arns:
    """Return a customer managed policy."""
    path = policy.get("Path", default="/")
    found = _named(template, policy, "iam", "policy", path, "ManagedPolicyName")
    return Arns((policy.ref, *found.exact), found.generated)


def of_function(template: Template, function: Resource) -> Arns:
    """Return a Lambda function."""
    return _named(template, function, "lambda", "function", ":", "FunctionName")


def of_key(template: Template, key: Resource) -> Arns:
    """Return a KMS key."""
    return _named(template, key, "kms", "key", "/", "")


def of_control_plane(template: Template, control_plane: Resource) -> Arns:
    """Return an EKS cluster and its access entries."""
    found = _named(template, control_plane, "eks", "cluster", "/", "Name")
    _, region, account = _place(control_plane, "eks")
    name = control_plane.get("Name", default=control_plane.ref)
    start = ("arn:", Pseudo("AWS::Partition"), ":eks:", region, ":", account, ":access-entry/")
    entries = concatenated((*start, name, "/", Anything("entry")))
    return Arns((*found.exact, entries), found.generated)


def of_stack(holder: Resource) -> Arns:
    """Return the stack that a resource belongs to."""
    _, region, account = _place(holder, "cloudformation")
    start = ("arn:", Pseudo("AWS::Partition"), ":cloudformation:", region, ":", account, ":stack/")
    rest = ("/", Anything("id"))
    return Arns(
        (Pseudo("AWS::StackId"), concatenated((*start, Pseudo("AWS::StackName"), *rest))),
        concatenated((*start, Expression("name of stack", holder.document.file), *rest)),
    )


def of_cluster(template: Template, cluster: Resource) -> Arns:
    """Return a HyperPod cluster."""
    found = _named(template, cluster, "sagemaker", "cluster", "/", "")
    return Arns((cluster.ref, *found.exact), found.generated)


def of_security_group(template: Template, group: Any, holder: Resource) -> Arns:
    """Return a security group by its id.

    Args:
        template: Templates under review.
        group: Its id, as resolved.
        holder: A resource of the stack that it belongs to.
    """
    _, region, account = _place(holder, "ec2")
    start = ("arn:", Pseudo("AWS::Partition"), ":ec2:", region, ":", account, ":security-group/")
    return Arns((concatenated((*start, group)),))


def _place(resource: Resource, service: str) -> tuple[str, Any, Any]:
    region, account = resource.document.region, resource.document.account
    return (
        service,
        "" if service == "iam" else (Pseudo("AWS::Region") if region is None else region),
        Pseudo("AWS::AccountId") if account is None else account,
    )


def _named(
    template: Template, resource: Resource, service: str, kind: str, path: Any, name_property: str
) -> Arns:
    _, region, account = _place(resource, service)
    start = ("arn:", Pseudo("AWS::Partition"), f":{service}:", region, ":", account, f":{kind}", path)
    exact = [template.spelled(Reference(resource.key, "Arn"))]
    if name_property and name_property in resource.properties:
        exact.append(concatenated((*start, resource.get(name_property))))
        return Arns(tuple(dict.fromkeys(exact)))
    exact.append(concatenated((*start, resource.ref)))
    return Arns(tuple(exact), concatenated((*start, Expression("name of", resource.key))))
