"""Who hears of what happens on the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from hyperpod_model.catalog.logs import RETENTION_DAYS
from hyperpod_model.checks.observability import check_emails, check_log_retention
from hyperpod_model.faults import UNKNOWN, Fault
from hyperpod_model.spec_files.known import known
from hyperpod_model.spec_files.spec_model import Items, SpecModel

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec


class ObservabilitySpec(SpecModel):
    """Notices of what happens on the cluster, alarms on its logs, and a dashboard."""

    emails: Items[str] = Field(
        default=(),
        description=(
            "Addresses that get every notice. AWS mails each once to ask for a confirmation, and sends "
            "nothing else before. By default none, and nobody hears."
        ),
    )
    topic_arn: str | None = Field(
        default=None,
        description=(
            "ARN of an existing SNS topic for the notices, in the cluster's region. Its policy, and that of "
            "its key, must admit events.amazonaws.com and cloudwatch.amazonaws.com; nothing of it is "
            "changed. By default an encrypted topic is made."
        ),
    )
    log_retention_days: int = Field(
        default=365,
        description=(
            "Days for which CloudWatch Logs keeps the logs of the nodes, and the cluster's events. By "
            "default 365."
        ),
        json_schema_extra={"enum": list(RETENTION_DAYS)},
    )
    health_events: bool = Field(
        default=True,
        description="Notices of nodes that turn unhealthy, and of those that recover. By default true.",
    )
    state_changes: bool = Field(
        default=True,
        description="Notices of the cluster's changes of state. By default true.",
    )
    cluster_events: bool = Field(
        default=True,
        description=(
            "Notices of operations that fail in the cluster: missing capacity, lifecycle scripts, "
            "replacements. Continuous provisioning only. By default true."
        ),
    )
    health_detections: bool = Field(
        default=True,
        description="An alarm on what the health agent of the nodes detects. By default true.",
    )
    deep_health_failures: bool = Field(
        default=True,
        description="An alarm on nodes that fail their deep health checks. By default true.",
    )
    lifecycle_failures: bool = Field(
        default=True,
        description="An alarm on lifecycle scripts of this package that fail. By default true.",
    )
    failing_slots: bool = Field(
        default=True,
        description=(
            "Alarms on a node, and with continuous provisioning on a group, that fails three times in a "
            "day; for these the cluster's events are kept in a log group. By default true."
        ),
    )
    crash_loops: bool = Field(
        default=True,
        description=(
            "An alarm on jobs that the resume library stops since they crash in a loop; and jobs may "
            "publish to the topic. By default true."
        ),
    )
    dashboard: bool = Field(
        default=True,
        description="A CloudWatch dashboard of all this. By default true.",
    )


def check_observability(spec: ClusterSpec) -> Iterator[Fault]:
    """Check who is told, with paths from the top. The topic's ARN is judged with the other ARNs.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.observability
    if said is None or not known(said):
        return
    if known(said.emails):
        for fault in check_emails([UNKNOWN if not known(one) else one for one in said.emails]):
            yield fault._replace(path=("observability", "emails", *fault.path))
    if known(said.log_retention_days):
        for fault in check_log_retention(said.log_retention_days):
            yield fault._replace(path=("observability", "log_retention_days"))


def observability_steps_due(said: ObservabilitySpec | None) -> tuple[str, ...]:
    """Return what is left to do until somebody hears.

    Args:
        said: What the specification says, without errors.
    """
    if said is not None and not said.emails and said.topic_arn is None:
        return (
            "observability: nobody hears of failing nodes, alarms and changes of state, since emails is "
            "empty; the step that is due: name an address in observability.emails, or a topic in "
            "observability.topic_arn, or subscribe to the topic that is made (output NoticeTopicArn)",
        )
    return ()
