"""An update of a stack: what is there, what is to be, and which resources it replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_model.catalog.updates import CREATE_ONLY, NESTED_LUSTRE_CREATE_ONLY, PropertyPath
from hyperpod_policy.clusters import Group, clusters, groups
from hyperpod_policy.documents import Document
from hyperpod_policy.rule import Promise, Verdict
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import resources_in, same, single

_FILE_SYSTEM = "AWS::FSx::FileSystem"


@dataclass(frozen=True, slots=True)
class UpdateRule(Promise):
    """One promise that an update keeps or breaks.

    Attributes:
        check: Yields a verdict for each resource the rule speaks about, and none where it has nothing to say.
    """

    check: Callable[[Update], Iterable[Verdict]]


@dataclass(frozen=True, slots=True)
class ClusterPair:
    """A HyperPod cluster before and after.

    Attributes:
        old: As the baseline has it.
        new: As the new template has it; ``None`` if it is gone.
    """

    old: Resource
    new: Resource | None

    @property
    def moved(self) -> bool:
        """Whether another logical id holds it, so that CloudFormation takes it for another resource."""
        return self.new is not None and self.new.key != self.old.key


@dataclass(frozen=True, slots=True)
class GroupPair:
    """An instance group of the same name before and after."""

    old: Group
    new: Group


class Update:
    """The way from one template to another, resources matched by logical id.

    Args:
        baseline: What is deployed.
        template: What is to be deployed.
    """

    def __init__(self, baseline: Template, template: Template) -> None:
        self.baseline = baseline
        self.template = template
        self._replaced: dict[str, bool | None] = {}

    def clusters(self) -> Iterator[ClusterPair]:
        """Yield the clusters of the baseline, each with the new one of its logical id, else of its name."""
        for old in clusters(self.baseline):
            new = self.counterpart(old)
            if new is None:
                name = old.get("ClusterName")
                new = next(
                    (
                        other
                        for other in clusters(self.template)
                        if name is not None and same(name, other.get("ClusterName"))
                    ),
                    None,
                )
            yield ClusterPair(old, new)

    def group_pairs(self, pair: ClusterPair) -> Iterator[GroupPair]:
        """Yield the instance groups of a cluster that keep their name."""
        if pair.new is not None:
            after = {_name(group): group for group in groups(pair.new)}
            for old in groups(pair.old):
                new = after.get(_name(old))
                if new is not None:
                    yield GroupPair(old, new)

    def counterpart(self, resource: Resource) -> Resource | None:
        """Return the resource of the new template with the logical id and type of one of the baseline."""
        found = self.template.by_key(resource.key)
        return found if found is not None and found.type == resource.type else None

    def replaced(self, key: str) -> bool | None:
        """Tell whether the update makes another resource in place of one of the baseline.

        Args:
            key: Key of the resource.

        Returns:
            ``None`` if only deployment can tell, as for a changed resource of a type that is not known.
        """
        if key not in self._replaced:
            self._replaced[key] = False  # a resource that refers to itself
            try:
                self._replaced[key] = self._is_replaced(key)
            except RecursionError:
                self._replaced[key] = None  # through more references than anybody can follow
        return self._replaced[key]

    def _is_replaced(self, key: str) -> bool | None:
        old, new = self.baseline.by_key(key), self.template.by_key(key)
        if old is None:
            return False
        if new is None or new.type != old.type:
            return True
        if old.type not in CREATE_ONLY:
            return None if self.differ(old.properties, new.properties) is not False else False
        answers = {self.changed(old, new, path) for path in create_only(old.type)}
        return True if True in answers else (None if None in answers else False)

    def changed(self, old: Resource, new: Resource, path: PropertyPath) -> bool | None:
        """Tell whether a property differs; one that is only on one side does."""
        return self.differ(old.get(*path), new.get(*path))

    def differ(self, old: Any, new: Any) -> bool | None:
        """Tell whether a value of the baseline and one of the new template differ once deployed.

        A reference to a resource that the update replaces differs although both say the same. The order of
        a list does not count.

        Returns:
            ``None`` if only deployment can tell.
        """
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if set(old) != set(new):
                return True
            return _any(self.differ(old[name], new[name]) for name in old)
        if isinstance(old, list) and isinstance(new, list):
            return self._lists_differ(old, new)
        if old is None or new is None:
            return old is not new
        old, new = self.baseline.spelled(old), self.template.spelled(new)
        equal = same(old, new)
        if equal:
            return _any(self.replaced(key) for key in resources_in(old))
        return None if equal is None else True

    def _lists_differ(self, old: list[Any], new: list[Any]) -> bool | None:
        left = list(new)
        unmatched = []
        for item in old:
            match = next((other for other in left if self.differ(item, other) is False), None)
            if match is None:
                unmatched.append(item)
            else:
                left.remove(match)
        if not unmatched and not left:
            return False
        if any(self.differ(item, other) is None for item in unmatched for other in left):
            return None
        return True


def holds_cluster_of(document: Document, baseline: Document) -> int:
    """Rank how much a template looks like a later version of a baseline.

    Returns:
        3 if it has a cluster of the baseline by logical id and name, 2 by name, 1 by logical id, 0 if it has
        none of them.
    """
    before = {cluster.key: cluster.get("ClusterName") for cluster in clusters(Template((baseline,)))}
    best = 0
    for cluster in clusters(Template((document,))):
        named = cluster.get("ClusterName") in [name for name in before.values() if name is not None]
        best = max(best, 2 * named + (cluster.key in before))
    return best


def create_only(resource_type: str) -> tuple[PropertyPath, ...]:
    """Return the properties of a type whose change makes another resource."""
    found = CREATE_ONLY.get(resource_type, ())
    if resource_type == _FILE_SYSTEM:
        found += NESTED_LUSTRE_CREATE_ONLY.assuming(
            because="a file system that stays after all does no harm, one that is lost does"
        )
    return found


def _name(group: Group) -> Any:
    return single(group.properties.get("InstanceGroupName"))


def _any(answers: Iterable[bool | None]) -> bool | None:
    given = set(answers)
    return True if True in given else (None if None in given else False)
