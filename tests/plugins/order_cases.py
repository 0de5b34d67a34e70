"""Templates that forgot a dependency, and whether the double notices."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cdk_command import STACK
from deployed_stack import DeployedStack
from published import create, settled

from aws_double.cloudformation.order import Node, creation
from aws_double.session import Session

Template = dict[str, Any]
_SUB_NAME: Final = re.compile(r"\$\{([A-Za-z0-9]+)(?:\.[^}]*)?\}")


@dataclass(frozen=True)
class Forgotten:
    """What everything in a template forgets to wait for.

    Attributes:
        what: In words.
        targets: Pattern of the logical ids of what is not waited for.
        says: Pattern of the reason of the failure.
        at_deletion: Whether it is only noticed when the stack is deleted.
    """

    what: str
    targets: str
    says: str
    at_deletion: bool = False

    def __str__(self) -> str:
        return self.what


def template_in(assembly: Path) -> Template:
    """Read the template of an assembly's stack."""
    template: Template = json.loads((assembly / f"{STACK}.template.json").read_text())
    return template


def depends_on(resource: Mapping[str, Any]) -> list[str]:
    """Return what a resource declares to depend on."""
    declared = resource.get("DependsOn", [])
    return [declared] if isinstance(declared, str) else declared


def targets_of(template: Template) -> set[str]:
    """Return the logical ids of everything that something declares to depend on."""
    return {target for resource in template["Resources"].values() for target in depends_on(resource)}


def forgetting(template: Template, pattern: str) -> Template:
    """Return a template in which nothing declares to depend on what a pattern matches."""
    changed = copy.deepcopy(template)
    for resource in changed["Resources"].values():
        kept = [target for target in depends_on(resource) if not re.match(pattern, target)]
        resource.pop("DependsOn", None)
        if kept:
            resource["DependsOn"] = kept
    assert changed != template, f"{pattern} matches nothing"
    return changed


def order_of(template: Template) -> list[str]:
    """Return the order in which the double creates: the worst that the template allows."""
    names = template["Resources"].keys()
    return creation(
        {
            name: Node(
                type=resource["Type"],
                depends_on=frozenset(
                    {*depends_on(resource), *_references(resource.get("Properties", {}))} & names
                ),
            )
            for name, resource in template["Resources"].items()
        }
    )


def hurried(template: Template, target: str) -> list[str]:
    """Return those that come before a target as soon as nobody declares to wait for it."""
    waiting = [name for name, one in template["Resources"].items() if target in depends_on(one)]
    order = order_of(forgetting(template, f"{target}$"))
    return [name for name in waiting if order.index(name) < order.index(target)]


def expect_unforgotten(session: Session, template: Template) -> None:
    """A template comes and goes without a failure.

    Args:
        session: The account's root.
        template: As the constructs make it.
    """
    assert _failures(session, "unchanged", template, deletes=True) == []


def expect_noticed(session: Session, template: Template, case: Forgotten) -> None:
    """A template that forgot a dependency fails, for that reason before all others.

    Args:
        session: The account's root.
        template: As the constructs make it.
        case: What to forget.
    """
    name = re.sub(r"[^a-z]+", "-", case.what.lower())
    failures = _failures(session, name, forgetting(template, case.targets), deletes=case.at_deletion)
    assert failures, f"nobody noticed that nothing waits for {case.targets}"
    assert re.match(case.says, failures[0]), failures


def unexplained(template: Template, noticed: Iterable[Forgotten], not_noticed: Mapping[str, str]) -> set[str]:
    """Return what would be hurried past, and is neither tried nor excused; patterns that match nothing, too.

    Args:
        template: As the constructs make it.
        noticed: What is tried.
        not_noticed: Patterns of logical ids, with the reasons why the double does not notice.
    """
    left = {target for target in targets_of(template) if hurried(template, target)}
    patterns = [*(case.targets for case in noticed), *not_noticed]
    explained = {pattern: {one for one in left if re.match(pattern, one)} for pattern in patterns}
    unused = {pattern for pattern, found in explained.items() if not found}
    return unused | left.difference(*explained.values())


def _failures(session: Session, name: str, template: Template, *, deletes: bool) -> list[str]:
    """Create a stack, delete it, and tell what failed, at deletion only if asked to; the first first."""
    stack = create(session, name, template)
    failed = _reasons(stack)
    if stack.status == "CREATE_COMPLETE":
        # Nothing may be in the way of the next one.
        session.client("cloudformation").delete_stack(StackName=stack.id)
        settled(session, stack.id)
    return _reasons(stack) if deletes else failed


def _reasons(stack: DeployedStack) -> list[str]:
    return [
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason')}"
        for event in reversed(stack.events)
        if event["ResourceStatus"].endswith("_FAILED") and event["PhysicalResourceId"] != stack.id
    ]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "Ref":
                yield item
            elif key == "Fn::GetAtt":
                yield item[0] if isinstance(item, list) else item.partition(".")[0]
            elif key == "Fn::Sub":
                yield from _SUB_NAME.findall(item if isinstance(item, str) else item[0])
                yield from _references(item)
            else:
                yield from _references(item)
