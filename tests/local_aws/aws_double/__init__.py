"""A double of AWS on one machine, for tests and for the demo. It is not AWS.

The service APIs are moto's, with what moto lacks added beside it; CloudFormation is the double's own, since
moto's skips types and properties that it does not know. Whatever the double does not know fails, loudly.
"""

from typing import Final

ACCOUNT: Final = "111122223333"
"""The one account of the double."""

RELEASES_TAG: Final = "aws-double:helm-releases"
"""Tag of an EKS cluster: Helm releases that it has, such as ``kube-system/name``, with spaces between.

A stand-in of this double for charts that were installed with Helm, which talks to Kubernetes and not to AWS.
"""

SERVICE_EVENT: Final = "aws-double:service-event"
"""Trace header of an event that is to be one of an AWS service, such as a node's health event.

A stand-in of this double: on AWS nobody but the service can send one, and no such header helps.
"""

LIMITS: Final = (
    "quotas and capacity",
    "the services' own validation beyond their public API models",
    "IAM at creation time: a role with too few permissions creates all the same",
    "tags that CloudFormation itself puts on the resources of a stack",
    "lifecycle scripts, health agents and EFA: nothing runs on the nodes, for there are none",
    "mails: nobody confirms a subscription, and what topics and budgets tell goes to queues at most",
    "figures: Prometheus takes none and alerts nobody, and nobody can sign in to Grafana",
    "handlers of custom resources that need kubectl or Helm",
)
"""What a deployment against the double does not show."""
