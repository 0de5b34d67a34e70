"""A report as one HTML page, for people who decide."""

from hyperpod_policy.reports.html.page import render

__all__ = ["render"]
