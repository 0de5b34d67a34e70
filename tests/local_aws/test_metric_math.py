"""Metric math of the double, against the examples of AWS's documentation."""

from __future__ import annotations

import pytest

from aws_double.services.metric_math import Series, UnknownMathError, evaluate

_ = None


def series(*values: float | None) -> dict[int, float]:
    """Values from the oldest to the newest; None is missing."""
    return {len(values) - 1 - at: float(value) for at, value in enumerate(values) if value is not None}


# As the documentation writes them, with "-" for a missing value.
COMPARED = {"metric1": series(30, 20, 0, 0), "metric2": series(20, _, 20, _)}
CHOSEN = {"m1": series(1, 1, 0, 0, _), "m2": series(30, _, 0, 0, 30), "m3": series(0, 0, 20, _, 20)}
TWO = {"m1": series(6, _, 4, 3), "m2": series(3, 2, 0, _)}
ERRORS = {"errors_a": series(1, 2), "errors_b": series(3, _), "requests": series(10, 20)}


@pytest.mark.parametrize(
    ("metrics", "expression", "expected"),
    [
        (COMPARED, "(metric1 < metric2)", series(0, 0, 1, 0)),
        (COMPARED, "(metric1 >= 30)", series(1, 0, 0, 0)),
        (COMPARED, "(metric1 > 15 AND metric2 > 15)", series(1, 0, 0, 0)),
        (COMPARED, "metric1 > 15 || metric2 > 15", series(1, 1, 1, 0)),
        (COMPARED, "metric1 == 20 OR metric1 != 30", series(0, 1, 1, 1)),
        (COMPARED, "metric2 <= 20 && metric1 > 1", series(1, 0, 0, 0)),
        (CHOSEN, "IF(m1, m2, m3)", series(30, 0, 20, _, _)),
        (CHOSEN, "IF(m1, 5, m3)", series(5, 5, 20, _, _)),
        (CHOSEN, "IF(m1, m2, 5)", series(30, 0, 5, 5, _)),
        (CHOSEN, "IF(m1, m2)", series(30, 0, _, _, _)),
        (CHOSEN, "IF(1, m2, m3)", CHOSEN["m2"]),
        (CHOSEN, "IF(0, m2, m3)", CHOSEN["m3"]),
        (CHOSEN, "IF(0, m2)", {}),
        (CHOSEN, "IF(m3 > 10, m3)", series(_, _, 20, _, 20)),
        (TWO, "m1 + m2", series(9, 2, 4, 3)),
        (TWO, "m1 - m2", series(3, -2, 4, 3)),
        (TWO, "m1 * m2", series(18, 0, 0, 0)),
        (TWO, "m1 / m2", series(2, 0, _, _)),
        (TWO, "100 / m2", series(100 / 3, 50, _, _)),
        (TWO, "m1 + 1", series(7, _, 5, 4)),
        (TWO, "-5 * m1", series(-30, _, -20, -15)),
        (TWO, "2 + 3 * m2 ^ 2", series(29, 14, 2, _)),
        (TWO, "(m1 - 1) * 2 > 6", series(1, _, 0, 0)),
        (TWO, "m1 * (m2 < 1)", series(0, 0, 4, 0)),
        (TWO, "ABS(m2 - m1)", series(3, 2, 4, 3)),
        (TWO, "CEIL(m1 / 4) + FLOOR(m1 / 4)", series(3, _, 2, 1)),
        (TWO, "FILL(m1, 0)", series(6, 0, 4, 3)),
        (TWO, "FILL(m2, REPEAT)", series(3, 2, 0, 0)),
        (TWO, "FILL(m1, m2)", series(6, 2, 4, 3)),
        (TWO, "m1 / PERIOD(m1) * 60", series(1.2, _, 0.8, 0.6)),
        (TWO, "TIME_SERIES(2) + m2 * 0", series(2, 2, 2, 2)),
        (ERRORS, "SUM(METRICS('errors'))", series(4, 2)),
        (ERRORS, 'SUM(METRICS("errors")) / requests * 100', series(40, 10)),
        (ERRORS, "AVG([errors_a, errors_b])", series(2, 1)),
        (ERRORS, "MAX(METRICS())", series(10, 20)),
        (ERRORS, "MIN([METRICS('errors'), requests])", series(1, 2)),
        (ERRORS, "SUM(METRICS() * 2)", series(28, 44)),
        (ERRORS, "SUM(FILL(METRICS(), 1))", series(14, 23)),
        (ERRORS, "SUM([errors_a, errors_b] / [requests, requests])", series(0.4, 0.1)),
        (ERRORS, "share > 0.15", series(1, 0)),
    ],
)
def test_a_value_for_each_period(metrics: dict[str, Series], expression: str, expected: Series) -> None:
    found = evaluate(
        expression,
        metrics=metrics,
        expressions={"share": "SUM(METRICS('errors')) / requests"},
        periods=max(max(one, default=0) for one in metrics.values()) + 1,
        seconds=dict.fromkeys(metrics, 300),
    )
    assert found == pytest.approx(expected)


