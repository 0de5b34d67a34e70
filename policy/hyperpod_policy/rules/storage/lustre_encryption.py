"""The file system is encrypted with a key of its own."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.lustre import DEPLOYMENT_TYPES
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Reference, Unresolved, single, truth

_TYPE = ("LustreConfiguration", "DeploymentType")
_ALLOWED = "a customer managed key whose rotation is on"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the key of each file system that can have one."""
    for file_system in lustre_file_systems(template):
        kind = single(file_system.get(*_TYPE, default="SCRATCH_1"))
        key = file_system.get("KmsKeyId")
        if isinstance(kind, Unresolved):
            yield undetermined(file_system, *_TYPE, found=f"is {kind}", allowed=_ALLOWED)
        elif kind in DEPLOYMENT_TYPES and not DEPLOYMENT_TYPES[kind].encryption_key:
            yield passed(file_system, *_TYPE)
        elif key is None:
            found = "is encrypted with the AWS managed key of FSx"
            yield failed(file_system, "KmsKeyId", found=found, allowed=_ALLOWED)
        else:
            resource = template.by_key(key.resource) if isinstance(key, Reference) else None
            if resource is None:
                yield undetermined(
                    file_system, "KmsKeyId", found=f"key {key} is not in this template", allowed=_ALLOWED
                )
            elif truth(resource.get("EnableKeyRotation", default=False)) is not True:
                yield failed(
                    resource, "EnableKeyRotation", found="the file system's key never rotates", allowed="true"
                )
            else:
                yield passed(file_system, "KmsKeyId")


RULE = Rule(
    id="LustreEncryption",
    title="the file system is encrypted with a customer managed key that rotates",
    severity="warning",
    why=(
        "Training data and working checkpoints lie on it. FSx always encrypts, but with its own key anybody "
        "who may restore a backup reads it; a key of its own is a second lock and leaves a trace of every "
        "use."
    ),
    fix="set KmsKeyId to a KMS key of the stack with EnableKeyRotation true; LustreFileSystem does",
    source="FSx for Lustre user guide, encryption at rest",
    check=check,
)
