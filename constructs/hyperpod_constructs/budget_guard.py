"""What a cluster costs, and whether anybody uses it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from aws_cdk import Annotations, Duration, Stack, Tags, Token
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import CLUSTER, check_kind, check_list
from hyperpod_constructs.cluster_place import check_cluster
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster, HyperPodClusterBase
from hyperpod_constructs.job_metric import job_metric
from hyperpod_constructs.log_alarm import tell
from hyperpod_constructs.notice_topic import NoticeTopic, check_notices
from hyperpod_constructs.operator_commands import all_jobs, list_nodes, orchestrator_of
from hyperpod_constructs.taken_names import claim_name
from hyperpod_constructs.tokens import known
from hyperpod_constructs.unlisted_types import warn_of_unlisted_type
from hyperpod_constructs.value_faults import number_faults
from hyperpod_model.catalog.budgets import (
    BUDGET_TYPE,
    DEFAULT_COST_ALLOCATION_TAG,
    TAG_FILTER,
    tag_filter_value,
)
from hyperpod_model.catalog.job_figures import CHECK_MINUTES, RUNNING_JOBS
from hyperpod_model.checks.budget import check_budget, check_cost_tag_value, check_without_limit
from hyperpod_model.faults import Fault

TAG_NOTE: Final = "hyperpod:BudgetGuard.costAllocationTag"
BUDGET_WARNING: Final = "hyperpod:BudgetGuard.budget"
NO_READER_WARNING: Final = "hyperpod:BudgetGuard.noReader"
IMPORTED_TAG_WARNING: Final = "hyperpod:BudgetGuard.importedCluster"

_USD: Final = "USD"
_ACTUAL_ALERTS: Final = (50, 80, 100)
_FORECAST_ALERTS: Final = (100,)
_MISSED_CHECKS: Final = 1
_MINUTES_OF_HOUR: Final = 60
_LISTS: Final = {
    "actual_alert_percentages": "percentages",
    "forecast_alert_percentages": "percentages",
    "emails": "e-mail addresses",
}
_HOURS_LATE: Final = (
    "must be known at synthesis, got a Token: CloudFormation cannot make the seconds of a period from it; "
    "give a number, such as a context value of the app"
)


class BudgetGuard(Construct):
    """A budget in US dollars for one cluster, and an alarm when no job has run on it for hours.

    Either can do without the other: without ``limit_usd`` there is the alarm alone, with
    ``idle_hours=None`` the budget.

    The budget counts what has the cluster's cost allocation tag. Only the paying account can activate a tag,
    in the Billing console; before, the budget sees no costs and alerts nobody, which an annotation at
    synthesis says. A monthly budget starts anew each month; one with dates is a campaign, which AWS deletes
    after its end.

    The alarm watches the metric ``RunningJobs``, which a check puts every 10 minutes: with Slurm a timer on
    the controller (a step of the package's lifecycle scripts), with EKS a CronJob (``JobFiguresCheck`` of
    ``hyperpod_charts``). It begins when the checks of all those hours came in, but for one, and none saw a
    job. No data is no idle fleet: with too few checks it does not begin, with none at all it turns to
    ``INSUFFICIENT_DATA``.

    Sources: Cost Management user guide, budgets and cost allocation tags; CloudWatch user guide, metric math.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster. One that is imported must have the tag already.
        limit_usd: What it may cost in US dollars, each month or between the dates. Default: no budget, and
            no argument that only a budget needs.
        start_date: First day of a campaign, such as ``2027-01-15``. Default: a monthly budget.
        end_date: Day on which it ends. Required with ``start_date``.
        actual_alert_percentages: Percentages of ``limit_usd`` that are told of when spent. Default 50, 80,
            100.
        forecast_alert_percentages: Those that are told of when AWS forecasts them, after about five weeks of
            spending. Default 100.
        notices: Topic for all alerts, such as ``ClusterObservability(...).notices``, or an existing one by
            ``NoticeTopic.from_topic``, whose policies must admit budgets.amazonaws.com and
            cloudwatch.amazonaws.com. Default: one is made, to which ``emails`` are subscribed.
        emails: Addresses, up to 10. With ``notices`` they get the alerts of the budget alone, which needs
            ``limit_usd``. Default: none.
        cost_allocation_tag: Key of the tag. Default ``hyperpod-cluster``.
        cost_allocation_tag_value: Its value. Default: the cluster's name, and the cluster gets the tag. One
            that is given must be on the cluster already.
        idle_hours: Hours without a job after which the alarm begins, 1 to 24; None for no alarm. Default 4.
        cost_per_hour_usd: What an hour of the whole cluster costs in US dollars, for the alarm to say.
            Default: it names no amount.

    Attributes:
        budget: The budget. None without ``limit_usd``.
        notices: The topic.
        idle_alarm: The alarm. None if switched off.
        running_jobs: The metric that it watches.

    Raises:
        InvalidInputError: If an argument is of another kind, an amount, date, percentage, address, tag or
            number of hours is none, the hours or the length of a list are known only at deployment, there is
            neither a limit nor an alarm, another construct has an alarm on this idle fleet, the cluster of
            that alarm or the topic is elsewhere, or something is given for a budget without a limit.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        limit_usd: float | None = None,
        start_date: str | None = None,
        end_date: str | None = None,
        actual_alert_percentages: Sequence[float] | None = None,
        forecast_alert_percentages: Sequence[float] | None = None,
        notices: NoticeTopic | None = None,
        emails: Sequence[str] = (),
        cost_allocation_tag: str | None = None,
        cost_allocation_tag_value: str | None = None,
        idle_hours: int | None = 4,
        cost_per_hour_usd: float | None = None,
    ) -> None:
        super().__init__(scope, id)
        for_budget = {
            "start_date": start_date,
            "end_date": end_date,
            "actual_alert_percentages": actual_alert_percentages,
            "forecast_alert_percentages": forecast_alert_percentages,
            "cost_allocation_tag": cost_allocation_tag,
            "cost_allocation_tag_value": cost_allocation_tag_value,
            "emails": () if notices is None else emails,
        }
        actual = _ACTUAL_ALERTS if actual_alert_percentages is None else actual_alert_percentages
        forecast = _FORECAST_ALERTS if forecast_alert_percentages is None else forecast_alert_percentages
        tag = DEFAULT_COST_ALLOCATION_TAG if cost_allocation_tag is None else cost_allocation_tag
        self._check(
            cluster,
            notices,
            for_budget if limit_usd is None else {},
            cost_allocation_tag_value,
            limit_usd=limit_usd,
            start_date=start_date,
            end_date=end_date,
            actual_alert_percentages=actual,
            forecast_alert_percentages=forecast,
            emails=emails,
            cost_allocation_tag=tag,
            idle_hours=idle_hours,
            cost_per_hour_usd=cost_per_hour_usd,
        )
        self._cluster = cluster
        if notices is None and not emails:
            Annotations.of(self).add_warning_v2(
                NO_READER_WARNING,
                "nobody hears what the cluster costs, or that it idles; pass emails, or notices that "
                "somebody reads, or subscribe to the topic of this construct and acknowledge this",
            )
        self.notices = NoticeTopic(self, "Topic", emails=emails) if notices is None else notices
        self.budget: budgets.CfnBudget | None = None
        if limit_usd is not None:
            readers: Sequence[str] = () if notices is None else emails
            alerts = [
                _alert(kind, percent, topic_arn=self.notices.topic.topic_arn, emails=readers)
                for kind, percentages in (("ACTUAL", actual), ("FORECASTED", forecast))
                for percent in percentages
            ]
            value = self._tag(tag, cost_allocation_tag_value)
            self.budget = self._budget(
                limit_usd, alerts, dates=(start_date, end_date), tag=tag_filter_value(tag, value)
            )
        self.running_jobs = job_metric(RUNNING_JOBS, cluster_name=cluster.cluster_name)
        self.idle_alarm = None if idle_hours is None else self._idle_alarm(idle_hours, cost_per_hour_usd)

    def _check(
        self,
        cluster: HyperPodClusterBase,
        notices: NoticeTopic | None,
        useless: Mapping[str, Any],
        tag_value: str | None,
        **said: Any,
    ) -> None:
        owner = f"budget '{self.node.path}'"
        refuse_arguments(
            owner,
            [
                *(
                    check_kind(cluster, CLUSTER, ("cluster",), required=True)
                    if said["idle_hours"] is None
                    else check_cluster(cluster, scope=self)
                ),
                *check_notices(notices, scope=self),
                *(
                    fault
                    for name, items in _LISTS.items()
                    for fault in check_list(said[name], (name,), of=items)
                ),
            ],
        )
        hours = said["idle_hours"]
        faults = [
            *number_faults(said["limit_usd"], "limit_usd"),
            *number_faults(said["cost_per_hour_usd"], "cost_per_hour_usd"),
            *(
                [Fault(("idle_hours",), _HOURS_LATE)]
                if isinstance(hours, (int, float, str)) and Token.is_unresolved(hours)
                else []
            ),
            *check_cost_tag_value(known(tag_value)),
            *check_budget({name: _seen(value) for name, value in said.items()}),
            *check_without_limit({name: _seen(value) for name, value in useless.items()}),
        ]
        for warning in refuse_arguments(owner, faults):
            Annotations.of(self).add_warning_v2(BUDGET_WARNING, str(warning))

    def _budget(
        self, limit_usd: float, alerts: Sequence[Any], *, dates: tuple[str | None, str | None], tag: str
    ) -> budgets.CfnBudget:
        warn_of_unlisted_type(self, BUDGET_TYPE)
        self.notices.admit_budgets()
        start, end = dates
        time_unit = "MONTHLY" if start is None else "CUSTOM"
        return budgets.CfnBudget(
            self,
            "Resource",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=self._name(alerts, time_unit),
                budget_type="COST",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=limit_usd, unit=_USD),
                time_unit=time_unit,
                time_period=None
                if start is None or end is None
                else budgets.CfnBudget.TimePeriodProperty(start=_epoch(start), end=_epoch(end)),
                cost_filters={TAG_FILTER: [tag]},
            ),
            notifications_with_subscribers=list(alerts),
        )

    def _tag(self, key: str, value: str | None) -> str:
        """Put the tag on the cluster unless it is there, and say what is to be done about it."""
        Annotations.of(self).add_info_v2(
            TAG_NOTE,
            f"the budget counts what has the tag '{key}', which must be activated once under Cost allocation "
            "tags in the Billing console of the paying account; before, it sees no costs",
        )
        if value is not None:
            return value
        if isinstance(self._cluster, HyperPodCluster):
            Tags.of(self._cluster).add(key, self._cluster.cluster_name)
        else:
            Annotations.of(self).add_warning_v2(
                IMPORTED_TAG_WARNING,
                f"the cluster is imported and must have the tag '{key}' with its name already; if it has "
                "another, pass cost_allocation_tag and cost_allocation_tag_value, else tag it and "
                "acknowledge this",
            )
        return self._cluster.cluster_name

    def _name(self, alerts: Sequence[Any], time_unit: str) -> str:
        """A name of the account, which no other budget of the cluster has.

        It is another one with other alerts and with dates, which CloudFormation replaces a budget for: a
        replacement under the name of the former one would fail. Source: CloudFormation, AWS::Budgets::Budget.
        """
        replaced_for = [self.node.addr, time_unit, Stack.of(self).resolve(alerts)]
        content = json.dumps(replaced_for, sort_keys=True, default=str)
        digest = hashlib.sha256(content.encode()).hexdigest()[:6]
        return f"hyperpod-{self._cluster.cluster_name}-{Stack.of(self).region}-{digest}"

    def _idle_alarm(self, hours: int, cost_per_hour_usd: float | None) -> cloudwatch.Alarm:
        self.notices.admit_alarms()
        name = self._cluster.cluster_name
        window = Duration.hours(hours)
        expected = hours * _MINUTES_OF_HOUR // CHECK_MINUTES
        alarm_name = f"hyperpod-{name}-idle-fleet"
        way_out = "pass idle_hours=None to one of both"
        refuse_arguments(
            f"budget '{self.node.path}'",
            claim_name(self, "alarm", alarm_name, path=("idle_hours",), way_out=way_out),
        )
        alarm = cloudwatch.Alarm(
            self,
            "IdleAlarm",
            alarm_name=alarm_name,
            alarm_description=(
                f"No job has run on HyperPod cluster {name} for {hours} hours"
                f"{_cost(hours, cost_per_hour_usd)}. Its nodes cost as much idle as busy: start a job, or "
                f"scale groups down. Look: {all_jobs(orchestrator_of(self._cluster))}, and "
                f"{list_nodes(name, Stack.of(self).region)}"
            ),
            metric=cloudwatch.MathExpression(
                # A comparison is 1 or 0: the number of checks that came in, if none of them saw a job.
                expression="checks * (running < 1)",
                using_metrics={
                    "checks": self.running_jobs.with_(statistic=cloudwatch.Stats.SAMPLE_COUNT, period=window),
                    "running": self.running_jobs.with_(period=window),
                },
                period=window,
                label="checks without a running job",
            ),
            threshold=expected - _MISSED_CHECKS,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.MISSING,
        )
        tell(alarm, self.notices)
        return alarm


def _seen(value: Any) -> Any:
    return [known(item) for item in value] if isinstance(value, (list, tuple)) else known(value)


def _alert(kind: str, percent: float, *, topic_arn: str, emails: Sequence[str]) -> Any:
    subscriber = budgets.CfnBudget.SubscriberProperty
    return budgets.CfnBudget.NotificationWithSubscribersProperty(
        notification=budgets.CfnBudget.NotificationProperty(
            comparison_operator="GREATER_THAN",
            notification_type=kind,
            threshold=percent,
            threshold_type="PERCENTAGE",
        ),
        subscribers=[
            subscriber(subscription_type="SNS", address=topic_arn),
            *(subscriber(subscription_type="EMAIL", address=address) for address in emails),
        ],
    )


def _epoch(day: str) -> str:
    """A day as CloudFormation takes it: seconds since 1970, at midnight UTC."""
    if Token.is_unresolved(day):
        return day
    return str(int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()))


def _cost(hours: int, per_hour: float | None) -> str:
    if per_hour is None:
        return ""
    if Token.is_unresolved(per_hour):
        return f", at {Token.as_string(per_hour)} USD an hour"
    return f", at {per_hour:,.2f} USD an hour: {hours * per_hour:,.2f} USD so far"
