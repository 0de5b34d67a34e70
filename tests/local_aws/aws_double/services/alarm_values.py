"""The values of the periods that an alarm looks at, from what was put into CloudWatch.

Periods follow one another back from the end of a minute, as those of a sliding window do, and a value counts
for the minute that it was put for. Source: CloudWatch user guide, alarm-evaluation-window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.cloudwatch.models import MetricAggregatedDatum

from aws_double.services.alarm_state import COMPARISONS, MORE_PERIODS
from aws_double.services.metric_math import Series, evaluate

Ranked = Callable[[str, str, datetime, datetime], float | None]
"""Value of a rule and a metric of Contributor Insights between two moments; none without a contributor."""


def uses(alarm: Any, namespace: str, names: set[str]) -> bool:
    """Whether an alarm watches one of these metrics, by itself or in an expression."""
    return (alarm.namespace == namespace and alarm.metric_name in names) or any(
        query.metric_stat is not None
        and query.metric_stat.metric.namespace == namespace
        and query.metric_stat.metric.metric_name in names
        for query in alarm.metric_data_queries
    )


def breaches(alarm: Any, values: Series) -> dict[int, bool]:
    """Whether values are beyond the threshold, by the number of their period."""
    if alarm.comparison_operator not in COMPARISONS:
        raise AssertionError(f"{alarm.name}: {alarm.comparison_operator} is not in this double")
    beyond = COMPARISONS[alarm.comparison_operator]
    return {at: beyond(value, float(alarm.threshold)) for at, value in values.items()}


def values_of(backend: Any, alarm: Any, *, end: datetime, ranked: Ranked) -> Series:
    """Return the values of the periods that an alarm looks at; 0 is the newest.

    Args:
        backend: CloudWatch of moto.
        alarm: One of its alarms.
        end: End of the newest period.
        ranked: Values of Contributor Insights.
    """
    count = int(alarm.evaluation_periods) + MORE_PERIODS
    if not alarm.metric_data_queries:
        periods = list(_periods(end, int(alarm.period), count))
        if alarm.extended_statistic:
            raise AssertionError(f"{alarm.name}: statistic {alarm.extended_statistic} is not in this double")
        return _series(
            backend,
            periods,
            namespace=alarm.namespace,
            name=alarm.metric_name,
            dimensions=alarm.dimensions,
            statistic=alarm.statistic,
            unit=alarm.unit,
        )
    return _of_queries(backend, alarm, end=end, count=count, ranked=ranked)


def _of_queries(backend: Any, alarm: Any, *, end: datetime, count: int, ranked: Ranked) -> Series:
    queries = {query.id: query for query in alarm.metric_data_queries}
    watched = [name for name, query in queries.items() if _is_watched(query)]
    seconds = {
        int(period)
        for query in queries.values()
        for period in (query.period if query.metric_stat is None else query.metric_stat.period,)
        if period is not None
    }
    if len(watched) != 1 or len(seconds) != 1:
        raise AssertionError(
            f"{alarm.name}: an alarm watches one series and its metrics have one period, got "
            f"{', '.join(watched)} with {', '.join(map(str, seconds))} seconds"
        )
    (length,) = seconds
    periods = list(_periods(end, length, count))
    metrics = {
        name: _series(
            backend,
            periods,
            namespace=query.metric_stat.metric.namespace,
            name=query.metric_stat.metric.metric_name,
            dimensions=query.metric_stat.metric.dimensions,
            statistic=query.metric_stat.stat,
            unit=query.metric_stat.unit,
        )
        for name, query in queries.items()
        if query.metric_stat is not None
    }

    def ranking(rule: str, metric: str) -> Series:
        found = {at: ranked(rule, metric, *period) for at, period in enumerate(periods)}
        return {at: value for at, value in found.items() if value is not None}

    return evaluate(
        watched[0],
        metrics=metrics,
        expressions={name: query.expression for name, query in queries.items() if query.expression},
        periods=count,
        seconds=dict.fromkeys(metrics, length),
        ranking=ranking,
    )


def _is_watched(query: Any) -> bool:
    return str(query.return_data).lower() != "false"


def _periods(end: datetime, seconds: int, count: int) -> Iterator[tuple[datetime, datetime]]:
    length = timedelta(seconds=seconds)
    for number in range(count):
        yield end - (number + 1) * length, end - number * length


def _series(
    backend: Any,
    periods: list[tuple[datetime, datetime]],
    *,
    namespace: str,
    name: str,
    dimensions: Any,
    statistic: str,
    unit: str | None,
) -> Series:
    wanted = {(one.name, one.value) for one in dimensions or ()}
    put = [
        datum
        for datum in backend.metric_data
        if (datum.namespace, datum.name) == (namespace, name)
        and {(one.name, one.value) for one in datum.dimensions} == wanted
        and unit in (None, datum.unit)
    ]
    found: dict[int, float] = {}
    for at, (start, end) in enumerate(periods):
        within = [datum for datum in put if start <= _minute(datum.timestamp) < end]
        if within:
            found[at] = _statistic(within, statistic)
    return found


def _minute(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.replace(second=0, microsecond=0)


def _statistic(put: list[Any], statistic: str) -> float:
    sets = [
        (one.min, one.max, one.sum, one.sample_count)
        if isinstance(one, MetricAggregatedDatum)
        else (one.value, one.value, one.value, 1.0)
        for one in put
    ]
    smallest, largest, sums, counts = zip(*sets, strict=True)
    statistics: Mapping[str, Callable[[], float]] = {
        "Sum": lambda: sum(sums),
        "Maximum": lambda: max(largest),
        "Minimum": lambda: min(smallest),
        "SampleCount": lambda: sum(counts),
        "Average": lambda: sum(sums) / sum(counts),
    }
    if statistic not in statistics:
        raise AssertionError(f"the statistic {statistic} is not in this double, only {', '.join(statistics)}")
    return float(statistics[statistic]())
