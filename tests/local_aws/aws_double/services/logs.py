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
_JSON = re.compile(r"\{ (?P<condition>.+) \}")
_PART = re.compile(r"\((?P<condition>[^()]+)\)")
_CONDITION = re.compile(
    r"\$\.(?P<member>[\w.]+) "
    r'(?:= "(?P<text>[^"]*)"|= (?P<number>-?\d+(?:\.\d+)?)|IS (?P<truth>TRUE|FALSE))'
)
_VALUE = re.compile(r"\$\.(?P<member>[\w.]+)")
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
        ValueError: For a pattern that this double does not know: it has a quoted term, and members of JSON
            that equal a text or a number or are true or false, one or several that all have to.
    """
    term, whole = _TERM.fullmatch(pattern), _JSON.fullmatch(pattern)
    if term is not None:
        return term["term"] in line
    if whole is None:
        raise ValueError(f"filter pattern {pattern!r} is not in this double")
    parts = whole["condition"].split(" && ")
    inner = [_PART.fullmatch(part) for part in parts] if len(parts) > 1 else [whole]
    conditions = [None if part is None else _CONDITION.fullmatch(part["condition"]) for part in inner]
    if None in conditions:
        raise ValueError(f"filter pattern {pattern!r} is not in this double")
    try:
        event = json.loads(line)
    except ValueError:
        return False
    return all(_holds(condition, event) for condition in conditions if condition is not None)


def _holds(condition: re.Match[str], event: Any) -> bool:
    found = _at(event, condition["member"])
    if condition["text"] is not None:
        return isinstance(found, str) and found == condition["text"]
    if condition["number"] is not None:
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        return is_number and found == float(condition["number"])
    return found is (condition["truth"] == "TRUE")


def _at(event: Any, member: str) -> Any:
    for step in member.split("."):
        event = event.get(step) if isinstance(event, dict) else None
    return event


def _value(said: str, line: str) -> float | None:
    """Return what a line counts: a number of the filter, or a member of the event, which may have none."""
    member = _VALUE.fullmatch(said)
    if member is None:
        return float(said)
    found = _at(json.loads(line), member["member"])
    # Numbers with an exponent are none: CloudWatch Logs user guide, extract values from JSON log events.
    return float(found) if re.fullmatch(r"-?\d+(\.\d+)?", json.dumps(found)) else None


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
            found = [
                event["message"] for event in log_events if matches(one["filterPattern"], event["message"])
            ]
            for metric in one["metricTransformations"]:
                values = [_value(metric["metricValue"], line) for line in found]
                for value in values:
                    if value is not None:
                        cloudwatch.count(
                            backend.region_name, metric["metricNamespace"], metric["metricName"], value, {}
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
