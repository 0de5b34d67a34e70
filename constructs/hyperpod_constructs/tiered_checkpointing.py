"""Managed tiered checkpointing of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import Annotations, CfnOutput, Token, Tokenization
from constructs import Construct, IConstruct

from hyperpod_constructs.argument_kinds import CHECKPOINTS, TRAINING_PODS, check_kind
from hyperpod_constructs.tokens import known
from hyperpod_model.checks.tiered_storage import check_tiered_checkpointing
from hyperpod_model.faults import Fault, refuse

if TYPE_CHECKING:
    from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
    from hyperpod_constructs.training_pod_role import TrainingPodRole

_SUBJECT = "tiered checkpointing"
NO_DURABLE_TIER_WARNING = "hyperpod:TieredCheckpointing.noDurableTier"
UNUSED_HINT = "hyperpod:TieredCheckpointing.savesNothingByItself"


class TieredCheckpointing:
    """Checkpoints in the memory of the nodes, and every so many steps in a bucket. EKS only.

    HyperPod keeps a share of each node's memory for checkpoints and copies them to neighbours, so that jobs
    save often and lose little when a node breaks. Memory does not outlive a stop of the whole cluster: a
    bucket is the durable tier, and the interval at which jobs write to it is required.

    Turning it on saves nothing by itself: only jobs do that write through the library
    ``amzn-sagemaker-checkpointing``, see ``add_outputs`` for what they need. Nodes reach each other's memory
    on ports that ``EfaSecurityGroup`` and the network ACL of ``ClusterNetwork`` close to others, so all
    accelerated groups have to share one subnet. Source: SageMaker developer guide,
    managed-tier-checkpointing.

    Args:
        memory_percentage: Share of each node's memory, 20 to 100. Pods can ask for what is left only.
        s3_interval_steps: Training steps between two checkpoints that also go to the bucket, at least 1. The
            cluster does not know it; jobs read it.

    Raises:
        InvalidInputError: If a value is missing or out of range.
    """

    def __init__(self, *, memory_percentage: int, s3_interval_steps: int) -> None:
        faults = check_tiered_checkpointing(
            memory_percentage=known(memory_percentage), s3_interval_steps=known(s3_interval_steps)
        )
        refuse(Fault((_SUBJECT,), f"{fault.path[0]} {fault.message}", fault.severity) for fault in faults)
        self._memory_percentage: int | None = memory_percentage
        self._s3_interval_steps: int | None = s3_interval_steps

    @classmethod
    def disabled(cls) -> TieredCheckpointing:
        """Say explicitly that it is off, which removes its daemon from a cluster that has it.

        Leaving ``tiered_checkpointing`` out says nothing, and an update then leaves the cluster as it is.
        """
        off = cls.__new__(cls)
        off._memory_percentage = None
        off._s3_interval_steps = None
        return off

    @classmethod
    def without_durable_tier(cls, *, memory_percentage: int) -> TieredCheckpointing:
        """Turn the memory tier on without saying how often jobs write to a bucket.

        For clusters whose jobs keep durable checkpoints in a place that is not said here. It leaves the
        warning ``hyperpod:TieredCheckpointing.noDurableTier``: memory does not outlive a stop of the whole
        cluster.

        Args:
            memory_percentage: Share of each node's memory, 20 to 100.

        Raises:
            InvalidInputError: If the share is out of range.
        """
        on = cls(memory_percentage=memory_percentage, s3_interval_steps=1)
        on._s3_interval_steps = None
        return on

    @property
    def enabled(self) -> bool:
        """Whether it is on."""
        return self._memory_percentage is not None

    @property
    def memory_percentage(self) -> int | None:
        """Share of each node's memory for checkpoints; None where it is off."""
        return self._memory_percentage

    @property
    def s3_interval_steps(self) -> int | None:
        """Training steps between two checkpoints that also go to the bucket; None where it is off."""
        return self._s3_interval_steps

    def to_request(self) -> dict[str, Any]:
        """Return ``TieredStorageConfig`` of a ``CreateCluster`` request."""
        if not self.enabled:
            return {"Mode": "Disable"}
        return {"Mode": "Enable", "InstanceMemoryAllocationPercentage": self._memory_percentage}

    def hint_at_use(self, cluster: IConstruct) -> None:
        """Add an info to a cluster that has it on: that it saves nothing until jobs use it.

        Args:
            cluster: The cluster; ``Annotations.of(cluster).acknowledge_info(...)`` silences the info.
        """
        if self.enabled and self._s3_interval_steps is None:
            Annotations.of(cluster).add_warning_v2(
                NO_DURABLE_TIER_WARNING,
                "tiered checkpointing is on without an interval at which jobs write to a bucket: memory "
                "does not outlive a stop of the whole cluster, so make sure that jobs keep durable "
                "checkpoints elsewhere",
            )
        if self.enabled:
            Annotations.of(cluster).add_info_v2(
                UNUSED_HINT,
                "tiered checkpointing is on, and saves nothing until jobs write through "
                "amzn-sagemaker-checkpointing; they read bucket, interval and share of memory from the "
                "outputs",
            )

    def add_outputs(
        self, scope: Construct, *, checkpoint_bucket: CheckpointBucket, training_pod_role: TrainingPodRole
    ) -> None:
        """Add what jobs have to know as outputs.

        ``CheckpointsUri``, ``CheckpointIntervalSteps``, ``CheckpointMemoryPercentage``,
        ``TrainingNamespace`` and ``TrainingServiceAccount``; none where it is off.

        Args:
            scope: Where the outputs are made: the stack, for names without a prefix.
            checkpoint_bucket: The durable tier.
            training_pod_role: Role of the pods, a writer of the bucket.

        Raises:
            InvalidInputError: If an argument is of another kind.
        """
        refuse(
            [
                *check_kind(checkpoint_bucket, CHECKPOINTS, (_SUBJECT, "checkpoint_bucket"), required=True),
                *check_kind(training_pod_role, TRAINING_PODS, (_SUBJECT, "training_pod_role"), required=True),
            ]
        )
        if self._memory_percentage is None or self._s3_interval_steps is None:
            return
        outputs = {
            "CheckpointsUri": (
                f"s3://{checkpoint_bucket.bucket.bucket_name}",
                "Durable tier of checkpoints: s3_tier_base_path of the library's configuration",
            ),
            "CheckpointIntervalSteps": (
                _text(self._s3_interval_steps),
                "Training steps between two checkpoints that also go to the bucket",
            ),
            "CheckpointMemoryPercentage": (
                _text(self._memory_percentage),
                "Share of each node's memory that keeps checkpoints and that pods cannot ask for",
            ),
            "TrainingNamespace": (training_pod_role.namespace, "Kubernetes namespace of the training pods"),
            "TrainingServiceAccount": (
                training_pod_role.service_account,
                "Kubernetes service account of the training pods, which write checkpoints",
            ),
        }
        for name, (value, description) in outputs.items():
            CfnOutput(scope, name, value=value, description=description)


def _text(number: int) -> str:
    return Tokenization.stringify_number(number) if Token.is_unresolved(number) else str(number)
