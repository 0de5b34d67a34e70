"""CloudWatch Logs of the double: moto's, which takes any key for a log group and counts no lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend
from moto.logs.responses import LogsResponse

from aws_double import ACCOUNT
from aws_double.patching import around, before
from aws_double.permissions.principals import service
from aws_double.permissions.verdicts import general_keys, judge_other
from aws_double.services import cloudwatch

_NEEDED = ("kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:GenerateDataKey", "kms:DescribeKey")
_MEMBER_IS = re.compile(r'\{ \$\.(?P<member>[\w.]+) = "(?P<value>[^"]*)" \}')
_TERM = re.compile(r'"(?P<term>[^"]+)"')


def install() -> None:
    """Patch moto."""
    before(LogsBackend, "create_log_group", _check_new_group)
    around(LogsBackend, "delete_log_group", _with_its_filters)
    around(LogsBackend, "put_metric_filter", _of_a_group_that_exists)
    around(LogsBackend, "put_log_events", _counted)
    before(LogsBackend, "put_resource_policy", _check_policy)
    LogsResponse.associate_kms_key = _associate_kms_key  # type: ignore[attr-defined]


def matches(pattern: str, line: str) -> bool:
    """Tell whether a filter pattern finds a line.

    Raises:
        ValueError: For a pattern that this double does not know: it has a quoted term, and a member of JSON
            that equals a text.
    """
    term, member = _TERM.fullmatch(pattern), _MEMBER_IS.fullmatch(pattern)
    if term is not None:
        return term["term"] in line
    if member is None:
        raise ValueError(f"filter pattern {pattern!r} is not in this double")
    try:
        found = json.loads(line)
    except ValueError:
        return False
    for step in member["member"].split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return bool(found == member["value"])


def _associate_kms_key(response: Any) -> str:
    name, key = response._get_param("logGroupName"), response._get_param("kmsKeyId")
    backend = response.logs_backend
    if name not in backend.groups:
        raise ResourceNotFoundException
    _check_key(backend.region_name, name, key)
    backend.groups[name].kms_key_id = key
    return ""


def _check_new_group(backend: Any, asked: Mapping[str, Any]) -> None:
    key = asked["kwargs"].get("kmsKeyId")
    if key is not None:
        _check_key(backend.region_name, asked["log_group_name"], key)


def _check_key(region: str, name: str, key: str) -> None:
    """Refuse a key that does not let CloudWatch Logs encrypt this group."""
    keys = {
        **general_keys(),
        "kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:{region}:{ACCOUNT}:log-group:{name}",
        "aws:SourceAccount": ACCOUNT,
    }
    for action in _NEEDED:
        decision = judge_other(service(f"logs.{region}.amazonaws.com"), action, key, keys)
        if not decision.allowed:
            raise JsonRESTError(
                "InvalidParameterException",
                "The specified KMS Key Id could not be found, is not enabled, or "
                f"does not let CloudWatch Logs use it: {decision.reason}",
            )


def _with_its_filters(method: Callable[..., Any]) -> Callable[..., Any]:
    def delete_log_group(backend: Any, log_group_name: str) -> None:
        method(backend, log_group_name)
        kept = [one for one in backend.filters.metric_filters if one["logGroupName"] != log_group_name]
        backend.filters.metric_filters = kept

    return delete_log_group


def _of_a_group_that_exists(method: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse a filter of no group; one of the same name is the same, changed."""

    def put_metric_filter(
        backend: Any, filter_name: str, filter_pattern: str, log_group_name: str, transformations: Any
    ) -> None:
        if log_group_name not in backend.groups:
            raise ResourceNotFoundException
        matches(filter_pattern, "")
        backend.filters.metric_filters = [
            one
            for one in backend.filters.metric_filters
            if (one["filterName"], one["logGroupName"]) != (filter_name, log_group_name)
        ]
        method(backend, filter_name, filter_pattern, log_group_name, transformations)

    return put_metric_filter


def _counted(method: Callable[..., Any]) -> Callable[..., Any]:
    """Count the lines that metric filters find."""

    def put_log_events(
        backend: Any, log_group_name: str, log_stream_name: str, log_events: list[dict[str, Any]]
    ) -> Any:
        answer = method(backend, log_group_name, log_stream_name, log_events)
        for one in backend.filters.metric_filters:
            if one["logGroupName"] != log_group_name:
                continue
            found = sum(matches(one["filterPattern"], event["message"]) for event in log_events)
            for metric in one["metricTransformations"] if found else []:
                cloudwatch.count(
                    backend.region_name,
                    metric["metricNamespace"],
                    metric["metricName"],
                    found * float(metric["metricValue"]),
                    {},
                )
        cloudwatch.look_at_lines(backend.region_name, log_group_name)
        return answer

    return put_log_events


def _check_policy(_backend: Any, asked: Mapping[str, Any]) -> None:
    try:
        json.loads(asked["policy_doc"])["Statement"]
    except (ValueError, KeyError, TypeError) as error:
        raise JsonRESTError(
            "InvalidParameterException", f"PolicyDocument is not well formatted: {error}"
        ) from error
