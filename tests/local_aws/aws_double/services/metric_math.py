"""The part of CloudWatch's metric math that alarms of this package use, and what comes close to it.

Values are those of the periods that an alarm looks at: a series has a value or none for each of them. As AWS
says it:

- Between two series, arithmetic and comparisons take a missing value as 0 where the other has one. Between a
  series and a number there is a value where the series has one. What divides by zero is dropped.
- Comparisons and ``AND`` and ``OR`` are 1 or 0; every value but 0 is true.
- ``IF`` drops what its condition has no value for, or what is false without an alternative; a true one
  without a value is 0.
- ``SUM``, ``AVG``, ``MAX`` and ``MIN`` of an array are a series; ``SUM`` and ``AVG`` take missing values
  as 0. Those of ``MAX`` and ``MIN``, of which AWS says nothing, are left out here.
- ``METRICS()`` are all metrics, and no expressions; ``METRICS("a")`` those with it in their id.

What AWS does not say is refused: ``SUM`` and the like of one series, which depend on how many periods AWS
happens to look at; ``FILL`` of a series that has no value at all; two comparisons, or ``AND`` beside ``OR``,
without parentheses. So is ``SEARCH``, of which AWS makes no alarm, and each function that is not here.

Source: CloudWatch user guide, using-metric-math.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Series = Mapping[int, float]
"""Values by the number of the period, 0 for the newest; those that are missing are not in it."""

Value = float | Series | list[Any]
Ranking = Callable[[str, str], Series]

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<text>"[^"]*"|'[^']*')|(?P<sign><=|>=|==|!=|&&|\|\||[-+*/^<>(),\[\]]))"""
)
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_LOGIC = {"AND": "AND", "&&": "AND", "OR": "OR", "||": "OR"}
_LOGICAL: Mapping[str, Callable[[float, float], bool]] = {
    "AND": lambda left, right: left != 0 and right != 0,
    "OR": lambda left, right: left != 0 or right != 0,
}
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}
_EACH: Mapping[str, Callable[[float], float]] = {"ABS": abs, "CEIL": math.ceil, "FLOOR": math.floor}
_OVER: Mapping[str, Callable[[Sequence[float], int], float]] = {
    "SUM": lambda present, _: sum(present),
    "AVG": lambda present, count: sum(present) / count,
    "MAX": lambda present, _: max(present),
    "MIN": lambda present, _: min(present),
}


class UnknownMathError(AssertionError):
    """An expression that this double does not evaluate."""


def evaluate(
    expression: str,
    *,
    metrics: Mapping[str, Series],
    expressions: Mapping[str, str] | None = None,
    periods: int = 1,
    seconds: Mapping[str, int] | None = None,
    ranking: Ranking | None = None,
) -> Series:
    """Return the series of an expression.

    Args:
        expression: Of metric math.
        metrics: Series by id.
        expressions: Other expressions by id, which it may use.
        periods: How many periods are looked at.
        seconds: Length of a period by id of a metric, for ``PERIOD``.
        ranking: Series of a rule and a metric of Contributor Insights.

    Raises:
        UnknownMathError: If it says something that is not known here, or is no single series.
    """
    context = _Context(metrics, dict(expressions or {}), periods, dict(seconds or {}), ranking)
    value = context.value_of(expression)
    if not isinstance(value, Mapping):
        kind = "an array" if isinstance(value, list) else "a number"
        raise UnknownMathError(f"{expression}: an alarm watches one series, got {kind}")
    return value


class _Context:
    def __init__(
        self,
        metrics: Mapping[str, Series],
        expressions: Mapping[str, str],
        periods: int,
        seconds: Mapping[str, int],
        ranking: Ranking | None,
    ) -> None:
        self.metrics = metrics
        self.periods = periods
        self.seconds = seconds
        self.ranking = ranking
        self._expressions = expressions
        self._under_way: list[str] = []

    def value_of(self, expression: str) -> Value:
        if expression in self._under_way:
            raise UnknownMathError(f"{expression}: it uses itself")
        self._under_way.append(expression)
        value = _Parser(expression, self).whole()
        self._under_way.pop()
        return value

    def named(self, name: str) -> Value:
        if name in self.metrics:
            return self.metrics[name]
        if name in self._expressions:
            return self.value_of(self._expressions[name])
        known = ", ".join([*self.metrics, *self._expressions]) or "none"
        raise UnknownMathError(f"there is no metric or expression with the id {name!r}; known: {known}")


