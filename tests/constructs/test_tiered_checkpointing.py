from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack, assertions
from aws_cdk import aws_eks_v2 as eks
from stacks import template_of

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.tiered_checkpointing import UNUSED_HINT, TieredCheckpointing
from hyperpod_constructs.training_pod_role import TrainingPodRole
from hyperpod_model.faults import InvalidInputError


def pods(stack: Stack, checkpoints: CheckpointBucket) -> TrainingPodRole:
    return TrainingPodRole(
        stack,
        "Pods",
        control_plane=eks.Cluster.from_cluster_attributes(stack, "Eks", cluster_name="training"),
        namespace="research",
        service_account="trainer",
        checkpoint_bucket=checkpoints,
        tiered=True,
    )


def outputs(tiered: TieredCheckpointing, stack: Stack) -> dict[str, Any]:
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    tiered.add_outputs(stack, checkpoint_bucket=checkpoints, training_pod_role=pods(stack, checkpoints))
    template = template_of(stack)
    return {name: output["Value"] for name, output in template.get("Outputs", {}).items()}


def test_request() -> None:
    tiered = TieredCheckpointing(memory_percentage=40, s3_interval_steps=500)
    assert tiered.enabled
    assert tiered.to_request() == {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 40}


def test_off_is_said() -> None:
    off = TieredCheckpointing.disabled()
    assert not off.enabled
    assert (off.memory_percentage, off.s3_interval_steps) == (None, None)
    assert off.to_request() == {"Mode": "Disable"}


@pytest.mark.parametrize(
    ("percentage", "steps", "message"),
    [
        (19, 1, r"tiered checkpointing: memory_percentage must be 20 to 100, .*got 19"),
        (101, 1, r"tiered checkpointing: memory_percentage must be 20 to 100, .*got 101"),
        (20, None, r"tiered checkpointing: s3_interval_steps is required: the memory tier does not outlive"),
        (20, 0, r"tiered checkpointing: s3_interval_steps must be 1 or more steps, got 0"),
    ],
)
def test_refuses(percentage: Any, steps: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TieredCheckpointing(memory_percentage=percentage, s3_interval_steps=steps)


def test_the_interval_has_no_default() -> None:
    with pytest.raises(TypeError, match="s3_interval_steps"):
        TieredCheckpointing(memory_percentage=20)  # type: ignore[call-arg]


def test_outputs_are_what_jobs_need() -> None:
    stack = Stack(App(), "Training")
    found = outputs(TieredCheckpointing(memory_percentage=40, s3_interval_steps=500), stack)
    uri = found.pop("CheckpointsUri")
    assert uri["Fn::Join"][1][0] == "s3://"
    assert found == {
        "CheckpointIntervalSteps": "500",
        "CheckpointMemoryPercentage": "40",
        "TrainingNamespace": "research",
        "TrainingServiceAccount": "trainer",
    }


def test_outputs_take_tokens() -> None:
    stack = Stack(App(), "Training")
    steps = CfnParameter(stack, "Steps", type="Number").value_as_number
    found = outputs(TieredCheckpointing(memory_percentage=40, s3_interval_steps=int(steps)), stack)
    assert found["CheckpointMemoryPercentage"] == "40"


def test_off_has_no_outputs() -> None:
    assert outputs(TieredCheckpointing.disabled(), Stack(App(), "Training")) == {}


def test_outputs_refuse_other_kinds() -> None:
    stack = Stack(App(), "Training")
    tiered = TieredCheckpointing(memory_percentage=40, s3_interval_steps=500)
    with pytest.raises(InvalidInputError, match=r"training_pod_role: must be a TrainingPodRole\(\.\.\.\)"):
        tiered.add_outputs(
            stack,
            checkpoint_bucket=CheckpointBucket(stack, "Checkpoints"),
            training_pod_role="arn:aws:iam::111122223333:role/pods",  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("on", [True, False])
def test_hint(on: bool) -> None:
    stack = Stack(App(), "Training")
    tiered = (
        TieredCheckpointing(memory_percentage=40, s3_interval_steps=500)
        if on
        else TieredCheckpointing.disabled()
    )
    tiered.hint_at_use(stack)
    infos = assertions.Annotations.from_stack(stack).find_info("*", assertions.Match.any_value())
    assert [str(info.entry.data) for info in infos] == (
        [
            "tiered checkpointing is on, and saves nothing until jobs write through "
            "amzn-sagemaker-checkpointing; they read bucket, interval and share of memory from the outputs "
            f"[ack: {UNUSED_HINT}]"
        ]
        if on
        else []
    )
