"""Task governance: how teams share a cluster with EKS, and what its resources take."""

from __future__ import annotations

from typing import Literal, get_args

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact

SharingStrategy = Literal["DontLend", "Lend", "LendAndBorrow"]
PreemptOwnTasks = Literal["LowerPriority", "Never"]

_TABLE = table("task_governance")

SCHEDULER_TYPE: str = _TABLE["types"]["scheduler"]
QUOTA_TYPE: str = _TABLE["types"]["quota"]
"""CloudFormation types. The CDK has a class for the first only."""

ADD_ON: str = _TABLE["add_on"]
"""EKS add-on that enforces quotas. It brings Kueue, and refuses a Kueue of one's own beside it."""

MOST_PRIORITY_CLASSES: int = _TABLE["most_priority_classes"]
MOST_RESOURCES: int = _TABLE["most_resources"]
"""Instance types in one quota."""

WEIGHTS: tuple[int, int] = tuple(_TABLE["weights"])
"""Least and most, of priority classes and of teams."""

DEFAULT_WEIGHT: int = _TABLE["default_weight"]
STRATEGIES: tuple[SharingStrategy, ...] = get_args(SharingStrategy)
DEFAULT_STRATEGY: SharingStrategy = _TABLE["default_strategy"]
BORROW_LIMIT_PERCENT: tuple[int, int] = tuple(_TABLE["borrow_limit_percent"])
DEFAULT_BORROW_LIMIT_PERCENT: int = _TABLE["default_borrow_limit_percent"]
PREEMPT_OWN_TASKS: tuple[PreemptOwnTasks, ...] = get_args(PreemptOwnTasks)
DEFAULT_PREEMPT_OWN_TASKS: PreemptOwnTasks = _TABLE["default_preempt_own_tasks"]

BORROW_LIMIT_IS_OF_OWN_QUOTA: Fact[bool] = fact(
    "what the borrow limit is a percentage of", _TABLE["borrow_limit_is_of_own_quota"], _TABLE
)

FILLED_IN_BY_THE_SERVICE: tuple[str, ...] = tuple(_TABLE["filled_in_by_the_service"])
"""Members of a quota's resources that the service computes where accelerators are given: drift, if said."""