class _Parser:
    """Evaluates while it reads. Arithmetic binds tighter than comparisons, and these than AND and OR."""

    def __init__(self, expression: str, context: _Context) -> None:
        self._expression = expression
        self._context = context
        self._tokens = list(_tokens(expression))
        self._at = 0

    def whole(self) -> Value:
        value = self._logical()
        if self._at < len(self._tokens):
            raise self._unknown(f"expected its end, got {self._peek()!r}")
        return value

    def _unknown(self, message: str) -> UnknownMathError:
        return UnknownMathError(f"{self._expression}: {message}")

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *expected: str) -> str:
        token = self._peek()
        if token is None or (expected and token not in expected):
            wanted = " or ".join(expected) or "more"
            raise self._unknown(f"expected {wanted}, got {'its end' if token is None else repr(token)}")
        self._at += 1
        return token

    def _logical(self) -> Value:
        value = self._comparison()
        used: set[str] = set()
        while (token := self._peek()) in _LOGIC:
            assert token is not None
            self._take()
            used.add(_LOGIC[token])
            if len(used) > 1:
                raise self._unknown(
                    "AND beside OR; which of them is first, AWS does not say: use parentheses"
                )
            value = _between(value, self._comparison(), _LOGICAL[_LOGIC[token]])
        return value

    def _comparison(self) -> Value:
        value = self._sum()
        compared = False
        while (token := self._peek()) in _COMPARISONS:
            assert token is not None
            self._take()
            if compared:
                raise self._unknown("two comparisons in a row; use parentheses")
            compared = True
            value = _between(value, self._sum(), _COMPARISONS[token])
        return value

    def _sum(self) -> Value:
        value = self._product()
        while (token := self._peek()) in ("+", "-"):
            value = _between(value, (self._take(), self._product())[1], _ARITHMETIC[token])
        return value

    def _product(self) -> Value:
        value = self._unary()
        while (token := self._peek()) in ("*", "/"):
            value = _between(value, (self._take(), self._unary())[1], _ARITHMETIC[token])
        return value

    def _unary(self) -> Value:
        if self._peek() == "-":
            self._take()
            return _each(self._unary(), operator.neg)
        value = self._atom()
        if self._peek() == "^":
            self._take()
            if self._peek() == "^":
                raise self._unknown("expected a value, got '^'")
            value = _between(value, self._unary(), _ARITHMETIC["^"])
        return value

    def _atom(self) -> Value:
        token = self._take()
        if token == "(":
            value = self._logical()
            self._take(")")
            return value
        if token == "[":
            items = self._list("]")
            return [one for item in items for one in (item if isinstance(item, list) else [item])]
        if token[0].isdigit() or token[0] == ".":
            return float(token)
        if self._peek() == "(":
            return self._call(token)
        if not token[0].isalpha() and token[0] != "_":
            raise self._unknown(f"expected a value, got {token!r}")
        return self._context.named(token)

    def _list(self, end: str) -> list[Value]:
        items: list[Value] = []
        while self._peek() != end:
            if items:
                self._take(",")
            items.append(self._logical())
        self._take(end)
        return items

    def _texts(self) -> list[str]:
        """Arguments that are texts or ids, which are not evaluated."""
        texts: list[str] = []
        while self._peek() != ")":
            if texts:
                self._take(",")
            texts.append(self._take())
        self._take(")")
        return texts

    def _call(self, name: str) -> Value:
        self._take("(")
        if name == "METRICS":
            return self._metrics(self._texts())
        if name == "PERIOD":
            return self._period(self._texts())
        if name == "INSIGHT_RULE_METRIC":
            return self._ranked(self._texts())
        if name == "FILL":
            return self._fill()
        if name == "SEARCH":
            raise self._unknown("SEARCH gives several series, of which AWS makes no alarm")
        arguments = self._list(")")
        if name == "IF":
            return self._if(arguments)
        if name in _EACH:
            return _each(self._only(name, arguments), _EACH[name])
        if name in _OVER:
            return self._over(name, self._only(name, arguments))
        if name == "TIME_SERIES":
            value = self._only(name, arguments)
            if not isinstance(value, float):
                raise self._unknown("TIME_SERIES takes a number")
            return dict.fromkeys(range(self._context.periods), value)
        raise self._unknown(f"the function {name} is not in this double")

    def _only(self, name: str, arguments: Sequence[Value]) -> Value:
        if len(arguments) != 1:
            raise self._unknown(f"{name} takes one argument, got {len(arguments)}")
        return arguments[0]

    def _metrics(self, texts: Sequence[str]) -> Value:
        if len(texts) > 1 or (texts and texts[0][0] not in "\"'"):
            raise self._unknown("METRICS takes one text or none")
        wanted = texts[0][1:-1] if texts else ""
        return [series for name, series in self._context.metrics.items() if wanted in name]

    def _period(self, texts: Sequence[str]) -> Value:
        if len(texts) != 1 or texts[0] not in self._context.seconds:
            raise self._unknown("PERIOD takes the id of a metric")
        return float(self._context.seconds[texts[0]])

    def _ranked(self, texts: Sequence[str]) -> Value:
        if len(texts) != 2 or any(text[0] not in "\"'" for text in texts) or self._context.ranking is None:
            raise self._unknown("INSIGHT_RULE_METRIC takes a rule and a metric, where there are rules")
        return self._context.ranking(texts[0][1:-1], texts[1][1:-1])

    def _over(self, name: str, value: Value) -> Value:
        if not isinstance(value, list):
            raise self._unknown(
                f"{name} of what is no array depends on how many periods AWS looks at, which it does not say"
            )
        series = [self._series(one) for one in value]
        return {
            at: _OVER[name]([one[at] for one in series if at in one], len(series))
            for at in sorted({at for one in series for at in one})
        }

    def _series(self, value: Value) -> Series:
        if not isinstance(value, Mapping):
            raise self._unknown("an array takes series, got a number")
        return value

    def _fill(self) -> Value:
        value = self._logical()
        self._take(",")
        by = self._take() if self._peek() in ("REPEAT", "LINEAR") else self._logical()
        self._take(")")
        if isinstance(value, list):
            return [self._filled(self._series(one), by) for one in value]
        return self._filled(self._series(value), by)

    def _filled(self, series: Series, by: Value | str) -> Series:
        if not series:
            raise self._unknown("FILL of a series without any value; what comes of it, AWS does not say")
        if by == "REPEAT":
            filled = dict(series)
            for at in range(max(series) - 1, -1, -1):
                filled.setdefault(at, filled[at + 1])
            return filled
        if isinstance(by, float):
            return {at: series.get(at, by) for at in range(self._context.periods)}
        if isinstance(by, Mapping):
            return {**by, **series}
        raise self._unknown(f"FILL by {by if isinstance(by, str) else 'an array'} is not in this double")

    def _if(self, arguments: Sequence[Value]) -> Value:
        if len(arguments) not in (2, 3) or any(isinstance(one, list) for one in arguments):
            raise self._unknown("IF takes a condition and one or two values, and no array")
        condition, true = arguments[:2]
        false: Value = arguments[2] if len(arguments) > 2 else {}
        if not isinstance(condition, Mapping):
            if not isinstance(true, Mapping):
                raise self._unknown("IF of a number takes a series")
            return true if condition != 0 else false
        found: dict[int, float] = {}
        for at, holds in condition.items():
            value = _at(true, at, 0.0) if holds != 0 else _at(false, at, None)
            if value is not None:
                found[at] = value
        return found


