"""The file system is created after the rules that open its ports."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.dependencies import before, deployed_together
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.security_groups import rules_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements


def check(template: Template) -> Iterator[Verdict]:
    """Judge what each file system depends on."""
    for file_system in lustre_file_systems(template):
        ready = before(file_system)
        missing: dict[str, Resource] = {}
        for group in elements(file_system.get("SecurityGroupIds"))[0]:
            for direction in ("ingress", "egress"):
                for rule, belongs in rules_of(template, group, direction):
                    holder = rule.holder
                    if belongs and holder.key not in ready and deployed_together(holder, file_system):
                        missing.setdefault(holder.key, holder)
        if missing:
            names = ", ".join(found.logical_id for found in missing.values())
            yield failed(
                file_system,
                found=f"does not wait for the security-group rules {names}",
                allowed="depends on every rule of its security groups",
            )
        else:
            yield passed(file_system)


RULE = Rule(
    id="LustreOrder",
    title="the file system is created after the rules of its security groups",
    severity="error",
    why=(
        "FSx tests its ports when it creates the file system. Rules that are resources of their own may "
        "come later, and creation fails now and then with 'InvalidNetworkSettings'."
    ),
    fix="add the rules to DependsOn of the file system; LustreFileSystem does",
    source=(
        "FSx for Lustre user guide, limit-access-security-groups; CloudFormation user guide, DependsOn "
        "attribute"
    ),
    check=check,
)
