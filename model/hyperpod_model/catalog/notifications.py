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

DEFAULT_EVENT_BUS: str = _TABLE["default_event_bus"]
"""The only bus that gets events of AWS services."""
