"""Reads topics, their policies and subscriptions back."""

from __future__ import annotations

import json
from typing import Any

from read_back import Clients, reads
from read_back.parts import copied, tags


@reads("AWS::SNS::Topic")
def topic(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a topic."""
    sns = clients.client("sns")
    found = sns.get_topic_attributes(TopicArn=physical_id)["Attributes"]
    told = copied(found, "DisplayName", "KmsMasterKeyId")
    told["TopicName"] = physical_id.rpartition(":")[2]
    found_tags = sns.list_tags_for_resource(ResourceArn=physical_id)["Tags"]
    return told | tags(((tag["Key"], tag["Value"]) for tag in found_tags), wanted)


@reads("AWS::SNS::TopicPolicy")
def topic_policy(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read the policy of topics, which has no id of its own in SNS.

    Raises:
        ValueError: If the topics have different ones.
    """
    sns = clients.client("sns")
    policies = [
        json.loads(sns.get_topic_attributes(TopicArn=arn)["Attributes"]["Policy"]) for arn in wanted["Topics"]
    ]
    if any(policy != policies[0] for policy in policies):
        raise ValueError(f"{wanted['Topics']} have different policies")
    return {"Topics": wanted["Topics"], "PolicyDocument": policies[0]}


@reads("AWS::SNS::Subscription")
def subscription(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a subscription."""
    pages = clients.client("sns").get_paginator("list_subscriptions_by_topic")
    (found,) = (
        one
        for page in pages.paginate(TopicArn=wanted["TopicArn"])
        for one in page["Subscriptions"]
        if one["Endpoint"] == wanted["Endpoint"] and one["Protocol"] == wanted["Protocol"]
    )
    return copied(found, "TopicArn", "Endpoint", "Protocol")
