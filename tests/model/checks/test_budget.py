"""Budgets by themselves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hyperpod_model.catalog.budgets import tag_filter_value
from hyperpod_model.checks.budget import check_budget
from hyperpod_model.faults import UNKNOWN, FaultPath

SOUND: dict[str, Any] = {
    "limit_usd": 650_000,
    "start_date": None,
    "end_date": None,
    "actual_alert_percentages": [50, 80, 100],
    "forecast_alert_percentages": [100],
    "emails": ["finance@example.com"],
    "cost_allocation_tag": "hyperpod-cluster",
    "idle_hours": 4,
    "cost_per_hour_usd": 890.5,
}


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"limit_usd": 0}, ("limit_usd",), "must be an amount of US dollars above 0, got 0"),
        ({"limit_usd": -1}, ("limit_usd",), "above 0, got -1"),
        ({"limit_usd": True}, ("limit_usd",), "above 0, got True"),
        ({"limit_usd": float("nan")}, ("limit_usd",), "above 0, got nan"),
        ({"limit_usd": float("inf")}, ("limit_usd",), "above 0, got inf"),
        ({"limit_usd": "650000"}, ("limit_usd",), "above 0, got '650000'"),
        ({"start_date": "2027-01-15"}, ("end_date",), "is required with start_date: a campaign has both"),
        ({"end_date": "2027-01-15"}, ("start_date",), "is required with end_date"),
        (
            {"start_date": "15.1.2027", "end_date": "2027-02-01"},
            ("start_date",),
            "must be a date such as '2027-03-31', got '15.1.2027'",
        ),
        ({"start_date": "2027-01-15", "end_date": "2027-02-30"}, ("end_date",), "must be a date"),
        (
            {"start_date": "2027-01-15", "end_date": "2027-01-15"},
            ("end_date",),
            "must be after start_date '2027-01-15', got '2027-01-15'",
        ),
        (
            {"actual_alert_percentages": [80, 0]},
            ("actual_alert_percentages", 1),
            r"must be 0.1 to 1e\+09 percent of limit_usd, got 0",
        ),
        ({"forecast_alert_percentages": ["100"]}, ("forecast_alert_percentages", 0), "got '100'"),
        (
            {"actual_alert_percentages": [80, 80]},
            ("actual_alert_percentages", 1),
            "80 is given twice; leave one out",
        ),
        (
            {"actual_alert_percentages": [], "forecast_alert_percentages": []},
            ("actual_alert_percentages",),
            "is empty, and so is forecast_alert_percentages: nobody would hear",
        ),
        (
            {"actual_alert_percentages": list(range(10, 110, 10))},
            ("actual_alert_percentages",),
            "and forecast_alert_percentages must be 10 or fewer together, got 11",
        ),
        ({"emails": ["finance"]}, ("emails", 0), "must be an e-mail address, .*got 'finance'"),
        (
            {"emails": [f"a{number}@example.com" for number in range(11)]},
            ("emails",),
            "must be 10 or fewer, got 11",
        ),
        ({"cost_allocation_tag": "a$b"}, ("cost_allocation_tag",), "got 'a\\$b'"),
        ({"cost_allocation_tag": ""}, ("cost_allocation_tag",), "must have 1 to 128 characters, got 0"),
        (
            {"cost_allocation_tag": "AWS:createdBy"},
            ("cost_allocation_tag",),
            "must not begin with aws:, whose tags AWS sets, got 'AWS:createdBy'",
        ),
        ({"idle_hours": 0}, ("idle_hours",), "must be a whole number of hours from 1 to 24, got 0"),
        ({"idle_hours": 25}, ("idle_hours",), "from 1 to 24, got 25"),
        ({"idle_hours": 1.5}, ("idle_hours",), "from 1 to 24, got 1.5"),
        ({"cost_per_hour_usd": 0}, ("cost_per_hour_usd",), "above 0, got 0"),
        (
            {"idle_hours": None},
            ("cost_per_hour_usd",),
            "is stated by the alarm on an idle fleet, which is off",
        ),
    ],
)
def test_is_found(change: dict[str, Any], path: FaultPath, message: str) -> None:
    [fault] = check_budget(SOUND | change)
    assert fault.path == path
    assert re.search(message, fault.message)
    assert fault.severity == ("warning" if "which is off" in message else "error")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"start_date": "2027-01-15", "end_date": "2027-03-31"},
        {"actual_alert_percentages": [], "forecast_alert_percentages": [0.1]},
        {"actual_alert_percentages": list(range(10, 100, 10)), "forecast_alert_percentages": [10]},
        {"emails": []},
        {"idle_hours": None, "cost_per_hour_usd": None},
        {"idle_hours": 24, "cost_per_hour_usd": None},
        {"limit_usd": 0.5, "cost_allocation_tag": "team:cost/centre"},
    ],
    ids=str,
)
def test_says_nothing(change: dict[str, Any]) -> None:
    assert check_budget(SOUND | change) == []


@pytest.mark.parametrize("name", SOUND)
def test_what_is_known_only_later_passes(name: str) -> None:
    dates = {"start_date": "2027-01-15", "end_date": "2027-03-31"}
    assert check_budget(SOUND | dates | {name: UNKNOWN}) == []


def test_items_that_are_known_only_later_pass() -> None:
    later = {"actual_alert_percentages": [UNKNOWN, UNKNOWN], "emails": [UNKNOWN, UNKNOWN]}
    dates = {"start_date": UNKNOWN, "end_date": "2027-03-31"}
    assert check_budget(SOUND | later | dates) == []


def test_a_tag_in_the_terms_of_budgets() -> None:
    assert tag_filter_value("hyperpod-cluster", "llm-train") == "user:hyperpod-cluster$llm-train"
