"""Who names whom in a template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_SUB = re.compile(r"\$\{([^!][^}.]*)(?:\.[^}]*)?\}")


def named_in(value: Any) -> Iterator[str]:
    """The logical ids that a value refers to, pseudo-parameters among them."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "Ref":
                yield item
            elif key == "Fn::GetAtt":
                yield item.split(".")[0] if isinstance(item, str) else item[0]
            elif key == "Fn::Sub":
                yield from _SUB.findall(item if isinstance(item, str) else item[0])
                yield from named_in(item)
            else:
                yield from named_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from named_in(item)


def depends_on(resource: Mapping[str, Any]) -> list[str]:
    found = resource.get("DependsOn", [])
    return [found] if isinstance(found, str) else list(found)


def order(template: Mapping[str, Any]) -> dict[str, set[str]]:
    """What each resource waits for directly, through references or by its own word."""
    resources = template["Resources"]
    return {
        name: ({*named_in(resource.get("Properties", {}))} | {*depends_on(resource)}) & resources.keys()
        for name, resource in resources.items()
    }


def still_after(waits: Mapping[str, set[str]], one: str, other: str) -> bool:
    """Whether a resource waits for another even without naming it in ``DependsOn`` itself.

    ``waits`` tells what each waits for, the one's own without that entry.
    """
    seen: set[str] = set()
    waiting = [one]
    while waiting:
        for name in waits[waiting.pop()]:
            if name == other:
                return True
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return False
