"""SageMaker training plans: what can be reserved."""

from __future__ import annotations

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact

_TABLE = table("training_plans")

INSTANCE_TYPES: frozenset[str] = frozenset(_TABLE["instance_types"])
"""Types that a plan can reserve."""

INSTANCE_COUNTS: tuple[int, ...] = tuple(_TABLE["instance_counts"])
"""Numbers of instances that one reservation can have."""

LARGE_GROUP: Fact[int] = fact(
    "instances from which a group should have reserved capacity", _TABLE["large_group"], _TABLE
)
