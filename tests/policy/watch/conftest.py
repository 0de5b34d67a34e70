from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Change = Callable[[dict[str, Any]], None]
"""Breaks the resources of a template, which it is given."""


def _another_service(resources: dict[str, Any]) -> None:
    for statement in _statements(resources, "TopicPolicy", "PolicyDocument"):
        statement["Principal"] = {"Service": "s3.amazonaws.com"}


def _denied(resources: dict[str, Any]) -> None:
    resources["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Deny", "Principal": "*", "Action": "sns:Publish", "Resource": "*"}
    )


def _no_subscription(resources: dict[str, Any]) -> None:
    del resources["Subscription"]


def _managed_key(resources: dict[str, Any]) -> None:
    resources["Topic"]["Properties"]["KmsMasterKeyId"] = "alias/aws/sns"


def _key_without_service(resources: dict[str, Any]) -> None:
    del resources["TopicKey"]["Properties"]["KeyPolicy"]


def _key_without_decryption(resources: dict[str, Any]) -> None:
    for statement in _statements(resources, "TopicKey", "KeyPolicy"):
        statement["Action"] = "kms:GenerateDataKey*"


def _statements(resources: dict[str, Any], name: str, member: str) -> list[dict[str, Any]]:
    found = resources[name]["Properties"][member]["Statement"]
    assert isinstance(found, list)
    return found


OBSTACLES: dict[str, tuple[Change, str]] = {
    "another-service": (_another_service, "does not let"),
    "denied": (_denied, "denies sns:Publish to Topic"),
    "no-subscription": (_no_subscription, "has no subscription"),
    "managed-key": (_managed_key, "is alias/aws/sns"),
    "key-without-service": (_key_without_service, "kms:Decrypt and kms:GenerateDataKey"),
    "key-without-decryption": (_key_without_decryption, "kms:Decrypt, so nothing reaches topic Topic"),
}
"""Ways in which a topic does not carry messages of a service, each with words of the finding."""


def _plain_topic(resources: dict[str, Any]) -> None:
    del resources["Topic"]["Properties"]["KmsMasterKeyId"], resources["TopicKey"]


def _inline_subscription(resources: dict[str, Any]) -> None:
    del resources["Subscription"]
    resources["Topic"]["Properties"]["Subscription"] = [{"Protocol": "sms", "Endpoint": "+15550100"}]


def _aliased_key(resources: dict[str, Any]) -> None:
    resources["Alias"] = {
        "Type": "AWS::KMS::Alias",
        "Properties": {"AliasName": "alias/topic", "TargetKeyId": {"Ref": "TopicKey"}},
    }
    resources["Topic"]["Properties"]["KmsMasterKeyId"] = {"Ref": "Alias"}


def _policy_in_line(resources: dict[str, Any]) -> None:
    policy = resources["TopicPolicy"]
    policy["Type"] = "AWS::SNS::TopicInlinePolicy"
    policy["Properties"]["TopicArn"] = policy["Properties"].pop("Topics")[0]


def _denial_of_plain_text(resources: dict[str, Any]) -> None:
    condition = {"Bool": {"aws:SecureTransport": "false"}}
    resources["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sns:Publish",
            "Resource": "*",
            "Condition": condition,
        }
    )


def _for_the_account(resources: dict[str, Any]) -> None:
    of_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    for statement in _statements(resources, "TopicPolicy", "PolicyDocument"):
        statement["Condition"] = of_account


def _key_for_the_account(resources: dict[str, Any]) -> None:
    of_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    for statement in _statements(resources, "TopicKey", "KeyPolicy"):
        statement["Condition"] = of_account


def _everybody_of_the_account(resources: dict[str, Any]) -> None:
    _for_the_account(resources)
    for statement in _statements(resources, "TopicPolicy", "PolicyDocument"):
        statement.update(Principal={"AWS": "*"}, Action="sns:*")


FOR_THE_ACCOUNT: dict[str, Change] = {
    "topic": _for_the_account,
    "key": _key_for_the_account,
    "everybody-of-the-account": _everybody_of_the_account,
}
"""Policies that ask on whose behalf a service comes, which EventBridge alone does not tell."""


BENIGN: dict[str, Change] = {
    "plain-topic": _plain_topic,
    "inline-subscription": _inline_subscription,
    "aliased-key": _aliased_key,
    "inline-policy": _policy_in_line,
    "denial-of-plain-text": _denial_of_plain_text,
}
"""Other ways of the same safety."""


def _foreign_key(resources: dict[str, Any]) -> None:
    resources["Topic"]["Properties"]["KmsMasterKeyId"] = {"Fn::ImportValue": "key"}


def _policy_from_elsewhere(resources: dict[str, Any]) -> None:
    service = {"Fn::ImportValue": "service"}
    for statement in _statements(resources, "TopicPolicy", "PolicyDocument"):
        statement["Principal"] = {"Service": service}


UNCLEAR: dict[str, Change] = {
    "key-of-another-stack": _foreign_key,
    "principal-of-another-stack": _policy_from_elsewhere,
}
"""Ways in which only deployment can tell whether a topic carries messages."""


@pytest.fixture(params=list(OBSTACLES))
def obstacle(request: pytest.FixtureRequest) -> tuple[Change, str]:
    """A way in which the topic does not carry messages, and words of the finding."""
    return OBSTACLES[request.param]


@pytest.fixture(params=list(BENIGN))
def benign(request: pytest.FixtureRequest) -> Change:
    """Another way of the same safety."""
    return BENIGN[request.param]


@pytest.fixture(params=list(UNCLEAR))
def unclear(request: pytest.FixtureRequest) -> Change:
    """A way in which only deployment can tell whether the topic carries messages."""
    return UNCLEAR[request.param]


@pytest.fixture(params=list(FOR_THE_ACCOUNT))
def for_the_account(request: pytest.FixtureRequest) -> Change:
    """A policy that asks on whose behalf a service comes."""
    return FOR_THE_ACCOUNT[request.param]
