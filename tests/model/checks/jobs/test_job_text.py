from __future__ import annotations

from plain_jobs import Case, table_tests

CASES = [
    Case({"script_args": ["a\u2028b"]}, ("script_args", 0), "must have no control characters"),
    Case({"script": "/a\x7f"}, ("script",), "must have no control characters"),
    Case({"environment": {"A": "\x00"}}, ("environment", "A"), "must have no control characters"),
    Case({"environment": {"A\x85": "a"}}, ("environment",), "must have no control characters in its names"),
]
LEGAL = [
    {"script_args": ["two\nlines\tand a tab", "Grüße, 学習"]},
    {"environment": {"A": "\u2027"}},
]

test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
