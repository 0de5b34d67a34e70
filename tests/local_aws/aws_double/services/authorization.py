"""Authorization in front of moto's S3: identities, boundaries, bucket policies, public access, keys.

Moto itself judges next to nothing: it reads no condition and knows no caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlparse
from xml.etree import ElementTree

from moto.core.responses import ActionResult
from moto.iam.access_control import PermissionResult
from moto.s3.exceptions import S3ClientError
from moto.s3.models import FakeBucket, S3Backend, s3_backends
from moto.s3.responses import S3Response

from aws_double import ACCOUNT
from aws_double.patching import around, before
from aws_double.permissions import bucket_policy, verdicts
from aws_double.permissions.decision import Decision
from aws_double.permissions.principals import (
    ANONYMOUS,
    Principal,
    UnknownKeyError,
    principal_of_arn,
    principal_of_key,
    service,
)
from aws_double.permissions.request import UnknownElementError, Value
from aws_double.permissions.s3_requests import Needed, S3Call, needed, request_keys
from aws_double.serving import serving
from aws_double.transport import PLAIN_HTTP_HEADER

_CREDENTIAL = re.compile(r"(?:Credential=|^AWS )([^/:,\s]+)")
_LOG_DELIVERY = "logging.s3.amazonaws.com"


def allowed(principal: str, action: str, resource: str, context: Mapping[str, Value]) -> bool:
    """Tell whether a principal may do something.

    Identity policies, boundary and the policies of bucket and key have their say; the policies of other
    resources do not. Reading or writing an object counts the use of its key, as S3 would make it.

    Args:
        principal: ARN of a role, user, session or the account's root, or an AWS service such as
            ``sagemaker.amazonaws.com``.
        action: Such as ``s3:GetObject``.
        resource: ARN.
        context: Condition keys that the request has, besides those of the principal and those that every
            request has.

    Raises:
        LookupError: If there is no such principal.
        UnknownElementError: If a policy has what the double cannot judge.
    """
    who = principal_of_arn(principal) if principal.startswith("arn:") else service(principal)
    keys = {**verdicts.general_keys(), **context}
    if action.startswith("s3:"):
        _, _, path = resource.partition(":::")
        bucket, _, key = path.partition("/")
        one = Needed(action, bucket, key if "/" in path else None)
        if not verdicts.judge(who, one, keys).allowed:
            return False
        return verdicts.judge_key_use(who, one, keys, headers={}).allowed
    return verdicts.judge_other(who, action, resource, keys).allowed


def install() -> None:
    """Patch moto."""
    around(S3Response, "_bucket_response", _authorized)
    around(S3Response, "_key_response", _authorized)
    around(S3Response, "_bucket_response_delete_keys", _one_by_one)
    around(FakeBucket, "get_permission", _judged_before)
    around(S3Backend, "log_incoming_request", _delivered_if_allowed)
    before(S3Backend, "put_bucket_policy", _check_policy)


def _judged_before(_method: Callable[..., Any]) -> Callable[..., Any]:
    """Keep moto from judging again, by less."""

    def get_permission(_bucket: Any, _action: str, _resource: str) -> Any:
        return PermissionResult.PERMITTED

    return get_permission


def _authorized(method: Callable[..., Any]) -> Callable[..., Any]:
    """Judge a request before moto serves it."""

    def respond(response: Any, request: Any, full_url: str) -> Any:
        if serving() and request.method != "OPTIONS":
            _authorize(response, request, full_url)
        return method(response, request, full_url)

    return respond


def _authorize(response: Any, request: Any, full_url: str) -> None:
    call = _call(response, request, full_url)
    if call.bucket and _bucket(call.bucket) is None and not _creates(call):
        return  # moto answers that there is none
    who, keys = _principal(call), _keys(call)
    try:
        for one in needed(call):
            _require(verdicts.judge(who, one, keys))
            _require(verdicts.judge_key_use(who, one, keys, headers=call.headers))
        _hide_missing(call, who, keys)
    except UnknownElementError as error:
        raise _not_covered(error) from error


def _creates(call: S3Call) -> bool:
    return call.method == "PUT" and call.key is None and needed(call)[0].action == "s3:CreateBucket"


def _require(decision: Decision) -> None:
    if not decision.allowed:
        raise S3ClientError("AccessDenied", decision.reason)


def _hide_missing(call: S3Call, who: Principal, keys: Mapping[str, Value]) -> None:
    """Say that access is denied, not that there is no object, to those who may not list."""
    if call.method not in ("GET", "HEAD") or call.key is None or "uploadId" in call.query:
        return
    if verdicts.find_object(call.bucket, call.key, call.query.get("versionId")) is None:
        _require(verdicts.judge(who, Needed("s3:ListBucket", call.bucket), keys))


def _not_covered(error: UnknownElementError) -> S3ClientError:
    return S3ClientError("NotImplemented", f"this double cannot judge the request: {error}")


def _call(response: Any, request: Any, full_url: str) -> S3Call:
    query = parse_qs(urlparse(full_url).query, keep_blank_values=True)
    return S3Call(
        method=request.method,
        bucket=response.parse_bucket_name_from_url(request, full_url),
        key=response.parse_key_name() or None,
        query={name: values[0] for name, values in query.items()},
        headers={name.lower(): value for name, value in request.headers.items()},
    )


def _bucket(name: str) -> Any:
    return s3_backends[ACCOUNT]["aws"].buckets.get(name)


def _principal(call: S3Call) -> Principal:
    match = _CREDENTIAL.search(call.headers.get("authorization", ""))
    by_link = call.query.get("X-Amz-Credential", call.query.get("AWSAccessKeyId", ""))
    key = match[1] if match else by_link.partition("/")[0]
    if not key:
        return ANONYMOUS
    try:
        return principal_of_key(key)
    except UnknownKeyError as error:
        raise S3ClientError(
            "InvalidAccessKeyId", f"The access key {key} does not exist in this double"
        ) from error


def _keys(call: S3Call) -> dict[str, Value]:
    plain = PLAIN_HTTP_HEADER in call.headers
    keys = {**verdicts.general_keys(), **request_keys(call), "aws:SecureTransport": str(not plain).lower()}
    if not plain:
        keys["s3:TlsVersion"] = "1.3"
    if "user-agent" in call.headers:
        keys["aws:UserAgent"] = call.headers["user-agent"]
    by_link = {"X-Amz-Credential", "AWSAccessKeyId"} & set(call.query)
    keys["s3:authType"] = "REST-QUERY-STRING" if by_link else "REST-HEADER"
    return keys


def _one_by_one(method: Callable[..., Any]) -> Callable[..., Any]:
    """Judge each object of a deletion of several, and delete those that may go."""

    def respond(response: Any, bucket_name: str, authenticated: bool = True) -> Any:
        if not serving():
            return method(response, bucket_name, authenticated)
        objects = _objects(response.body)
        try:
            refused = [_refusal(response, bucket_name, item) for item in objects]
        except UnknownElementError as error:
            raise _not_covered(error) from error
        if not any(refused):
            return method(response, bucket_name, authenticated)
        bypass = response.headers.get("x-amz-bypass-governance-retention", "").lower() == "true"
        kept = [item for item, reason in zip(objects, refused, strict=True) if reason is None]
        deleted, locked = response.backend.delete_objects(bucket_name, kept, bypass)
        errors = [
            {"Key": item["Key"], "Code": "AccessDenied", "Message": reason}
            for item, reason in zip(objects, refused, strict=True)
            if reason is not None
        ]
        errors += [{"Key": key, "Code": "AccessDenied", "Message": "Access Denied"} for key in locked]
        response.data["Action"] = "DeleteObjects"
        gone = [
            {
                "Key": key,
                "VersionId": version or None,
                "DeleteMarker": bool(marker) or None,
                "DeleteMarkerVersionId": marker or None,
            }
            for key, version, marker in deleted
        ]
        return response.serialized(ActionResult({"Deleted": gone, "Errors": errors}))

    return respond


def _objects(body: bytes) -> list[dict[str, str]]:
    """Return the objects that a request asks to delete, as maps of ``Key`` and perhaps ``VersionId``."""
    children = [element for element in ElementTree.fromstring(body) if _tag(element) == "Object"]
    return [{_tag(part): part.text or "" for part in child} for child in children]


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _refusal(response: Any, bucket_name: str, item: Mapping[str, str]) -> str | None:
    query = {"versionId": item["VersionId"]} if item.get("VersionId") else {}
    headers = {name.lower(): value for name, value in response.request.headers.items()}
    call = S3Call("DELETE", bucket_name, item["Key"], query, headers)
    who, keys = _principal(call), _keys(call)
    decisions = [verdicts.judge(who, one, keys) for one in needed(call)]
    return next((decision.reason for decision in decisions if not decision.allowed), None)


def _delivered_if_allowed(deliver: Callable[..., None]) -> Callable[..., None]:
    """Deliver access logs only where the policy of the target lets the delivery write."""

    def log_incoming_request(backend: Any, request: Any, bucket_name: str) -> None:
        bucket = _bucket(bucket_name)
        if bucket is None or not bucket.logging:
            return
        target, prefix = bucket.logging["TargetBucket"], bucket.logging.get("TargetPrefix") or ""
        keys = {
            **verdicts.general_keys(),
            "aws:SourceArn": f"arn:aws:s3:::{bucket_name}",
            "aws:SourceAccount": bucket.account_id,
        }
        one = Needed("s3:PutObject", target, f"{prefix}a-log")
        if verdicts.judge(service(_LOG_DELIVERY), one, keys).allowed:
            deliver(backend, request, bucket_name)

    return log_incoming_request


def _check_policy(backend: Any, asked: Mapping[str, Any]) -> None:
    bucket = backend.get_bucket(asked["bucket_name"])
    found = bucket_policy.faults(asked["policy"], bucket.name)
    if found:
        raise S3ClientError("MalformedPolicy", "; ".join(found))
    block = bucket.public_access_block
    if (
        block is not None
        and block.block_public_policy
        and bucket_policy.is_public(json.loads(asked["policy"]))
    ):
        raise S3ClientError(
            "AccessDenied",
            "public policies are prevented by the BlockPublicPolicy setting in S3 Block Public Access.",
        )
