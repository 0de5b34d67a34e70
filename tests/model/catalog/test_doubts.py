"""What the sources leave in doubt raises when it is read as if it were certain."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.catalog import behaviours, iam, jobs, labels, limits, versions
from hyperpod_model.catalog.fact import Fact, UncertainFactError
from hyperpod_model.catalog.instances import instance_type, instance_types
from hyperpod_model.catalog.regions import offers

DOUBTS: dict[str, Fact[Any]] = {
    "provisioning mode when absent": behaviours.PROVISIONING_MODE_WHEN_ABSENT,
    "Slurm strategy when absent": behaviours.SLURM_STRATEGY_WHEN_ABSENT,
    "KubernetesConfig of the orchestrator": behaviours.KUBERNETES_CONFIG_IN_ORCHESTRATOR,
    "self rule with open egress": behaviours.SELF_RULE_WITH_OPEN_EGRESS,
    "instance groups": limits.MAX_INSTANCE_GROUPS,
    "script size": limits.MAX_LIFECYCLE_SCRIPT_BYTES,
    "script timeout": limits.LIFECYCLE_SCRIPT_TIMEOUT_MINUTES,
    "instances of a cluster": limits.INSTANCES_OF_A_CLUSTER_QUOTA,
    "instances of an account": limits.INSTANCES_OF_AN_ACCOUNT_QUOTA,
    "Kubernetes versions": versions.KUBERNETES,
    "torch versions": versions.TORCH,
    "confused deputy": iam.SOURCE_CONDITIONS_ON_EXECUTION_ROLE,
    "CloudWatch actions": iam.TIERED_CHECKPOINTING_METRIC_ACTIONS,
    "CloudWatch namespace": iam.TIERED_CHECKPOINTING_METRIC_NAMESPACE,
    "confused deputy of pods": iam.SOURCE_CONDITIONS_ON_POD_IDENTITY,
    "checkpointless with tiered": versions.CHECKPOINTLESS_WITH_TIERED,
    "compute type label": labels.COMPUTE_TYPE_VALUE,
    "faultOnMatch": jobs.FAULT_ON_MATCH,
    "EFA of GB200": instance_type("ml.p6e-gb200.36xlarge").efa_interfaces,
    "addresses of GB200": instance_type("ml.p6e-gb200.36xlarge").eks_addresses,
    "pods of P5en": instance_type("ml.p5en.48xlarge").max_pods,
    "EFA of M8g": instance_type("ml.m8g.48xlarge").efa_interfaces,
    "EFA of C6i": instance_type("ml.c6i.32xlarge").efa_interfaces,
    "offer of P5e": offers("us-east-1", "ml.p5e.48xlarge"),
}


@pytest.mark.parametrize("fact", DOUBTS.values(), ids=DOUBTS)
def test_a_fact_in_doubt_raises(fact: Fact[Any]):
    with pytest.raises(
        UncertainFactError, match=r"is uncertain: .+; read it with assuming\(because=\.\.\.\)"
    ):
        _ = fact.value
    assert fact.if_certain(default="mine") == "mine"


@pytest.mark.parametrize(
    "name", [name for name in instance_types() if name.startswith(("ml.g7.", "ml.g4dn."))]
)
def test_efa_of_types_outside_the_resource_table_is_in_doubt(name: str):
    assert not instance_type(name).efa_interfaces.certain


@pytest.mark.parametrize("name", ["ml.trn2.3xlarge", "ml.trn2.48xlarge"])
def test_memory_of_trainium2_is_in_doubt(name: str):
    accelerator = instance_type(name).accelerator
    assert accelerator is not None
    with pytest.raises(UncertainFactError, match=r"accelerator memory of ml.trn2"):
        _ = accelerator.memory_gib_each.value
    assert [claim.value for claim in accelerator.memory_gib_each.claims] == [96, 512]


@pytest.mark.parametrize(
    ("fact", "values"),
    [
        (limits.MAX_INSTANCE_GROUPS, [100, 20, 5]),
        (versions.KUBERNETES, [("1.28", "1.33"), ("1.30", "1.35")]),
        (versions.TORCH, [("2.4.0", "2.7.1"), ("2.4", "2.12, excluded")]),
        (behaviours.SLURM_STRATEGY_WHEN_ABSENT, ["Merge", "Managed"]),
        (limits.TIERED_MEMORY_PERCENTAGE, [(20, 100), (0, 100)]),
    ],
)
def test_disagreeing_sources_are_all_kept_with_their_dates(fact: Fact[Any], values: list[Any]):
    assert [claim.value for claim in fact.claims] == values
    assert all(claim.source and claim.checked_on for claim in fact.claims)
