"""A file system that leaves its stack leaves its data behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.lustre_file_systems import lustre_file_systems, referenced_keys
from hyperpod_policy.networks import SUBNET, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Unresolved, elements

_RETAINING = ("Retain", "RetainExceptOnCreate")


def check(template: Template) -> Iterator[Verdict]:
    """Judge what becomes of each file system at the end."""
    for file_system in lustre_file_systems(template):
        if isinstance(file_system.deletion_policy, Unresolved):
            yield undetermined(
                file_system,
                found=f"DeletionPolicy is {file_system.deletion_policy}",
                allowed="a final backup, or retained together with what it needs",
            )
        elif file_system.deletion_policy in _RETAINING:
            lost = [
                needed.logical_id
                for needed in _needed(template, file_system)
                if needed.deletion_policy not in _RETAINING
            ]
            if lost:
                yield failed(
                    file_system,
                    found=f"is retained, but it needs {', '.join(lost)}, deleted with the stack",
                    allowed="retained together with its key, security groups, subnet and VPC",
                )
            else:
                yield failed(
                    file_system,
                    found=(
                        "is retained without a final backup, and costs what it cost until somebody deletes it"
                    ),
                    allowed="a final backup, or a reason to keep the file system itself",
                    severity="warning",
                )
        elif _is_backed_up(template, file_system):
            yield _backup_stays_readable(template, file_system)
        else:
            yield failed(
                file_system,
                found=f"DeletionPolicy {file_system.deletion_policy} deletes its data with the stack",
                allowed="a final backup, or retained together with its key, security groups, subnet and VPC",
            )


def _backup_stays_readable(template: Template, file_system: Resource) -> Verdict:
    value = file_system.get("KmsKeyId")
    key = template.by_key(value.resource) if isinstance(value, Reference) else None
    if key is None or key.deletion_policy in _RETAINING:
        return passed(file_system)
    return failed(
        key,
        found=(
            "is deleted with the stack, and the final backup of the file system cannot be restored without it"
        ),
        allowed="retained",
    )


def _needed(template: Template, file_system: Resource) -> Iterator[Resource]:
    values: list[Any] = [*elements(file_system.get("SecurityGroupIds"))[0], file_system.get("KmsKeyId")]
    for value in elements(file_system.get("SubnetIds"))[0]:
        values.append(value)
        subnet = template.resource(value, SUBNET)
        vpc = None if subnet is None else vpc_of(template, subnet)
        if vpc is not None:
            yield vpc
    for value in values:
        found = template.by_key(value.resource) if isinstance(value, Reference) else None
        if found is not None:
            yield found


def _is_backed_up(template: Template, file_system: Resource) -> bool:
    """Whether a custom resource named after backups works on the file system: FSx itself takes none."""
    return any(
        "backup" in resource.type.lower() and file_system.key in set(referenced_keys(resource.properties))
        for resource in template.custom_resources()
    )


RULE = Rule(
    id="LustreRemoval",
    title="a file system that leaves its stack leaves its data behind",
    severity="error",
    why=(
        "FSx takes no final backup of Lustre when CloudFormation deletes the file system: data and working "
        "checkpoints are gone. A file system retained by itself blocks the deletion of its subnet, and "
        "without its key it is unreadable."
    ),
    fix=(
        "take a final backup before deletion (LustreFileSystem with removal=FINAL_BACKUP) and retain the "
        "key, or retain the file system with everything it needs"
    ),
    source=(
        "FSx API reference, DeleteFileSystem SkipFinalBackup; CloudFormation user guide, DeletionPolicy "
        "attribute"
    ),
    check=check,
)
