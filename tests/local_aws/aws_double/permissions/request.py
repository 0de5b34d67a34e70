"""What is asked: an action on a resource, with the keys that conditions may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_double.permissions.principals import Principal

Value = str | tuple[str, ...]


class UnknownElementError(Exception):
    """Something in a policy that this double cannot judge; to pass over it would let requests through."""


_SOMETIMES = frozenset(
    {
        # global
        "aws:calledvia",
        "aws:calledviafirst",
        "aws:calledvialast",
        "aws:ec2instancesourceprivateipv4",
        "aws:ec2instancesourcevpc",
        "aws:federatedprovider",
        "aws:multifactorauthage",
        "aws:multifactorauthpresent",
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalisawsservice",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:principalservicename",
        "aws:principalservicenameslist",
        "aws:referer",
        "aws:requestedregion",
        "aws:resourceorgid",
        "aws:resourceorgpaths",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:sourceidentity",
        "aws:sourceorgid",
        "aws:sourceorgpaths",
        "aws:sourcevpc",
        "aws:sourcevpcarn",
        "aws:sourcevpce",
        "aws:tokenissuetime",
        "aws:useragent",
        "aws:username",
        "aws:vpceaccount",
        "aws:vpceorgid",
        "aws:vpceorgpaths",
        "aws:vpcsourceip",
        # of requests to STS
        "sts:externalid",
        "sts:rolesessionname",
        # of requests to S3
        "s3:accessgrantsinstancearn",
        "s3:accesspointnetworkorigin",
        "s3:dataaccesspointaccount",
        "s3:dataaccesspointarn",
        "s3:delimiter",
        "s3:if-match",
        "s3:if-none-match",
        "s3:locationconstraint",
        "s3:max-keys",
        "s3:object-lock-legal-hold",
        "s3:object-lock-mode",
        "s3:object-lock-remaining-retention-days",
        "s3:object-lock-retain-until-date",
        "s3:objectcreationoperation",
        "s3:prefix",
        "s3:requestobjecttagkeys",
        "s3:signatureage",
        "s3:tlsversion",
        "s3:versionid",
        "s3:x-amz-acl",
        "s3:x-amz-bucket-namespace",
        "s3:x-amz-content-sha256",
        "s3:x-amz-copy-source",
        "s3:x-amz-grant-full-control",
        "s3:x-amz-grant-read",
        "s3:x-amz-grant-read-acp",
        "s3:x-amz-grant-write",
        "s3:x-amz-grant-write-acp",
        "s3:x-amz-metadata-directive",
        "s3:x-amz-object-ownership",
        "s3:x-amz-server-side-encryption",
        "s3:x-amz-server-side-encryption-aws-kms-key-id",
        "s3:x-amz-server-side-encryption-customer-algorithm",
        "s3:x-amz-storage-class",
        "s3:x-amz-website-redirect-location",
        # of requests to KMS
        "kms:calleraccount",
        "kms:encryptioncontextkeys",
        "kms:grantisforawsresource",
        "kms:viaservice",
    }
)
"""Keys that this double gives where AWS does, and that are absent from other requests."""

_ALWAYS = frozenset(
    {
        "aws:currenttime",
        "aws:epochtime",
        "aws:principaltype",
        "aws:resourceaccount",
        "aws:securetransport",
        "aws:sourceip",
        "aws:userid",
        "aws:viaawsservice",
        "s3:authtype",
        "s3:resourceaccount",
        "s3:signatureversion",
    }
)
"""Keys that every request has, or every request to S3."""

_TAGS = (
    "aws:principaltag/",
    "aws:requesttag/",
    "aws:resourcetag/",
    "kms:encryptioncontext:",
    "s3:existingobjecttag/",
    "s3:requestobjecttag/",
)
"""Beginnings of keys with a name of the user's own; absent unless given."""


def key_known(name: str) -> bool:
    """Tell whether the double can judge a condition on a key."""
    lower = name.lower()
    return lower in _SOMETIMES or lower in _ALWAYS or lower.startswith(_TAGS)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        principal: Who asks.
        action: Such as ``s3:PutObject``.
        resource: ARN of what it is done to.
        keys: Condition keys of the request, in any case, besides those that tell of the principal.
    """

    principal: Principal
    action: str
    resource: str
    keys: Mapping[str, Value] = field(default_factory=dict)

    def key(self, name: str) -> Value | None:
        """Return the value of a condition key, none if this request has none.

        Raises:
            UnknownElementError: If the double does not know whether the request would have it.
        """
        wanted = name.lower()
        given = {key.lower(): value for key, value in {**principal_keys(self.principal), **self.keys}.items()}
        if wanted in given:
            return given[wanted]
        if wanted in _SOMETIMES or wanted.startswith(_TAGS):
            return None
        raise UnknownElementError(f"condition key {name}, asked for {self.action}")


def principal_keys(principal: Principal) -> dict[str, Value]:
    """Return the condition keys that tell of who asks, present as AWS documents each."""
    keys: dict[str, Value] = {
        "aws:PrincipalType": principal.kind,
        "aws:ViaAWSService": "false",
        "aws:userid": "anonymous" if principal.user_id is None else principal.user_id,
    }
    if principal.kind == "Anonymous":
        return {**keys, "aws:PrincipalAccount": "anonymous"}
    if principal.kind == "Service":
        name = str(principal.service)
        return {
            **keys,
            "aws:PrincipalIsAWSService": "true",
            "aws:PrincipalServiceName": name,
            "aws:PrincipalServiceNamesList": (name,),
        }
    keys["aws:PrincipalIsAWSService"] = "false"
    keys["aws:PrincipalAccount"] = str(principal.account)
    keys["aws:PrincipalArn"] = str(principal.arn)
    if principal.kind == "User":
        keys["aws:username"] = str(principal.arn).rpartition("/")[2]
    if principal.kind == "AssumedRole":
        keys["aws:MultiFactorAuthPresent"] = "false"
    for name, value in (principal.tags or {}).items():
        keys[f"aws:PrincipalTag/{name}"] = value
    return keys
