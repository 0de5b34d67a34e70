"""All traffic between nodes and an EFA-enabled file system is said by name."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.lustre_efa import is_efa_lustre_exception
from hyperpod_policy.rule import Rule, Verdict, failed
from hyperpod_policy.security_groups import CHECKPOINT_PORTS, rules_of
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Name every rule that opens the nodes to a file system over EFA."""
    node_groups = [used.value for used, _ in distinct(security_groups(template))]
    for group in node_groups:
        for rule, _ in rules_of(template, group, "ingress"):
            if is_efa_lustre_exception(template, rule, node_groups):
                yield failed(
                    rule.holder,
                    *rule.path,
                    found=f"admits {rule}, {CHECKPOINT_PORTS} among it, for an EFA-enabled file system",
                    allowed="the only exception to closed checkpoint ports, to be acknowledged by name",
                )


RULE = Rule(
    id="EfaLustreTraffic",
    title="opening the nodes to an EFA-enabled file system is acknowledged",
    severity="error",
    why=(
        "An EFA-enabled file system needs all traffic between its security group and the nodes', which "
        "opens the checkpoint ports to whatever else joins the file system's group, today or later."
    ),
    fix=(
        "acknowledge it with a reason that says why EFA is needed and who may join the file system's "
        "security group, or turn EfaEnabled off and open the Lustre ports alone"
    ),
    source="FSx for Lustre user guide, limit-access-security-groups and efa-file-systems",
    check=check,
)
