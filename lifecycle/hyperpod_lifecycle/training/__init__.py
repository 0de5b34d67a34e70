"""For training code: checkpoints that are complete or not there, and jobs that go on where they were.

Needs the standard library only; PyTorch, boto3 and fsspec are imported by what uses them. What is listed in
``__all__`` is imported when it is first asked for::

    from hyperpod_lifecycle.training import Checkpoints, LocalKey
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_lifecycle.training.checkpoint_errors import (
        CheckpointError,
        CheckpointGoneError,
        NothingVerifiesError,
        RefusedCheckpointError,
        SaveError,
        SigningKeyError,
    )
    from hyperpod_lifecycle.training.checkpoint_events import CheckpointEvent
    from hyperpod_lifecycle.training.checkpoint_variables import CheckpointVariables
    from hyperpod_lifecycle.training.checkpoints import Checkpoint, Checkpoints, CheckpointWriter
    from hyperpod_lifecycle.training.coordinator import Coordinator, SingleProcess
    from hyperpod_lifecycle.training.crash_loop import (
        CrashLoopGuard,
        CrashLoopNotice,
        CrashLoopStateError,
        sns_notice,
    )
    from hyperpod_lifecycle.training.distributed_checkpoints import DistributedCheckpoints, Loaded
    from hyperpod_lifecycle.training.finite_checks import FiniteChecks, NotFiniteError
    from hyperpod_lifecycle.training.loop_state import LoopState
    from hyperpod_lifecycle.training.process_end import leave
    from hyperpod_lifecycle.training.recovery_records import RecoveryClock, RunRecords, read_records
    from hyperpod_lifecycle.training.sample_order import ResumableBatches, SampleOrder
    from hyperpod_lifecycle.training.save_schedule import SaveSchedule
    from hyperpod_lifecycle.training.saves_in_flight import SaveReport
    from hyperpod_lifecycle.training.signing_keys import (
        KeyRing,
        KmsKey,
        LocalKey,
        SigningKey,
        UnsignedCheckpoints,
    )
    from hyperpod_lifecycle.training.step_times import StepTimeFinding, StepTimes
    from hyperpod_lifecycle.training.stop_signal import StopSignal
    from hyperpod_lifecycle.training.tiered_checkpoints import TieredCheckpoints
    from hyperpod_lifecycle.training.torch_coordinator import TorchCoordinator
    from hyperpod_lifecycle.training.training_run import TrainingRun
    from hyperpod_lifecycle.training.verified_checkpoint import VerifiedCheckpoint

_MODULES = {
    "checkpoint_errors": (
        "CheckpointError",
        "CheckpointGoneError",
        "NothingVerifiesError",
        "RefusedCheckpointError",
        "SaveError",
        "SigningKeyError",
    ),
    "checkpoint_events": ("CheckpointEvent",),
    "checkpoint_variables": ("CheckpointVariables",),
    "checkpoints": ("Checkpoint", "CheckpointWriter", "Checkpoints"),
    "coordinator": ("Coordinator", "SingleProcess"),
    "crash_loop": ("CrashLoopGuard", "CrashLoopNotice", "CrashLoopStateError", "sns_notice"),
    "distributed_checkpoints": ("DistributedCheckpoints", "Loaded"),
    "finite_checks": ("FiniteChecks", "NotFiniteError"),
    "loop_state": ("LoopState",),
    "process_end": ("leave",),
    "recovery_records": ("RecoveryClock", "RunRecords", "read_records"),
    "sample_order": ("ResumableBatches", "SampleOrder"),
    "save_schedule": ("SaveSchedule",),
    "saves_in_flight": ("SaveReport",),
    "signing_keys": ("KeyRing", "KmsKey", "LocalKey", "SigningKey", "UnsignedCheckpoints"),
    "step_times": ("StepTimeFinding", "StepTimes"),
    "stop_signal": ("StopSignal",),
    "tiered_checkpoints": ("TieredCheckpoints",),
    "torch_coordinator": ("TorchCoordinator",),
    "training_run": ("TrainingRun",),
    "verified_checkpoint": ("VerifiedCheckpoint",),
}
_OWNERS = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointEvent",
    "CheckpointGoneError",
    "CheckpointVariables",
    "CheckpointWriter",
    "Checkpoints",
    "Coordinator",
    "CrashLoopGuard",
    "CrashLoopNotice",
    "CrashLoopStateError",
    "DistributedCheckpoints",
    "FiniteChecks",
    "KeyRing",
    "KmsKey",
    "Loaded",
    "LocalKey",
    "LoopState",
    "NotFiniteError",
    "NothingVerifiesError",
    "RecoveryClock",
    "RefusedCheckpointError",
    "ResumableBatches",
    "RunRecords",
    "SampleOrder",
    "SaveError",
    "SaveReport",
    "SaveSchedule",
    "SigningKey",
    "SigningKeyError",
    "SingleProcess",
    "StepTimeFinding",
    "StepTimes",
    "StopSignal",
    "TieredCheckpoints",
    "TorchCoordinator",
    "TrainingRun",
    "UnsignedCheckpoints",
    "VerifiedCheckpoint",
    "leave",
    "read_records",
    "sns_notice",
]


def __getattr__(name: str) -> Any:
    if name not in _OWNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_OWNERS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
