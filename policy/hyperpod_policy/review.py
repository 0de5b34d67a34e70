"""Review of templates by the rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_policy.choices import World
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Finding, Report
from hyperpod_policy.rule import Promise, Rule, Verdict
from hyperpod_policy.template import Template

MAX_WORLDS: Final = 64
"""How many combinations of parameter values and conditions one review looks at."""


def review(
    template: Mapping[str, Any] | Document | Sequence[Document],
    *,
    rules: Sequence[Rule] | None = None,
    region: str | None = None,
    account: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    file: str | None = None,
    checkpoint_buckets: Sequence[str] = (),
) -> Report:
    """Review a template.

    Parameters count with their default and with every allowed value, conditions that only deployment can
    decide both ways: a finding says when it holds, if not always.

    Args:
        template: A decoded template, or documents that know their nested stacks, reviewed together.
        rules: Rules to apply. By default all.
        region: Region of a decoded template, such as ``us-east-1``. By default unknown.
        account: Account id of a decoded template. By default unknown.
        parameters: Parameter values of a decoded template, by name. By default those the template tells.
        file: File a decoded template was read from, for reports. By default none.
        checkpoint_buckets: Logical ids or names of buckets that hold checkpoints, in addition to those that
            are recognised as such. By default none.

    Returns:
        Every rule's answers; none for a template without a HyperPod cluster.
    """
    documents = documents_of(template, region=region, account=account, parameters=parameters, file=file)
    if rules is None:
        from hyperpod_policy.registry import RULES

        rules = RULES
    applied = tuple(rules)

    def judge(world: World) -> Iterable[tuple[Promise, Verdict]]:
        subject = Template(documents, world=world, checkpoint_buckets=checkpoint_buckets)
        return ((rule, verdict) for rule in applied for verdict in rule.check(subject))

    return judged_in_all_worlds(judge, documents)


def documents_of(
    template: Mapping[str, Any] | Document | Sequence[Document],
    *,
    region: str | None = None,
    account: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    file: str | None = None,
) -> Sequence[Document]:
    """Return a template as documents.

    Args:
        template: A decoded template, or documents, which are returned as they are.
        region: Region of a decoded template. By default unknown.
        account: Account id of a decoded template. By default unknown.
        parameters: Parameter values of a decoded template, by name. By default those the template tells.
        file: File a decoded template was read from. By default none.
    """
    if isinstance(template, Document):
        return (template,)
    if isinstance(template, Mapping):
        return (
            Document(
                body=template,
                file=file,
                region=region,
                account=account,
                parameters={} if parameters is None else parameters,
            ),
        )
    return tuple(template)


def judged_in_all_worlds(
    judge: Callable[[World], Iterable[tuple[Promise, Verdict]]], documents: Sequence[Document]
) -> Report:
    """Judge what templates leave open under every combination of values, up to `MAX_WORLDS` of them.

    Args:
        judge: Yields all answers for one combination.
        documents: What is judged, to say which parts of it could not be read.
    """
    answers: dict[Hashable, tuple[Promise, Verdict, list[str]]] = {}
    reviewed = 0
    start = World()
    seen: set[frozenset[tuple[Hashable, Hashable]]] = {_identity(start)}
    waiting = deque([start])
    while waiting and reviewed < MAX_WORLDS:
        world = waiting.popleft()
        here: dict[Hashable, tuple[Promise, Verdict]] = {}
        for promise, verdict in judge(world):
            answer = (promise.id, verdict.resource.key, verdict.path, verdict.outcome, verdict.found)
            here[answer] = (promise, verdict)
        for answered, (promise, verdict) in here.items():
            answers.setdefault(answered, (promise, verdict, []))[2].append(str(world))
        reviewed += 1
        for neighbour in world.neighbours():
            identity = _identity(neighbour)
            if identity not in seen:
                seen.add(identity)
                waiting.append(neighbour)
    findings = tuple(
        _finding(promise, verdict, worlds, everywhere=len(worlds) == reviewed)
        for promise, verdict, worlds in answers.values()
    )
    limits = [*(_undecided(documents) if findings else ()), *_unread(documents)]
    if waiting:
        limits.append(
            f"{len(waiting)} or more further combinations of parameter values and conditions; "
            "pass parameter values to review another combination"
        )
    return Report(verdicts=findings, limits=tuple(limits))


def _identity(world: World) -> frozenset[tuple[Hashable, Hashable]]:
    return frozenset((key, str(value)) for key, value in world.decided.items())


def _finding(rule: Promise, verdict: Verdict, worlds: Sequence[str], *, everywhere: bool) -> Finding:
    when = ""
    if not everywhere:
        when = worlds[0] if worlds[0] else "parameters and conditions have their defaults"
    return Finding(
        rule_id=rule.id,
        title=rule.title,
        severity=rule.severity if verdict.severity is None else verdict.severity,
        outcome=verdict.outcome,
        logical_id=verdict.resource.logical_id,
        resource_type=verdict.resource.type,
        path=verdict.path,
        found=verdict.found,
        allowed=verdict.allowed,
        fix=rule.fix if verdict.fix is None else verdict.fix,
        why=rule.why,
        source=rule.source,
        file=verdict.resource.document.file,
        when=when,
        line=_line(verdict),
    )


def _line(verdict: Verdict) -> int | None:
    """Return the line of what was found; none for kept promises, of which nobody asks where they stand."""
    if verdict.outcome == "pass":
        return None
    return verdict.resource.document.line_of(verdict.resource.logical_id, verdict.path)


def _undecided(documents: Sequence[Document]) -> Iterator[str]:
    """Say which parameters take any value and decide conditions, of which the default alone is judged."""
    for document in documents:
        declared = document.body.get("Parameters")
        named = set(_parameters_in(document.body.get("Conditions")))
        for name, parameter in declared.items() if isinstance(declared, Mapping) else ():
            free = isinstance(parameter, Mapping) and "AllowedValues" not in parameter
            if free and "Default" in parameter and name in named and name not in document.parameters:
                place = "" if document.file is None else f" of {document.file}"
                yield f"conditions on parameter {name}{place} with another value than its default"


def _parameters_in(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("Ref"), str):
            yield value["Ref"]
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _parameters_in(item)


def _unread(documents: Sequence[Document]) -> list[str]:
    """Say which parts of the templates were no resources, or not at hand."""
    found: list[str] = []
    for document in documents:
        place = "" if document.file is None else f" of {document.file}"
        for name in _foreign_transforms(document.body.get("Transform")):
            found.append(f"transform {name}{place}: only CloudFormation runs it")
        resources = document.body.get("Resources")
        for name, resource in resources.items() if isinstance(resources, Mapping) else ():
            kind = resource.get("Type") if isinstance(resource, Mapping) else None
            if str(name).startswith("Fn::"):
                found.append(f"{name}{place}: only CloudFormation expands it")
            elif kind == "AWS::CloudFormation::StackSet":
                found.append(f"stack set {name}{place}: name its template's file to have it reviewed")
            elif isinstance(kind, str) and kind.endswith("::MODULE"):
                found.append(f"module {name}{place}: only CloudFormation expands it")
            elif kind == "AWS::CloudFormation::Stack" and name not in document.nested:
                found.append(f"nested stack {name}{place}: its template is not at hand")
        found += _unread(tuple(document.nested.values()))
    return found


def _foreign_transforms(declared: Any) -> list[str]:
    """Return the transforms that make something else of a template; language extensions are resolved here."""
    listed = declared if isinstance(declared, list) else [declared]
    names = (item.get("Name") if isinstance(item, Mapping) else item for item in listed)
    return [name for name in names if isinstance(name, str) and name != "AWS::LanguageExtensions"]
