"""A file system that leaves its stack leaves its data behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.iam.evaluation import Request
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.networks import SUBNET, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Anything, Reference, Unresolved, elements, resources_in

_RETAINING = ("Retain", "RetainExceptOnCreate")
_CREATE = "fsx:CreateBackup"


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
        elif (backups := _final_backups(template, file_system)) != []:
            verdicts = [verdict for found in backups for verdict in _can_back_up(template, found)]
            yield from verdicts if verdicts else [_backup_stays_readable(template, file_system)]
        else:
            yield failed(
                file_system,
                found=f"DeletionPolicy {file_system.deletion_policy} deletes its data with the stack",
                allowed="a final backup, or retained together with its key, security groups, subnet and VPC",
            )


def _backup_stays_readable(template: Template, file_system: Resource) -> Verdict:
    value = file_system.get("KmsKeyId")
    key = template.by_key(value.resource) if isinstance(value, Reference) else None
    policies = () if key is None else (key.deletion_policy, key.update_replace_policy)
    if key is None or all(isinstance(value, Unresolved) or value in _RETAINING for value in policies):
        return passed(file_system)
    return failed(
        key,
        found=(
            "is deleted with the stack or its replacement, and the final backup of the file system cannot be "
            "restored without it"
        ),
        allowed="DeletionPolicy and UpdateReplacePolicy are Retain",
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


def _final_backups(template: Template, file_system: Resource) -> list[Resource]:
    """Return custom resources named after backups that work on the file system: FSx itself takes none."""
    return [
        resource
        for resource in template.custom_resources()
        if "backup" in resource.type.lower() and file_system.key in set(resources_in(resource.properties))
    ]


def _can_back_up(template: Template, backup: Resource) -> Iterator[Verdict]:
    """Judge whether the function behind a custom resource may take a backup."""
    allowed = f"a function of the template whose role may {_CREATE}"
    token = backup.get("ServiceToken")
    function = template.by_key(token.resource) if isinstance(token, Reference) else None
    role = None if function is None else role_of(template, function.get("Role"))
    if role is None:
        found = f"whether {token} takes a backup is not in this template"
        yield undetermined(backup, "ServiceToken", found=found, allowed=allowed)
        return
    held = permissions(template, role)
    answer = held.permit(Request(_CREATE, Anything("file system")))
    if answer is False and held.complete:
        yield failed(role, found=f"may not {_CREATE}, so that no final backup is taken", allowed=allowed)
    elif answer is False:
        found = f"whether it may {_CREATE} is not in this template"
        yield undetermined(role, found=found, allowed=allowed)


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