def _tokens(expression: str) -> Iterator[str]:
    at = 0
    while expression[at:].strip():
        found = _TOKEN.match(expression, at)
        if found is None:
            raise UnknownMathError(f"{expression}: {expression[at:].strip()[0]!r} is not known here")
        yield found[0].strip()
        at = found.end()


def _at(value: Value, at: int, missing: float | None) -> float | None:
    if isinstance(value, Mapping):
        return value.get(at, missing)
    assert isinstance(value, float)
    return value


def _each(value: Value, change: Callable[[float], float]) -> Value:
    if isinstance(value, list):
        return [_each(one, change) for one in value]
    if isinstance(value, Mapping):
        return {at: float(change(one)) for at, one in value.items()}
    return float(change(value))


def _between(left: Value, right: Value, apply: Callable[[float, float], float]) -> Value:
    if isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            raise UnknownMathError(f"arrays of {len(left)} and {len(right)} series do not go together")
        return [_between(one, other, apply) for one, other in zip(left, right, strict=True)]
    if isinstance(left, list):
        return [_between(one, right, apply) for one in left]
    if isinstance(right, list):
        return [_between(left, one, apply) for one in right]
    if isinstance(left, float) and isinstance(right, float):
        return float(apply(left, right))
    moments = {at for one in (left, right) if isinstance(one, Mapping) for at in one}
    found: dict[int, float] = {}
    for at in sorted(moments):
        one, other = _at(left, at, 0.0), _at(right, at, 0.0)
        assert one is not None
        assert other is not None
        try:
            found[at] = float(apply(one, other))
        except ZeroDivisionError:
            continue
    return found
