"""What readers of a topic hear, and what makes a cluster speak. On AWS the cluster itself does that."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from read_back import Clients

from aws_double import SERVICE_EVENT
from hyperpod_model.catalog.events import SOURCE, UNHEALTHY, EventType


class Reader:
    """Somebody who reads a topic, by a queue of SQS.

    Args:
        clients: Makes boto3 clients.
        queue_url: The queue.
    """

    def __init__(self, clients: Clients, queue_url: str) -> None:
        self._sqs = clients.client("sqs")
        self._queue_url = queue_url

    def messages(self) -> list[str]:
        """Return what came since the last call."""
        texts: list[str] = []
        while True:
            told = self._sqs.receive_message(QueueUrl=self._queue_url, MaxNumberOfMessages=10)
            found = told.get("Messages", [])
            if not found:
                return texts
            for message in found:
                texts.append(message["Body"])
                self._sqs.delete_message(QueueUrl=self._queue_url, ReceiptHandle=message["ReceiptHandle"])


@contextmanager
def reading(clients: Clients, topic_arn: str, *, name: str) -> Iterator[Reader]:
    """Read a topic for as long as a block of code.

    Args:
        clients: Makes boto3 clients.
        topic_arn: The topic.
        name: For the queue.
    """
    sqs, sns = clients.client("sqs"), clients.client("sns")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    subscription = sns.subscribe(
        TopicArn=topic_arn, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"}
    )["SubscriptionArn"]
    try:
        yield Reader(clients, url)
    finally:
        sns.unsubscribe(SubscriptionArn=subscription)
        sqs.delete_queue(QueueUrl=url)


def send_event(clients: Clients, kind: EventType, *, cluster_arn: str, detail: dict[str, Any]) -> None:
    """Send an event as HyperPod: a stand-in, since on AWS nobody else can.

    Args:
        clients: Makes boto3 clients.
        kind: Kind of event.
        cluster_arn: The cluster that it is about.
        detail: Its details.
    """
    entry = {
        "Source": SOURCE,
        "DetailType": kind.detail_type,
        "Resources": [cluster_arn],
        "Detail": json.dumps({"ClusterArn": cluster_arn, **detail}),
        "TraceHeader": SERVICE_EVENT,
    }
    told = clients.client("events").put_events(Entries=[entry])
    assert told["FailedEntryCount"] == 0, told


def unhealthy(node: str, reason: str) -> dict[str, Any]:
    """Details of the event of a node with a fault."""
    return {
        "InstanceId": node,
        "HealthSummary": {
            "HealthStatus": UNHEALTHY,
            "HealthStatusReason": reason,
            "RepairAction": "Replace",
            "Recommendation": "Wait for the replacement",
        },
    }


def write_line(clients: Clients, *, log_group: str, stream: str, line: str) -> None:
    """Write a line as a node does. A stand-in: no node of the double writes any.

    Args:
        clients: Makes boto3 clients.
        log_group: Name of the group.
        stream: Name of the stream, which is made.
        line: The line.
    """
    logs = clients.client("logs")
    logs.create_log_stream(logGroupName=log_group, logStreamName=stream)
    event = {"timestamp": int(time.time() * 1000), "message": line}
    logs.put_log_events(logGroupName=log_group, logStreamName=stream, logEvents=[event])


DETECTION = json.dumps(
    {
        "details: ": {"reason": "XidHardwareFailure", "message": "NVRM: Xid (PCI:0000:b9:00): 79, pid=1"},
        "HealthMonitoringAgentDetectionEvent": "HealthEvent",
    }
)
"""A line of the health agent."""
