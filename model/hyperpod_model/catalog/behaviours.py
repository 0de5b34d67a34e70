"""How the service behaves where that is neither a number nor a name, doubts included."""

from __future__ import annotations

from typing import Any

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact

_TABLE = table("behaviours")


def _fact(name: str, what: str) -> Fact[Any]:
    return fact(what, _TABLE["behaviours"][name], _TABLE)


PROVISIONING_MODE_WHEN_ABSENT: Fact[str] = _fact(
    "provisioning_mode_when_absent", "node provisioning of a cluster that does not name its mode"
)
"""``Continuous`` or ``classic``: name the mode where it matters."""

SLURM_STRATEGY_WHEN_ABSENT: Fact[str] = _fact(
    "slurm_strategy_when_absent", "Slurm configuration strategy of a classic cluster that does not name it"
)

KUBERNETES_CONFIG_IN_ORCHESTRATOR: Fact[bool] = _fact(
    "kubernetes_config_in_orchestrator", "acceptance of Orchestrator.Eks.KubernetesConfig"
)

SELF_RULE_WITH_OPEN_EGRESS: Fact[bool] = _fact(
    "self_rule_with_open_egress", "EFA health with the security group's self rules beside egress to 0.0.0.0/0"
)

AUTO_REPLACED_INSTANCES: Fact[str] = _fact(
    "auto_replaced_instances", "instances that automatic node recovery replaces"
)
