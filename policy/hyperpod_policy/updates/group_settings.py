"""An instance group keeps what it was created with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.updates import FIXED_GROUP_SETTINGS
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.update import GroupPair, Update, UpdateRule
from hyperpod_policy.values import Unresolved, elements, truth

_DEFAULT_DEPENDS: Final = ("ThreadsPerCore",)
"""Settings whose default the instance type decides."""

_FOUND_ELSEWHERE: Final = ("SlurmConfig",)
"""Settings whose absence is another rule's matter."""


def check(update: Update) -> Iterator[Verdict]:
    """Judge each group that keeps its name."""
    for pair in update.clusters():
        for groups in update.group_pairs(pair):
            verdicts = [
                *_kind(groups),
                *_settings(update, groups),
                *_requirements(groups),
                *_keys(update, groups),
                *_capacity(groups),
            ]
            yield from verdicts if verdicts else [passed(groups.new.cluster, *groups.new.path)]


def _settings(update: Update, groups: GroupPair) -> Iterator[Verdict]:
    told: set[str] = set()
    for setting in FIXED_GROUP_SETTINGS:
        root = setting.path[0]
        before, after = (group.properties.get(root) for group in (groups.old, groups.new))
        if before is None and after is None:
            continue
        if before is None or after is None:
            if root in told or root in _FOUND_ELSEWHERE or root == "InstanceType":
                continue
            told.add(root)
            word = "no longer says" if after is None else "now says"
            found = f"group '{groups.new.name}' {word} {root}"
            if root in _DEFAULT_DEPENDS:
                yield undetermined(
                    groups.new.cluster, *groups.new.path, root, found=found, allowed=_allowed(groups)
                )
            else:
                yield failed(
                    groups.new.cluster, *groups.new.path, root, found=found, allowed=_allowed(groups)
                )
            continue
        old, new = (_at(group.properties, setting.path) for group in (groups.old, groups.new))
        differ = update.differ(old, new)
        yield from _judge(groups, setting.path, differ, setting.words, old, new)


def _judge(
    groups: GroupPair, path: tuple[str | int, ...], differ: bool | None, words: str, old: Any, new: Any
) -> Iterator[Verdict]:
    if differ is False:
        return
    before, after = _shown(old), _shown(new)
    change = f"from {before} to {after}" if before != after else f"{after}, which the update replaces"
    answer = undetermined if differ is None else failed
    yield answer(
        groups.new.cluster,
        *groups.new.path,
        *path,
        found=f"changes the {words} of group '{groups.new.name}': {change}",
        allowed=_allowed(groups),
    )


def _requirements(groups: GroupPair) -> Iterator[Verdict]:
    """Judge the way of saying the instance types, and types taken out of a list."""
    old, new = groups.old.properties, groups.new.properties
    member = "InstanceRequirements"
    if (member in old) != (member in new):
        found = (
            f"group '{groups.new.name}' goes from {member if member in old else 'InstanceType'} to "
            f"{member if member in new else 'InstanceType'}"
        )
        path = member if member in new else "InstanceType"
        yield failed(groups.new.cluster, *groups.new.path, path, found=found, allowed=_allowed(groups))
    elif member in old:
        before, after = groups.old.instance_types[0], groups.new.instance_types[0]
        gone = [str(name) for name in before if name not in after]
        if gone:
            yield undetermined(
                groups.new.cluster,
                *groups.new.path,
                member,
                "InstanceTypes",
                found=f"takes {', '.join(gone)} out of group '{groups.new.name}'",
                allowed="a type that no node has any more",
            )


def _keys(update: Update, groups: GroupPair) -> Iterator[Verdict]:
    before, after = _volumes(groups.old.properties), _volumes(groups.new.properties)
    if before is None or after is None:
        return
    for root in (True, False):
        # There is always a root volume; without an entry it has AWS's key. A secondary one comes and goes.
        if not root and not (root in before and root in after):
            continue
        old, new = (side[root][1] if root in side else None for side in (before, after))
        words = f"key of the {'root' if root else 'secondary'} volume"
        path: tuple[str | int, ...] = ("InstanceStorageConfigs",)
        if root in after:
            path = (*path, after[root][0], "EbsVolumeConfig", "VolumeKmsKeyId")
        yield from _judge(groups, path, update.differ(old, new), words, old, new)


def _kind(groups: GroupPair) -> Iterator[Verdict]:
    """Judge whether a group of the same name stays among those of its kind."""
    before, after = groups.old.path[0], groups.new.path[0]
    if before != after:
        found = f"group '{groups.new.name}' goes from {before} to {after}"
        yield failed(groups.new.cluster, *groups.new.path, found=found, allowed=_allowed(groups))


def _volumes(group: Mapping[str, Any]) -> dict[bool, tuple[int, Any]] | None:
    """Return position and key of the EBS volumes, by whether it is the root volume; ``None`` if unknown."""
    found: dict[bool, tuple[int, Any]] = {}
    configs, complete = elements(group.get("InstanceStorageConfigs"))
    if not complete:
        return None
    for position, storage in enumerate(configs):
        volume = storage.get("EbsVolumeConfig") if isinstance(storage, Mapping) else None
        if isinstance(volume, Mapping):
            root = truth(volume.get("RootVolume", False)) is True
            found[root] = (position, volume.get("VolumeKmsKeyId"))
    return found


def _capacity(groups: GroupPair) -> Iterator[Verdict]:
    member = "CapacityRequirements"
    old, new = (group.properties.get(member) for group in (groups.old, groups.new))
    if isinstance(old, Unresolved) or isinstance(new, Unresolved):
        differ: bool | None = False if old == new else None
    else:
        before, after = frozenset(old or ()), frozenset(new or ())
        if before == after:
            return
        differ = None if {before, after} == {frozenset(), frozenset({"OnDemand"})} else True
        old, new = (" and ".join(sorted(kinds)) or "the default" for kinds in (before, after))
    yield from _judge(groups, (member,), differ, "kind of capacity", old, new)


def _at(properties: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = properties
    for step in path:
        if not isinstance(value, Mapping):
            return value
        value = value.get(step)
    return value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "none" if value is None else str(value)


def _allowed(groups: GroupPair) -> str:
    return (
        f"the same for the life of a group; for another, add a group with a new name, such as "
        f"'{groups.new.name}-2', and remove '{groups.new.name}' in a later update"
    )


RULE = UpdateRule(
    id="GroupSettings",
    title="an instance group keeps the settings that it was created with",
    severity="error",
    why=(
        "CloudFormation takes these settings for changeable and calls UpdateCluster, which refuses them for "
        "an existing group: the update fails and rolls back, after everything before it in the stack has "
        "changed."
    ),
    fix="use a new group name: add the new group beside the old one, move the work, then remove the old one",
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-eks-operate-cli-command-update-cluster, "
        "sagemaker-hyperpod-operate-slurm-cli-command, smcluster-cmk"
    ),
    check=check,
)
