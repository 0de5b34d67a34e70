from __future__ import annotations

from collections.abc import Callable

import pytest

from hyperpod_model.cluster_spec import InstanceGroupSpec, LoadedCluster, ResilienceSpec
from hyperpod_model.cluster_spec.deep_health_checks import deep_health_checks_of
from hyperpod_model.faults import UNKNOWN

BOTH = ("InstanceStress", "InstanceConnectivity")

SPEC = """\
name: a
region: us-east-1
network: {{availability_zone_id: use1-az1}}
resilience: {resilience}
instance_groups:
  - {{name: controller, node_type: Controller, instance_type: ml.m5.large, instance_count: 1}}
  - {{name: gpu, node_type: Compute, partition_names: [a], instance_type: ml.p4d.24xlarge, instance_count: 2}}
observability: {{emails: [oncall@example.com]}}
budget: null
"""


def group(instance_type: str = "ml.p5.48xlarge", **fields: object) -> InstanceGroupSpec:
    return InstanceGroupSpec(name="workers", instance_type=instance_type, instance_count=4, **fields)


@pytest.mark.parametrize(
    ("resilience", "checks"),
    [
        (ResilienceSpec(spare_nodes=1, replacement_wait="intolerable"), BOTH),
        (ResilienceSpec(spare_nodes=1, replacement_wait="avoid", commissioned=True), BOTH),
        (ResilienceSpec(replacement_wait="tolerable"), BOTH),
        (ResilienceSpec(replacement_wait="avoid"), BOTH),
        (ResilienceSpec(replacement_wait="avoid", commissioned=True), ()),
        (ResilienceSpec(replacement_wait="intolerable"), ()),
        (ResilienceSpec(), BOTH),
    ],
)
def test_the_situation_chooses(resilience: ResilienceSpec, checks: tuple[str, ...]) -> None:
    assert deep_health_checks_of(group(), resilience, "slurm") == checks


@pytest.mark.parametrize("instance_type", ["ml.m5.large", "ml.trn1.32xlarge", "ml.unknown.large"])
def test_slurm_checks_gpus_only(instance_type: str) -> None:
    assert deep_health_checks_of(group(instance_type), ResilienceSpec(), "slurm") == ()


def test_eks_checks_trainium_too() -> None:
    assert deep_health_checks_of(group("ml.trn1.32xlarge"), ResilienceSpec(), "eks") == BOTH
    assert deep_health_checks_of(group("ml.m5.large"), ResilienceSpec(), "eks") == ()


def test_a_flexible_group_is_checked_where_each_of_its_types_is() -> None:
    both = InstanceGroupSpec(
        name="a", instance_types=("ml.p5.48xlarge", "ml.trn1.32xlarge"), instance_count=2
    )
    assert deep_health_checks_of(both, ResilienceSpec(), "eks") == BOTH
    assert deep_health_checks_of(both, ResilienceSpec(), "slurm") == ()


def test_a_group_has_its_own_way() -> None:
    off = ResilienceSpec(replacement_wait="intolerable")
    assert deep_health_checks_of(group(deep_health_checks=("InstanceStress",)), off, "slurm") == (
        "InstanceStress",
    )
    assert deep_health_checks_of(group(deep_health_checks=()), ResilienceSpec(), "slurm") == ()


def test_an_unknown_situation_leaves_the_checks_unknown() -> None:
    assert deep_health_checks_of(group(), UNKNOWN, "slurm") is UNKNOWN
    unsaid = ResilienceSpec.model_construct(spare_nodes=UNKNOWN)
    assert deep_health_checks_of(group(), unsaid, "eks") is UNKNOWN
    assert deep_health_checks_of(group(), ResilienceSpec(), UNKNOWN) is UNKNOWN
    assert deep_health_checks_of(group("ml.m5.large"), UNKNOWN, "slurm") == ()


@pytest.mark.parametrize(
    ("resilience", "note"),
    [
        (
            "{replacement_wait: avoid}",
            "the step that is due once every node has passed: set resilience.commissioned",
        ),
        (
            "{replacement_wait: avoid, commissioned: true}",
            "are off for gpu, since the cluster is commissioned",
        ),
        ("{replacement_wait: intolerable}", "are off for gpu, since replacement_wait is 'intolerable'"),
        ("{spare_nodes: 1, commissioned: true}", "resilience.commissioned (line 4): has no effect"),
    ],
)
def test_says_which_step_is_due(resilience: str, note: str, load: Callable[..., LoadedCluster]) -> None:
    [said] = load(SPEC.format(resilience=resilience)).notes
    assert note in said


@pytest.mark.parametrize(
    "resilience", ["{spare_nodes: 1, replacement_wait: avoid}", "{replacement_wait: tolerable}"]
)
def test_says_nothing_where_no_step_is_due(resilience: str, load: Callable[..., LoadedCluster]) -> None:
    assert load(SPEC.format(resilience=resilience)).notes == ()
