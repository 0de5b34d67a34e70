"""File systems that an update would replace, empty."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.updates import NESTED_LUSTRE_CREATE_ONLY
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource
from hyperpod_policy.update import Update, UpdateRule, create_only
from hyperpod_policy.values import integer

_FILE_SYSTEM = "AWS::FSx::FileSystem"
_CAPACITY = "StorageCapacity"
_ALLOWED = "the same for the life of a file system"


def check(update: Update) -> Iterator[Verdict]:
    """Judge each file system of the baseline."""
    for old in update.baseline.of_type(_FILE_SYSTEM):
        new = update.counterpart(old)
        if new is None:
            kept = old.deletion_policy == "Retain"
            yield failed(
                old,
                found="is not in the new template" + ("" if kept else ", so it is deleted"),
                allowed="the file systems of the baseline",
                severity="warning" if kept else "error",
            )
            continue
        verdicts = [*_judge(update, old, new), *_capacity(old, new)]
        yield from verdicts if verdicts else [passed(new)]


def _judge(update: Update, old: Resource, new: Resource) -> Iterator[Verdict]:
    doubtful = NESTED_LUSTRE_CREATE_ONLY.assuming(because="only to say which ones the schema does not mark")
    for path in create_only(_FILE_SYSTEM):
        changed = update.changed(old, new, path)
        if changed is False:
            continue
        found = f"changes {'.'.join(path)}, so CloudFormation makes an empty file system in its place"
        allowed = f"{_ALLOWED}; {NESTED_LUSTRE_CREATE_ONLY.doubt}" if path in doubtful else _ALLOWED
        answer = undetermined if changed is None else failed
        yield answer(new, *path, found=found, allowed=allowed)


def _capacity(old: Resource, new: Resource) -> Iterator[Verdict]:
    before, after = integer(old.get(_CAPACITY)), integer(new.get(_CAPACITY))
    if before is not None and after is not None and after < before:
        yield failed(
            new, _CAPACITY, found=f"shrinks from {before} to {after} GiB", allowed="as much capacity or more"
        )


RULE = UpdateRule(
    id="FileSystemReplacement",
    title="an update leaves file systems in place",
    severity="error",
    why=(
        "CloudFormation makes a new, empty file system and deletes the old one with its data. Nodes that run "
        "keep the old mount until it hangs; they take another file system only when they are replaced."
    ),
    fix=(
        "keep the property; to move, make a second file system beside the first, copy, and let groups of a "
        "new name mount it"
    ),
    source=(
        "CloudFormation registry, AWS::FSx::FileSystem (createOnlyProperties); FSx for Lustre user guide, "
        "managing storage capacity"
    ),
    check=check,
)
