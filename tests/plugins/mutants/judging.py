"""Which rule finds a weakening."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from hyperpod_policy.choices import World
from hyperpod_policy.documents import Document
from hyperpod_policy.registry import RULES
from hyperpod_policy.rule import Rule, Verdict
from hyperpod_policy.template import Template
from mutants.mutant import Mutant
from mutants.mutant import Template as Body

_COUNTING = ("error", "warning")


@dataclass
class Judge:
    """Reviews mutants of one template; a rule that found one of a type is asked first about the next.

    Every rule is asked in every world that the template leaves open, until one has a new finding.
    """

    body: Body
    region: str | None
    _known: set[Hashable] = field(default_factory=set)
    _order: dict[str, list[Rule]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for template in self._worlds(self.body):
            for rule in RULES:
                self._known |= {_essence(rule, verdict) for verdict in rule.check(template)}

    def killer(self, mutant: Mutant) -> str | None:
        """The id of a rule that finds the mutant: one with a new finding of at least a warning."""
        order = self._order.setdefault(mutant.kind, list(RULES))
        for template in self._worlds(mutant.of(self.body)):
            for position, rule in enumerate(order):
                if any(self._is_new(rule, verdict) for verdict in rule.check(template)):
                    order.insert(0, order.pop(position))
                    return rule.id
        return None

    def _worlds(self, body: Body) -> Iterator[Template]:
        waiting = deque([World()])
        seen = set()
        while waiting:
            world = waiting.popleft()
            yield Template((Document(body=body, region=self.region),), world=world)
            for neighbour in world.neighbours():
                key = frozenset(neighbour.decided.items())
                if key not in seen:
                    seen.add(key)
                    waiting.append(neighbour)

    def _is_new(self, rule: Rule, verdict: Verdict) -> bool:
        severity = rule.severity if verdict.severity is None else verdict.severity
        if verdict.outcome == "pass" or severity not in _COUNTING:
            return False
        return _essence(rule, verdict) not in self._known


def _essence(rule: Rule, verdict: Verdict) -> Hashable:
    return (rule.id, verdict.resource.key, verdict.path, verdict.outcome, verdict.found)
