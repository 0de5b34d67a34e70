"""What the nodes write to the file system survives the failure of a server."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.lustre import DEPLOYMENT_TYPES
from hyperpod_policy.lustre_file_systems import exports, lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, single

_PATH = ("LustreConfiguration", "DeploymentType")


def check(template: Template) -> Iterator[Verdict]:
    """Judge the deployment type of each file system."""
    for file_system in lustre_file_systems(template):
        kind = single(file_system.get(*_PATH, default="SCRATCH_1"))
        lasting = [name for name, facts in DEPLOYMENT_TYPES.items() if facts.backups]
        allowed = f"one of {', '.join(lasting)}, or an association that exports to S3"
        if isinstance(kind, Unresolved):
            yield undetermined(file_system, *_PATH, found=f"is {kind}", allowed=allowed)
        elif kind in DEPLOYMENT_TYPES and kind not in lasting and not exports(template, file_system):
            found = f"is {kind}, which keeps one copy of each file and has no backups"
            yield failed(file_system, *_PATH, found=found, allowed=allowed)
        else:
            yield passed(file_system, *_PATH)


RULE = Rule(
    id="LustreDurability",
    title="what the nodes write to the file system survives the failure of a server",
    severity="warning",
    why=(
        "A scratch file system is not replicated: when one of its servers fails, the files on it are gone, "
        "working checkpoints among them, and there is no backup to go back to."
    ),
    fix=(
        "choose a persistent deployment type, or export what is written to S3 by a data repository "
        "association"
    ),
    source="FSx for Lustre user guide, deployment options for file systems",
    check=check,
)
