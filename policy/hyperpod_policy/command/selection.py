"""The rules that a review applies."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from hyperpod_model.command_line.parser import UsageError
from hyperpod_policy import registry
from hyperpod_policy.acknowledgements import ACKNOWLEDGEMENT_RULES
from hyperpod_policy.manifests.rule import ManifestRule
from hyperpod_policy.rule import Promise, Rule
from hyperpod_policy.update import UpdateRule

P = TypeVar("P", bound=Promise)

MANIFESTS: Final = "manifests"
UPDATES: Final = "updates"
ACKNOWLEDGEMENTS: Final = "acknowledgements"


@dataclass(frozen=True, slots=True)
class Selection:
    """Rules to apply.

    Attributes:
        rules: On templates.
        update_rules: On the way from a baseline to a template.
        manifest_rules: On Kubernetes manifests.
    """

    rules: tuple[Rule, ...]
    update_rules: tuple[UpdateRule, ...]
    manifest_rules: tuple[ManifestRule, ...]

    @property
    def promises(self) -> tuple[Promise, ...]:
        """All of them."""
        return (*self.rules, *self.update_rules, *self.manifest_rules)


def groups() -> dict[str, tuple[Promise, ...]]:
    """Return all rules there are, by group."""
    return {
        **registry.GROUPS,
        MANIFESTS: registry.MANIFEST_RULES,
        UPDATES: registry.UPDATE_RULES,
        ACKNOWLEDGEMENTS: ACKNOWLEDGEMENT_RULES,
    }


def group_names() -> dict[str, str]:
    """Return the group of each rule, by rule id."""
    return {promise.id: name for name, promises in groups().items() for promise in promises}


def selected(names: Sequence[str], *, updates: bool) -> Selection:
    """Select rules.

    Args:
        names: Ids and groups, several in one text with commas between them. None for all.
        updates: Whether there is a baseline, without which rules about updates have nothing to say.

    Raises:
        UsageError: If there is no such rule or group.
    """
    asked = [name.strip() for text in names for name in text.split(",") if name.strip()]
    chosen: set[str] = set()
    by_group = groups()
    for name in asked:
        promises = by_group[name] if name in by_group else (found(name),)
        chosen.update(promise.id for promise in promises)
    return Selection(
        rules=_chosen(registry.RULES, chosen, every=not asked),
        update_rules=_chosen(registry.UPDATE_RULES, chosen, every=not asked) if updates else (),
        manifest_rules=_chosen(registry.MANIFEST_RULES, chosen, every=not asked),
    )


def _chosen(rules: tuple[P, ...], ids: set[str], *, every: bool) -> tuple[P, ...]:
    return tuple(rule for rule in rules if every or rule.id in ids)


def found(rule_id: str) -> Promise:
    """Look any rule up.

    Args:
        rule_id: Such as ``EfaSelfTraffic``; upper and lower case are the same.

    Raises:
        UsageError: If there is no such rule; it names the nearest one.
    """
    by_id = {promise.id: promise for promises in groups().values() for promise in promises}
    by_lower = {name.lower(): promise for name, promise in by_id.items()}
    promise = by_lower.get(rule_id.lower())
    if promise is None:
        near = difflib.get_close_matches(rule_id, [*by_id, *groups()], n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"there is no rule {rule_id!r}; {hint}--list-rules lists all")
    return promise
