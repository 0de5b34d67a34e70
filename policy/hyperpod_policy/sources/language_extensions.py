"""Templates with ``Fn::ForEach`` written out, by cfn-lint.

cfn-lint takes longer to import than a review: it is imported only for a template that repeats something.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from hyperpod_policy.marks import Marks

TRANSFORM: Final = "AWS::LanguageExtensions"
_FOR_EACH: Final = "Fn::ForEach::"
_VARIABLE: Final = re.compile(r"[$&]\{[^}]*\}")
_GUESS: Final = 2
"""How often cfn-lint repeats what it cannot count."""
MAX_VALUES: Final = 50_000
"""Values that a template may have with its loops written out: ten times those of a large one."""


class Expansion(NamedTuple):
    """A template with its repetitions written out.

    Attributes:
        body: The template.
        marks: Lines of it; what was written out stands where its ``Fn::ForEach`` is.
        limits: What could not be written out, in words.
    """

    body: Mapping[str, Any]
    marks: Marks | None
    limits: tuple[str, ...] = ()


def expanded(
    body: Mapping[str, Any], marks: Marks | None, *, file: str | None, region: str | None = None
) -> Expansion:
    """Write out what ``Fn::ForEach`` repeats, if the template declares the transform and uses it.

    A resource whose name only deployment can tell stays unwritten, as does everything where the transform
    fails.

    Args:
        body: The template.
        marks: Lines of it.
        file: Its name.
        region: Region it is deployed to. By default unknown.
    """
    declared = body.get("Transform")
    if TRANSFORM not in (declared if isinstance(declared, list) else [declared]) or not _repeats(body):
        return Expansion(body, marks)
    place = "" if file is None else f" of {file}"
    if _size(body, 1, body) > MAX_VALUES:
        problem = f"has more than {MAX_VALUES} values with its loops written out"
        return Expansion(body, marks, (f"Fn::ForEach{place}: {problem}",))
    first, problem = _transformed(body, file, region)
    if first is None:
        return Expansion(body, marks, (f"Fn::ForEach{place}: cannot be expanded: {problem}",))
    origins = _origins(body, first)
    # cfn-lint makes names up where it does not know what is repeated, others each time.
    second, _ = _transformed(body, file, region)
    again = _resources(second) if second is not None else {}
    unknown = {origins[name] for name in _resources(first) if name not in again and name in origins}
    kept = {name: raw for name, raw in _resources(first).items() if origins.get(name) not in unknown}
    kept.update((name, _resources(body)[name]) for name in sorted(unknown))
    return Expansion({**first, "Resources": kept}, None if marks is None else _ExpandedMarks(marks, origins))


class _ExpandedMarks(Marks):
    __slots__ = ("_origins", "_written")

    def __init__(self, written: Marks, origins: Mapping[str, str]) -> None:
        self._written = written
        self._origins = origins

    def line(self, path: Sequence[str | int]) -> int | None:
        if len(path) > 1 and path[0] == "Resources" and path[1] in self._origins:
            return self._written.line(("Resources", self._origins[str(path[1])]))
        return self._written.line(path)


def _transformed(
    body: Mapping[str, Any], file: str | None, region: str | None
) -> tuple[dict[str, Any] | None, str]:
    """Return the template as cfn-lint transforms it, or ``None`` and why it cannot."""
    from cfnlint.template import Template

    try:
        template = Template(file, copy.deepcopy(dict(body)), None if region is None else [region])
        # The declared transforms decide what else changes: SAM's Globals would be merged into resources.
        template.template["Transform"] = TRANSFORM
        matches = template.transform()
    except Exception as error:  # of whatever kind: the template is foreign, and so is the library
        return None, f"{type(error).__name__}: {error}"
    if matches:
        return None, "; ".join(match.message for match in matches)
    found = template.template
    if not isinstance(found, dict) or not isinstance(found.get("Resources"), dict):
        return None, "no resources are left"
    return {**found, "Transform": body["Transform"]}, ""


def _resources(body: Mapping[str, Any]) -> Mapping[str, Any]:
    found = body.get("Resources")
    return found if isinstance(found, Mapping) else {}


def _repeats(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(str(key).startswith(_FOR_EACH) or _repeats(item) for key, item in value.items())
    return isinstance(value, list) and any(_repeats(item) for item in value)


def _size(value: Any, times: int, body: Mapping[str, Any]) -> int:
    """Return about how many values there are once loops, and loops within loops, are written out."""
    if times > MAX_VALUES:
        return times
    if isinstance(value, Mapping):
        return times + sum(
            _size(item, times * (_length(item, body) if str(key).startswith(_FOR_EACH) else 1), body)
            for key, item in value.items()
        )
    return times + (sum(_size(item, times, body) for item in value) if isinstance(value, list) else 0)


def _length(loop: Any, body: Mapping[str, Any]) -> int:
    """Return how often a loop repeats at most, as far as the template tells."""
    collection = loop[1] if isinstance(loop, list) and len(loop) > 1 else None
    if isinstance(collection, list):
        return max(len(collection), 1)
    parameter = collection.get("Ref") if isinstance(collection, Mapping) else None
    declared = body.get("Parameters")
    if isinstance(parameter, str) and isinstance(declared, Mapping):
        default = declared.get(parameter)
        texts = (default.get("Default"), default.get("AllowedValues")) if isinstance(default, Mapping) else ()
        return max(str(texts).count(",") + 1, _GUESS)
    return max(_longest_list(body.get("Mappings")), _GUESS)


def _longest_list(value: Any) -> int:
    if isinstance(value, Mapping):
        return max((_longest_list(item) for item in value.values()), default=0)
    return len(value) if isinstance(value, list) else 0


def _origins(written: Mapping[str, Any], expanded_body: Mapping[str, Any]) -> dict[str, str]:
    """Return which ``Fn::ForEach`` each new resource comes from."""
    blocks = [
        (key, [*_names(block)]) for key, block in _resources(written).items() if key.startswith(_FOR_EACH)
    ]
    found: dict[str, str] = {}
    for name in _resources(expanded_body):
        if name not in _resources(written):
            origin = next((key for key, made in blocks if any(_is_made(name, of) for of in made)), None)
            if origin is not None:
                found[name] = origin
    return found


def _names(block: Any) -> Iterator[list[str]]:
    """Yield what stands between the variables in the names that a block makes."""
    if isinstance(block, list) and len(block) == 3 and isinstance(block[2], Mapping):
        for key, item in block[2].items():
            if str(key).startswith(_FOR_EACH):
                yield from _names(item)
            else:
                yield _VARIABLE.split(str(key))


def _is_made(name: str, literals: Sequence[str]) -> bool:
    """Whether a name has the literal parts of a pattern, in order."""
    first, *middle = literals
    if not middle:
        return name == first
    last = middle.pop()
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    at = len(first)
    for part in middle:
        at = name.find(part, at, len(name) - len(last))
        if at < 0:
            return False
        at += len(part)
    return True
