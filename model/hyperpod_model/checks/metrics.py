"""Limits of alerts, categories and levels of figures, and ways to sign in to Grafana."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.metrics import CATEGORIES, GRAFANA_AUTHENTICATION, LEVELS
from hyperpod_model.checks.reading import is_unknown
from hyperpod_model.faults import Fault


def check_alert_limits(*, wait_alert_minutes: Any, preemption_alert_count: Any) -> list[Fault]:
    """Check from where on waiting and preemptions are told.

    Args:
        wait_alert_minutes: Minutes, ``UNKNOWN``, or None for no alert.
        preemption_alert_count: Number of jobs, ``UNKNOWN``, or None for no alert.
    """
    limits = {"wait_alert_minutes": wait_alert_minutes, "preemption_alert_count": preemption_alert_count}
    return [
        Fault((name,), f"must be a whole number of 1 or more, got {limit!r}")
        for name, limit in limits.items()
        if limit is not None
        and not is_unknown(limit)
        and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1)
    ]


def check_metric_levels(levels: Mapping[str, Any]) -> list[Fault]:
    """Check which figures the HyperPod add-on collects.

    Args:
        levels: Level by category; levels may be ``UNKNOWN``.
    """
    legal = LEVELS.assuming(because="a level that the add-on does not know fails its installation in words")
    faults = []
    for name, level in levels.items():
        if name not in CATEGORIES:
            message = f"must be a category of figures, got {name!r}; use {', '.join(CATEGORIES)}"
            faults.append(Fault((name,), message))
        elif not is_unknown(level) and level not in legal:
            faults.append(Fault((name,), f"must be one of {', '.join(legal)}, got {level!r}"))
    return faults


def check_grafana_authentication(providers: Sequence[Any]) -> list[Fault]:
    """Check by what people sign in to Grafana.

    Args:
        providers: The providers; any of them may be ``UNKNOWN``.
    """
    if isinstance(providers, str) or not providers:
        return [
            Fault((), f"must be a list with one of {', '.join(GRAFANA_AUTHENTICATION)}, got {providers!r}")
        ]
    return [
        Fault((index,), f"must be one of {', '.join(GRAFANA_AUTHENTICATION)}, got {provider!r}")
        for index, provider in enumerate(providers)
        if not is_unknown(provider) and provider not in GRAFANA_AUTHENTICATION
    ]
