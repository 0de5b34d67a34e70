"""Checkpoints and scripts are copied to buckets of their own account only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_policy.buckets import BUCKET, GuardedBucket, guarded_buckets, log_buckets
from hyperpod_policy.lustre_file_systems import exporting_associations, lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Text, Unresolved, elements, same

_ALLOWED: Final = "a bucket of the template, or one whose owner is checked"


def check(template: Template) -> Iterator[Verdict]:
    """Judge where guarded buckets, those of their logs, and file systems send copies."""
    for guarded in (*guarded_buckets(template), *log_buckets(template)):
        verdicts = [*_replicas(template, guarded), *_inventories(template, guarded)]
        yield from verdicts if verdicts else [passed(guarded.bucket)]
    systems = lustre_file_systems(template)
    for association in exporting_associations(template):
        if any(same(association.get("FileSystemId"), system.ref) is True for system in systems):
            yield _export(template, association)


def _replicas(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    path = ("ReplicationConfiguration", "Rules")
    value = guarded.bucket.get(*path)
    if isinstance(value, Unresolved):
        yield undetermined(guarded.bucket, *path, found=f"is {value}", allowed=_ALLOWED)
    for position, rule in enumerate(elements(value)[0]):
        target = rule.get("Destination") if isinstance(rule, Mapping) else None
        if isinstance(target, Mapping) and rule.get("Status") != "Disabled":
            where = (*path, position, "Destination")
            owner = target.get("Account")
            yield from _sent(template, guarded, where, target.get("Bucket"), owner, "every object")


def _inventories(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    listed, _ = elements(guarded.bucket.get("InventoryConfigurations"))
    for position, inventory in enumerate(listed):
        target = inventory.get("Destination") if isinstance(inventory, Mapping) else None
        if isinstance(target, Mapping):
            where = ("InventoryConfigurations", position, "Destination")
            owner = target.get("BucketAccountId")
            yield from _sent(template, guarded, where, target.get("BucketArn"), owner, "the names of objects")


def _sent(
    template: Template,
    guarded: GuardedBucket,
    path: tuple[str | int, ...],
    bucket: Any,
    owner: Any,
    what: str,
) -> Iterator[Verdict]:
    if _is_of_the_template(template, bucket):
        return
    found = f"{guarded.words} sends {what} to {bucket}"
    own = guarded.bucket.document.account
    if isinstance(owner, str) and own is not None and owner != own:
        yield failed(guarded.bucket, *path, found=f"{found}, of account {owner}", allowed=_ALLOWED)
    elif not isinstance(owner, str) or owner != own:
        yield undetermined(
            guarded.bucket, *path, found=f"{found}, whose account may be another", allowed=_ALLOWED
        )


def _is_of_the_template(template: Template, arn: Any) -> bool:
    parts = arn.parts if isinstance(arn, Text) else (arn,)
    return any(
        isinstance(part, Reference) and template.resource(Reference(part.resource, "Ref"), BUCKET) is not None
        for part in parts
    )


def _export(template: Template, association: Resource) -> Verdict:
    path = ("DataRepositoryPath",)
    value = association.get(*path)
    if _is_of_the_template(template, value):
        return passed(association, *path)
    found = f"exports what is written on the file system to {value}, whose account may be another"
    return undetermined(association, *path, found=found, allowed=_ALLOWED)


RULE = Rule(
    id="BucketCopies",
    title="checkpoints, scripts and files are copied to buckets of their own account only",
    severity="error",
    why=(
        "A copy has none of the locks of its original. Whoever owns the bucket it goes to reads the weights, "
        "and keeps them when the cluster is gone."
    ),
    fix=(
        "copy to a bucket of the same account with the same lock; where the other bucket is meant, "
        "acknowledge the finding and say who owns it"
    ),
    source="S3 user guide, replication and inventory; FSx for Lustre user guide, exporting changes",
    check=check,
)
