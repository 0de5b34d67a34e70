"""Whether a principal may do things to a resource, in every spelling of the resource."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_policy.iam.context import SOMEBODY
from hyperpod_policy.iam.evaluation import Request, allows, denies
from hyperpod_policy.iam.patterns import every, wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.trust_map.actors import Actor
from hyperpod_policy.trust_map.arns import Arns
from hyperpod_policy.trust_map.speaking import speaks_of
from hyperpod_policy.values import Text


@dataclass(slots=True)
class Asked:
    """What came of asking for several actions.

    Attributes:
        allowed: Actions that are certainly allowed.
        unclear: Actions of which only deployment can tell.
        grants: Statements that allow them.
    """

    allowed: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    grants: list[Statement] = field(default_factory=list)

    @property
    def actions(self) -> tuple[str, ...]:
        """The certain ones, or else the unclear ones."""
        return tuple(self.allowed or self.unclear)

    def __bool__(self) -> bool:
        return bool(self.allowed or self.unclear)


@dataclass(slots=True)
class Asking:
    """One principal and one resource, of which several actions are asked.

    What a statement says of the two is found out once; for further actions only its actions are looked at.

    Attributes:
        arns: The resource.
        principal: ARN of who asks. By default of somebody whom no statement names.
        context: Condition keys that each request carries. By default none.
    """

    arns: Arns
    principal: Any = SOMEBODY
    context: Mapping[str, Any] = field(default_factory=dict)
    _known: dict[tuple[int, bool], tuple[Statement, bool | None]] = field(default_factory=dict)

    def granted(self, statements: Iterable[Statement], action: str) -> tuple[bool | None, list[Statement]]:
        """Tell whether statements allow an action, and which do."""
        certain: list[Statement] = []
        unclear: list[Statement] = []
        for statement in statements:
            if statement.effect == "Allow":
                answer = self._answer(allows, statement, action)
                if answer:
                    certain.append(statement)
                elif answer is None:
                    unclear.append(statement)
        return (True, certain) if certain else ((None, unclear) if unclear else (False, []))

    def refused(self, statements: Iterable[Statement], action: str) -> bool | None:
        """Tell whether statements refuse an action."""
        found: bool | None = False
        for statement in statements:
            if statement.effect == "Deny":
                answer = self._answer(denies, statement, action)
                if answer:
                    return True
                found = None if answer is None else found
        return found

    def _answer(
        self, judge: Callable[[Statement, Request], bool | None], statement: Statement, action: str
    ) -> bool | None:
        if not speaks_of(statement, action):
            return False
        names_action = not statement.not_action and any(
            every(pattern, action.lower(), ignore_case=True) for pattern in statement.actions
        )
        key = (id(statement), judge is allows)
        if names_action and key in self._known:
            return self._known[key][1]
        answers = set(self._answers(judge, statement, action))
        answer = True if True in answers else (None if None in answers else False)
        if names_action:
            self._known[key] = (statement, answer)
        return answer

    def _answers(
        self, judge: Callable[[Statement, Request], bool | None], statement: Statement, action: str
    ) -> Iterator[bool | None]:
        for arn in self.arns.exact:
            yield judge(statement, Request(action, arn, self.principal, self.context))
        if self.arns.generated is not None and not statement.not_resource:
            broad = tuple(pattern for pattern in statement.resources if _leaves_name_open(pattern))
            if broad:
                request = Request(action, self.arns.generated, self.principal, self.context)
                yield judge(replace(statement, resources=broad), request)


def ask(
    actor: Actor,
    actions: Iterable[str],
    arns: Arns,
    *,
    policy: Sequence[Statement] = (),
    delegation: Mapping[str, bool | None] | None = None,
    context: Mapping[str, Any] | None = None,
) -> Asked:
    """Ask whether an actor may do things to a resource of its own account.

    Args:
        actor: Who asks.
        actions: What for.
        arns: To what.
        policy: Statements of the resource's own policy.
        delegation: Whether that policy leaves each action to identity policies. By default it need not.
        context: More condition keys that the request carries. By default none.
    """
    found = Asked()
    giving = any(statement.effect == "Allow" for statement in policy)
    carried = actor.context if context is None else {**actor.context, **context}
    asking = Asking(arns, actor.principal, carried)
    for action in actions:
        own = actor.about(action)
        if not own and not giving:
            continue
        granted, grants = asking.granted(own, action)
        if granted is not False and actor.boundary is not None:
            within, _ = asking.granted(actor.boundary, action)
            granted = _both(granted, within if actor.boundary_is_known else None)
        if delegation is not None:
            granted = _both(granted, delegation.get(action, False))
        given, gifts = asking.granted(policy, action)
        answer = True if True in (granted, given) else (None if None in (granted, given) else False)
        if answer is False:
            continue
        refused = asking.refused([*own, *(actor.boundary or ()), *policy], action)
        if refused is True:
            continue
        (found.allowed if answer and refused is False else found.unclear).append(action)
        found.grants += grants if granted is not False else []
        found.grants += gifts
    return found


def _leaves_name_open(pattern: Any) -> bool:
    """Whether a wildcard stands in that part of an ARN that names the resource."""
    if not wildcard(pattern):
        return False
    parts = pattern.parts if isinstance(pattern, Text) else (pattern,)
    segments = "".join(part if isinstance(part, str) else "<>" for part in parts).split(":", 5)
    if len(segments) < 6:
        return True
    name = segments[5]
    if segments[2] == "s3":
        name = name.partition("/")[0]
    elif segments[2] == "lambda":
        name = name.partition(":")[2].partition(":")[0] or name
    return wildcard(name)


def _both(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True
