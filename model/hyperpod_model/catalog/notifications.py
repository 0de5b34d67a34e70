"""How services tell people through SNS topics: principals, and what policies of topic and key must allow."""

from __future__ import annotations

from hyperpod_model.catalog._tables import table

_TABLE = table("notifications")

PUBLISH_ACTION: str = _TABLE["publish_action"]
KEY_ACTIONS: tuple[str, ...] = tuple(_TABLE["key_actions"])
"""What a service needs of the KMS key of an encrypted topic."""

MANAGED_KEY: str = _TABLE["managed_key"]
"""AWS's own key for SNS, whose policy nobody can change: services cannot publish to topics with it."""

EVENTS_SERVICE: str = _TABLE["services"]["events"]
ALARMS_SERVICE: str = _TABLE["services"]["alarms"]
BUDGETS_SERVICE: str = _TABLE["services"]["budgets"]

ADMITTED_BY_DEFAULT_POLICY: frozenset[str] = frozenset(_TABLE["admitted_by_default_policy"])
"""Services that may publish, in the topic's account, where the topic has no policy of its own."""

TOPICS_SERVICE: str = _TABLE["readers"]["service"]
"""Who delivers to queues and functions that have subscribed."""

SEND_ACTION: str = _TABLE["readers"]["queue_action"]
FILTER_SCOPE_OF_BODIES: str = _TABLE["readers"]["body_scope"]
"""The scope of filters on what a message says; that of all others is the attributes of messages."""

WITHOUT_ATTRIBUTES: frozenset[str] = frozenset(_TABLE["readers"]["without_attributes"])
"""Services that publish without attributes, so that a filter on one takes none of their messages."""

DEFAULT_EVENT_BUS: str = _TABLE["default_event_bus"]
"""The only bus that gets events of AWS services."""

TOPIC_ENCRYPTION_CONTEXT: str = _TABLE["topic_encryption_context"]
"""Condition key with the ARN of the topic for which SNS uses a KMS key.

No AWS guide names it. Rely on it only where a service meets no other condition, as EventBridge does.
"""

WITHOUT_SOURCE_CONDITIONS: frozenset[str] = frozenset(_TABLE["without_source_conditions"]["services"])
"""Services that tell neither topics nor their keys on whose behalf they come."""

SOURCE_CONDITIONS: frozenset[str] = frozenset(_TABLE["without_source_conditions"]["keys"])
"""Condition keys that these services leave out, so that a policy which asks for them admits nobody."""

EVENT_LOG_PREFIX: str = _TABLE["event_log"]["prefix"]
"""How the names of log groups begin that an EventBridge rule writes to."""

EVENT_LOG_SERVICES: tuple[str, ...] = tuple(_TABLE["event_log"]["services"])
EVENT_LOG_ACTIONS: tuple[str, ...] = tuple(_TABLE["event_log"]["actions"])
"""What a resource policy of CloudWatch Logs must allow these services on such a log group."""
