"""SNS of the double: moto's, which asks nobody's permission to publish or to use a topic's key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from moto.core.exceptions import ServiceException
from moto.kms.models import kms_backends
from moto.sns.exceptions import SNSInvalidParameter
from moto.sns.models import SNSBackend, sns_backends
from moto.sns.responses import SNSResponse

from aws_double import ACCOUNT
from aws_double.patching import around, before
from aws_double.permissions.decision import Decision, decide_by_identity, decide_on_key
from aws_double.permissions.principals import (
    Principal,
    UnknownKeyError,
    missing_principals,
    principal_of_key,
    service,
)
from aws_double.permissions.request import Request, Value
from aws_double.permissions.statements import Said, said_by_resource_policy, statements
from aws_double.permissions.verdicts import general_keys
from hyperpod_model.catalog.notifications import (
    ADMITTED_BY_DEFAULT_POLICY,
    KEY_ACTIONS,
    PUBLISH_ACTION,
    TOPIC_ENCRYPTION_CONTEXT,
)

_CREDENTIAL = re.compile(r"Credential=([^/]+)/")
_DEFAULT_POLICY: Final = "__default_policy_ID"


class AuthorizationError(ServiceException):
    """Somebody may not publish."""

    code = "AuthorizationError"


class KeyAccessDenied(ServiceException):
    """Somebody may publish, but not use the topic's key."""

    code = "KMSAccessDenied"


def install() -> None:
    """Patch moto."""
    before(SNSBackend, "set_topic_attribute", _check_policy)
    around(SNSResponse, "publish", _authorized)


def publish(
    name: str, topic_arn: str, message: str, *, subject: str | None = None, keys: Mapping[str, Value]
) -> Decision:
    """Publish as an AWS service does, if policies of the topic and its key let it; or drop the message.

    Args:
        name: Service principal, such as ``events.amazonaws.com``.
        topic_arn: The topic.
        message: What subscribers get.
        subject: Subject of e-mails.
        keys: Condition keys that the service's requests have.
    """
    topic = sns_backends[ACCOUNT][topic_arn.split(":")[3]].topics.get(topic_arn)
    if topic is None:
        return Decision(allowed=False, reason=f"the topic {topic_arn} does not exist")
    who = service(name)
    decision = _may_publish(who, topic, keys)
    if decision.allowed:
        decision = _may_use_key(who, topic, keys)
    if decision.allowed:
        topic.publish(message, subject=subject)
    return decision


def _may_publish(who: Principal, topic: Any, keys: Mapping[str, Value]) -> Decision:
    request = Request(who, PUBLISH_ACTION, topic.arn, {**general_keys(), **keys})
    policy = json.loads(topic.policy)
    if policy.get("Id") == _DEFAULT_POLICY:
        if who.kind == "Service":
            return Decision(
                allowed=who.service in ADMITTED_BY_DEFAULT_POLICY, reason=f"{who.service}: default policy"
            )
        return decide_by_identity(request)
    said = said_by_resource_policy(policy, request)
    if Said.DENY in said:
        return Decision(allowed=False, reason=f"the policy of {topic.arn} denies {request.action}")
    if Said.ALLOW in said:
        return Decision(allowed=True)
    if who.kind == "Service":
        return Decision(allowed=False, reason=f"the policy of {topic.arn} does not admit {who.service}")
    return decide_by_identity(request)


def _may_use_key(who: Principal, topic: Any, keys: Mapping[str, Value]) -> Decision:
    wanted: str = topic.kms_master_key_id
    if not wanted:
        return Decision(allowed=True)
    region = topic.arn.split(":")[3]
    key = kms_backends[ACCOUNT][region].keys.get(wanted.rpartition("/")[2])
    if key is None or key.key_state != "Enabled":
        return Decision(allowed=False, reason=f"the key {wanted} of {topic.arn} is not there")
    context = {TOPIC_ENCRYPTION_CONTEXT: topic.arn, "kms:ViaService": f"sns.{region}.amazonaws.com"}
    for action in KEY_ACTIONS:
        request = Request(who, action, key.arn, {**general_keys(), **keys, **context})
        decision = decide_on_key(request, json.loads(key.policy))
        if not decision.allowed:
            return decision
    return Decision(allowed=True)


def _authorized(method: Callable[..., Any]) -> Callable[..., Any]:
    """Judge who publishes before moto does; the account's root may."""

    def respond(response: Any) -> Any:
        arn = response._get_param("TopicArn")
        topic = None if arn is None else response.backend.topics.get(arn)
        found = _CREDENTIAL.search(response.headers.get("Authorization", ""))
        try:
            who = None if found is None else principal_of_key(found[1])
        except UnknownKeyError:
            who = None
        if topic is not None and who is not None:
            decision = _may_publish(who, topic, {})
            if not decision.allowed:
                raise AuthorizationError(decision.reason)
            decision = _may_use_key(who, topic, {})
            if not decision.allowed:
                raise KeyAccessDenied(decision.reason)
        return method(response)

    return respond


def _check_policy(_backend: Any, asked: Mapping[str, Any]) -> None:
    """Refuse what SNS refuses of a topic's policy: principals that are not there, and actions of others."""
    if asked["attribute_name"].lower() != "policy":
        return
    policy = json.loads(asked["attribute_value"])
    missing = missing_principals(policy)
    if missing:
        raise SNSInvalidParameter(f"Policy Error: PrincipalNotFound: {', '.join(missing)}")
    for statement in statements(policy):
        named = statement.get("Action", statement.get("NotAction", []))
        for action in [named] if isinstance(named, str) else named:
            if not action.lower().startswith("sns:"):
                raise SNSInvalidParameter("Policy statement action out of service scope!")