def test_what_contributor_insights_ranks() -> None:
    asked = []

    def ranking(rule: str, metric: str) -> Series:
        asked.append((rule, metric))
        return series(2, 3)

    found = evaluate('INSIGHT_RULE_METRIC("most", "MaxContributorValue")', metrics={}, ranking=ranking)
    assert (found, asked) == (series(2, 3), [("most", "MaxContributorValue")])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("m1 > 1 AND m2 > 1 OR m1 > 2", "AND beside OR"),
        ("m1 < m2 < 3", "two comparisons in a row"),
        ("SUM(m1)", "how many periods AWS looks at"),
        ("MAX(5)", "how many periods AWS looks at"),
        ("SEARCH('{a,b}', 'Sum')", "of which AWS makes no alarm"),
        ("RATE(m1)", "the function RATE is not in this double"),
        ("sum([m1, m2])", "the function sum is not in this double"),
        ("FILL(m1, LINEAR)", "FILL by LINEAR is not in this double"),
        ("FILL(none, 0)", "FILL of a series without any value"),
        ("FILL(5, 0)", "takes series, got a number"),
        ("m3 + 1", "no metric or expression with the id 'm3'; known: m1, m2, none, itself"),
        ("itself + 1", "it uses itself"),
        ("METRICS()", "an alarm watches one series, got an array"),
        ("2 * 3", "an alarm watches one series, got a number"),
        ("[m1, m2] + [m1, m2, m1]", "arrays of 2 and 3 series"),
        ("SUM([m1, 2])", "an array takes series, got a number"),
        ("m1 % 2", "'%' is not known here"),
        ("(m1 + 2", "expected ), got its end"),
        ("m1 m2", "expected its end, got 'm2'"),
        ("m1 + * 2", "expected a value, got '*'"),
        ("IF(m1)", "IF takes a condition"),
        ("IF(1, 2, m1)", "IF of a number takes a series"),
        ("ABS(m1, m2)", "ABS takes one argument, got 2"),
        ("PERIOD(none) * m1", "PERIOD takes the id of a metric"),
        ("TIME_SERIES(m1)", "TIME_SERIES takes a number"),
        ("METRICS(m1)", "METRICS takes one text or none"),
        ("INSIGHT_RULE_METRIC('a', 'b')", "where there are rules"),
        ("", "expected more, got its end"),
    ],
)
def test_what_it_does_not_know_fails(expression: str, message: str) -> None:
    with pytest.raises(UnknownMathError) as refused:
        evaluate(
            expression,
            metrics={"m1": series(1, 2), "m2": series(2, 3), "none": {}},
            expressions={"itself": "itself + 1"},
            periods=2,
            seconds={"m1": 60, "m2": 60},
        )
    assert message in str(refused.value)
